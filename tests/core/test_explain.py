"""The scores of a saved pack, computed again; and that the same content gives the same pack wherever it is asked."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from adk_evidence.citations.saved import read_pack, read_whole_pack
from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.models.pack import EvidencePack, content_id, is_intact, round_score
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.explain import Explanation, explain
from adk_evidence.search.rerankers.base import RerankScore, scores_of_order
from adk_evidence.search.rerankers.cascade import CascadeReranker
from adk_evidence.search.rerankers.local import LocalReranker
from adk_evidence.search.session import EvidenceService
from adk_evidence_cli.main import app
from tests.corpora import HashEmbedder, Workplace, shared_sparse

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
ERROR = (
    'Traceback (most recent call last):\n  File "google/adk/plugins/retry.py", line 9, in on_tool_error\nValueError: x'
)
Ask = Callable[..., dict[str, Any]]


class Reverses:
    """A reranker outside of the product: an order of its own, and no features."""

    model = "reverses-1"

    def rerank(self, query: Any, task_mode: Any, documents: Any) -> list[RerankScore]:
        return [RerankScore(score) for score in reversed(scores_of_order(range(len(documents))))]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    workplace = Workplace(tmp_path_factory.mktemp("indexed"))
    workplace.ingest()
    return workplace


def all_answered(
    place: Workplace, asked: list[dict[str, Any]], overrides: dict[str, Any] | None = None, **parts: Any
) -> list[dict[str, Any]]:
    """The JSON of packs, as `ask --json` saves it."""
    settings = place.settings_with(overrides or {})
    service = EvidenceService(settings, dense=HashEmbedder(), sparse=shared_sparse(), **parts)
    try:
        packs = [service.find(EvidenceRequest(**{"query": QUESTION, **values})) for values in asked]
    finally:
        service.close()
    return [json.loads(pack.model_dump_json()) for pack in packs]


def answered(place: Workplace, **values: Any) -> dict[str, Any]:
    parts = {"reranker": values.pop("reranker")} if "reranker" in values else {}
    return all_answered(place, [values], **parts)[0]


@pytest.fixture(scope="module")
def saved(indexed: Workplace) -> dict[str, Any]:
    return answered(indexed, max_results_final=5)


def explained(pack: dict[str, Any]) -> Explanation:
    found = read_whole_pack(json.dumps(pack))
    return explain(found.pack, found.written)


def states(found: Explanation) -> set[str]:
    return {step.state for steps in (found.steps, *(one.steps for one in found.candidates)) for step in steps}


def differing(found: Explanation) -> set[str]:
    every = [*found.steps, *(step for one in found.candidates for step in one.steps)]
    return {step.name for step in every if step.state == "differs"}


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {"retrieval": {"fusion": "dbsf"}},
        {"retrieval": {"rrf_k": 2, "feedback_passages": 0}},
        {"retrieval": {"expansion": "always"}},
        {"retrieval": {"branches": ["dense", "sparse", "symbol"], "pool_size": 4}},
        {"rerank": {"provider": "none"}},
        {"retrieval": {"named": []}},
    ],
    ids=lambda overrides: json.dumps(overrides),
)
def test_every_number_of_a_pack_follows_from_the_parts_that_it_lists(indexed, overrides):
    asked = [
        {"query": query, "task_mode": mode, "max_results_final": results}
        for query in (QUESTION, ERROR, "RetryPlugin")
        for mode, results in (("build", None), ("build", 2), ("debug", 3), ("explain", None))
    ]
    for pack in all_answered(indexed, asked, overrides):
        found = explained(pack)
        assert found.agrees and states(found) == {"agrees"}, differing(found)
        assert len(found.candidates) == len(pack["candidates"]) > 0


def test_a_score_from_outside_is_said_to_be_from_outside(indexed):
    found = explained(answered(indexed, reranker=Reverses()))
    assert found.agrees and states(found) == {"agrees", "outside"}
    says = [step.says for step in found.candidates[0].steps if step.name == "rerank"]
    assert len(says) == 1 and "comes from reverses-1, outside" in says[0]


def test_scores_of_an_earlier_local_reranker_are_computed_with_the_weights_of_the_pack(indexed):
    pack = answered(indexed)
    pack["retrieval_plan"]["rerank_model"] = "local-zscore-8"
    found = explained(pack)
    assert {step.state for one in found.candidates for step in one.steps if step.name == "rerank"} == {"agrees"}


def test_a_result_that_ranks_lower_for_its_language_lacks_that_language(indexed):
    pack = answered(indexed)
    first, weights = pack["candidates"][0], pack["retrieval_plan"]["rerank_weights"]
    first["why"]["features"]["elsewhere"] = 1.0
    score = round_score(first["rerank_score"] + weights["elsewhere"])
    first["rerank_score"] = first["why"]["rerank_score"] = score
    assert "features" in differing(explained(pack))
    assert any("do not name other languages" in step.says for step in explained(pack).candidates[0].steps)
    languages = [{"language": "go", "since": None}]
    first["availability"] = {"languages": languages, "stage": None, "lacks": "language", "version": None}
    steps = [step for step in explained(pack).candidates[0].steps if step.name in ("features", "rerank")]
    assert {step.state for step in steps} == {"agrees"}


def test_of_two_rerankers_the_local_one_is_computed_again(indexed):
    pack = answered(indexed, reranker=CascadeReranker(LocalReranker(), Reverses(), 3))
    assert pack["retrieval_plan"]["rerank_model"] == f"{LocalReranker.model}, then reverses-1"
    found = explained(pack)
    assert found.agrees
    assert [step.state for step in found.candidates[0].steps if step.name == "rerank"] == ["agrees", "outside"]
    pack["candidates"][0]["why"]["features"]["first"] += 0.01
    assert differing(explained(pack)) == {"rerank"}


def _add(amount: float, *path: Any) -> Callable[[dict[str, Any]], None]:
    """An edit of a number of the pack."""

    def edit(pack: dict[str, Any]) -> None:
        *parents, last = path
        place: Any = pack
        for part in parents:
            place = place[part]
        place[last] += amount

    return edit


def _put(value: Any, *path: Any) -> Callable[[dict[str, Any]], None]:
    def edit(pack: dict[str, Any]) -> None:
        *parents, last = path
        place: Any = pack
        for part in parents:
            place = place[part]
        place[last] = value

    return edit


def _swap(pack: dict[str, Any]) -> None:
    first, second, *rest = pack["candidates"]
    pack["candidates"] = [{**second, "rank": 1}, {**first, "rank": 2}, *rest]


def _raise_dense(pack: dict[str, Any]) -> None:
    for candidate in pack["candidates"]:
        for branch in candidate["why"]["branches"]:
            branch["score"] += 0.3 if branch["branch"] == "dense" else 0.0


FIRST: tuple[Any, ...] = ("candidates", 0)


@pytest.mark.parametrize(
    ("edit", "step"),
    [
        (_add(0.00001, *FIRST, "why", "fused_score"), "fusion"),
        (_add(3, *FIRST, "why", "branches", 0, "rank"), "fusion"),
        (_add(0.001, *FIRST, "why", "features", "sparse"), "features"),
        (_add(0.001, *FIRST, "why", "scores", "dense"), "features"),
        (_add(0.001, *FIRST, "why", "rerank_score"), "rerank"),
        (_add(0.001, *FIRST, "rerank_score"), "rerank"),
        (_add(0.1, "retrieval_plan", "rerank_weights", "sparse"), "rerank"),
        (_add(1, *FIRST, "why", "rerank_moved"), "moved"),
        (_add(40, *FIRST, "why", "ranking_place"), "place"),
        (_put("kind", *FIRST, "why", "moved_up"), "moved_up"),
        (_put("neighbour", *FIRST, "why", "moved_up"), "moved_up"),
        (_add(0.001, *FIRST, "support"), "support"),
        (_add(0.01, *FIRST, "why", "measures", "coverage"), "support"),
        (_add(100, *FIRST, "why", "pool_rank"), "pool"),
        (_raise_dense, "support"),
        (_swap, "order"),
        (_put(1, "retrieval_plan", "results"), "coverage"),
        (_add(1, "coverage", "docs_in_top_k"), "coverage"),
        (_put("other words", *FIRST, "text"), "pack_id"),
        (_put("adk-docs@0:invented", *FIRST, "citation"), "pack_id"),
        (_put("other question", "query"), "pack_id"),
    ],
)
def test_what_was_edited_is_named(saved, edit, step):
    pack = copy.deepcopy(saved)
    assert explained(pack).agrees
    edit(pack)
    found = explained(pack)
    assert not found.agrees
    assert step in differing(found)


def test_the_id_does_not_depend_on_how_the_json_is_written(saved):
    # As JavaScript writes numbers, with the question beside the pack and the members in another order.
    def rewritten(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rewritten(value[name]) for name in reversed(value)}
        if isinstance(value, list):
            return [rewritten(part) for part in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    found = read_whole_pack(json.dumps({**rewritten(saved), "queryUsed": {"text": QUESTION}}))
    assert is_intact(found.written)
    assert found.pack.pack_id == saved["pack_id"] == EvidencePack.model_validate(saved).with_id().pack_id


def test_a_pack_without_the_parts_says_so_and_blames_nobody(saved):
    pack = copy.deepcopy(saved)
    for name in ("rerank_weights", "rerank_scales", "support_weights", "results", "buffer", "pool_size", "required"):
        del pack["retrieval_plan"][name]
    for candidate in pack["candidates"]:
        for name in ("scores", "measures", "ranking_place", "feedback_rank", "moved_up", "took_rank"):
            del candidate["why"][name]
    pack["pack_id"] = content_id(pack)
    found = explained(pack)
    assert found.agrees and states(found) == {"agrees", "unknown"}


@pytest.mark.parametrize("name", ["dense", "mean", "sparse"])
def test_a_pack_that_lacks_a_weight_says_so(saved, name):
    pack = copy.deepcopy(saved)
    del pack["retrieval_plan"]["rerank_weights"][name]
    pack["pack_id"] = content_id(pack)
    found = explained(pack)
    assert found.agrees and "unknown" in states(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{" * 100_000, "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not an evidence pack"),
        ('{"pack_id": 1}', "not an evidence pack: pack_id"),
        ("\x00\ud800", "not JSON"),
    ],
)
def test_what_is_no_pack_is_refused_with_a_sentence(text, said):
    with pytest.raises(InvalidRequestError) as caught:
        read_whole_pack(text)
    assert said in caught.value.message and caught.value.hint


def test_numbers_that_are_none_are_refused_and_none_divides_by_zero(saved):
    for value in (0, -1, 1e308, -1e308):
        pack = copy.deepcopy(saved)
        pack["retrieval_plan"]["rrf_k"] = int(value)
        for candidate in pack["candidates"]:
            for name in candidate["why"]["features"]:
                candidate["why"]["features"][name] = value
            for branch in candidate["why"]["branches"]:
                branch["rank"] = 1 + int(abs(value))
        for by_branch in pack["retrieval_plan"]["rerank_scales"].values():
            for scale in by_branch.values():
                scale["deviation"] = value
        pack["retrieval_plan"]["support_weights"] = dict.fromkeys(saved["retrieval_plan"]["support_weights"], value)
        assert not explained(pack).agrees
    with pytest.raises(EvidenceError):
        read_whole_pack(json.dumps(saved).replace('"rank": 1,', '"rank": NaN,', 1))
    for huge in (10**400, -(10**400)):
        with pytest.raises(InvalidRequestError, match="infinite numbers"):
            read_whole_pack(json.dumps({**saved, "candidates": [{**saved["candidates"][0], "rerank_score": huge}]}))


def test_the_weight_of_the_best_passage_is_shown_with_what_the_mean_takes_of_it(saved):
    weights = saved["retrieval_plan"]["rerank_weights"]
    says = [step.says for one in explained(saved).candidates for step in one.steps if step.name == "rerank"]
    means = ["mean" in candidate["why"]["features"] for candidate in saved["candidates"]]
    assert any(means)
    assert [f"({weights['dense']} - {weights['mean']} of mean) x " in one for one in says] == means


@pytest.mark.parametrize("depth", [300, 500, 900, 100_000])
def test_values_that_are_nested_deeply_are_refused(saved, depth):
    text = json.dumps(saved)[:-1] + f', "z": {"[" * depth}{"]" * depth}}}'
    for read in (read_pack, read_whole_pack):
        with pytest.raises(InvalidRequestError):
            read(text)
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    assert not is_intact({**saved, "z": deep})


def test_the_command_tells_by_its_exit_code(saved, tmp_path):
    file = tmp_path / "pack.json"
    file.write_text(json.dumps(saved), encoding="utf-8")
    told = CliRunner().invoke(app, ["explain", str(file)])
    assert told.exit_code == 0 and "steps agree" in told.output and "1/(60+" in told.output
    one = CliRunner().invoke(app, ["explain", "-", "--rank", "2", "--json"], input=json.dumps(saved))
    assert one.exit_code == 0 and [found["rank"] for found in json.loads(one.output)["candidates"]] == [2]
    file.write_text(json.dumps({**saved, "query": "another"}), encoding="utf-8")
    edited = CliRunner().invoke(app, ["explain", str(file)])
    assert edited.exit_code == 1 and "was edited" in " ".join(edited.output.split())
    for arguments in (["explain", str(tmp_path)], ["explain", str(file), "--rank", "99"], ["explain", ""]):
        wrong = CliRunner().invoke(app, arguments)
        assert wrong.exit_code == 2 and "Traceback" not in wrong.output, arguments


# The same content, elsewhere

_ELSEWHERE = """
import sys
from pathlib import Path
from tests.core.test_explain import all_answered
from tests.corpora import Workplace
import json
place = Workplace(Path(sys.argv[1]))
print(json.dumps(all_answered(place, json.loads(sys.argv[2]))))
"""
ASKED = [{"query": query} for query in (QUESTION, ERROR, "RetryPlugin", "wait between two attempts", "sessions")]


@pytest.fixture(scope="module")
def here(indexed: Workplace) -> list[dict[str, Any]]:
    return all_answered(indexed, ASKED)


@pytest.mark.parametrize(("seed", "threads", "locale"), [("1", "1", "C"), ("2", "2", "C.UTF-8"), ("3", "4", "POSIX")])
def test_other_processes_and_other_homes_give_the_same_bytes(indexed, here, tmp_path_factory, seed, threads, locale):
    copied = tmp_path_factory.mktemp("elsewhere") / "a home with ümlauts"
    shutil.copytree(indexed.root, copied)
    counts = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    environment = {
        **os.environ,
        **dict.fromkeys(counts, threads),
        "PYTHONHASHSEED": seed,
        "LC_ALL": locale,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, str(copied), json.dumps(ASKED)],
        capture_output=True,
        check=True,
        cwd=copied,
        env=environment,
    )
    for pack, other in zip(here, json.loads(done.stdout), strict=True):
        for one in (pack, other):
            one.pop("debug", None), one.pop("query_id", None)
        assert other == pack


def test_an_index_that_was_built_elsewhere_and_in_another_order_gives_the_same_ids(tmp_path, indexed, here):
    other = Workplace(tmp_path / "another place")
    # First without a file, then with the file: its points come last, as in an index that has grown.
    page = other.docs / "docs/tools/retry.md"
    text = page.read_bytes()
    page.unlink()
    other.ingest()
    first = [pack["pack_id"] for pack in all_answered(other, ASKED)]
    page.write_bytes(text)
    other.ingest()
    packs = all_answered(other, ASKED)
    assert [pack["pack_id"] for pack in packs] == [pack["pack_id"] for pack in here] != first
    for pack, built_here in zip(packs, here, strict=True):
        assert pack["index"]["generation"] != built_here["index"]["generation"]
        assert pack["index"]["content"] == built_here["index"]["content"]


def test_the_content_of_an_index_is_told_apart_by_corpus(tmp_path, indexed):
    other = Workplace(tmp_path)
    page = other.docs / "docs/tools/retry.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
    other.ingest()
    one, two = ({**place.generations.current().manifest.corpora} for place in (indexed, other))
    assert {name for name in one if one[name].content != two[name].content} == {"adk_docs"}
    assert None not in {corpus.content for corpus in (*one.values(), *two.values())}
