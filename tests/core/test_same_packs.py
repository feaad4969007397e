"""An edited pack is known by its id, and the same content gives the same pack wherever it is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from adk_evidence.citations.saved import read_pack
from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.pack import EvidencePack, content_id, is_intact
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from tests.corpora import HashEmbedder, Workplace, shared_sparse

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
ERROR = (
    'Traceback (most recent call last):\n  File "google/adk/plugins/retry.py", line 9, in on_tool_error\nValueError: x'
)


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


@pytest.mark.parametrize(
    "edit",
    [
        {"query": "other question"},
        {"warnings": []},
        {"coverage": {"docs_in_top_k": 0, "code_in_top_k": 0}},
    ],
    ids=str,
)
def test_an_edited_pack_is_not_intact(saved, edit):
    pack = {**saved, "warnings": [{"code": "coverage", "text": "x"}]}
    pack["pack_id"] = content_id(pack)
    assert is_intact(pack) and not is_intact({**pack, **edit})


@pytest.mark.parametrize("edit", [{"text": "other words"}, {"citation": "adk-docs@0:invented"}], ids=str)
def test_a_pack_with_an_edited_result_is_not_intact(saved, edit):
    first, *others = saved["candidates"]
    assert is_intact(saved)
    assert not is_intact({**saved, "candidates": [{**first, **edit}, *others]})
    assert not is_intact({**saved, "candidates": [*others, first]})


def test_the_id_does_not_depend_on_how_the_json_is_written(saved):
    # As JavaScript writes numbers, with the question beside the pack and the members in another order.
    def rewritten(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rewritten(value[name]) for name in reversed(value)}
        if isinstance(value, list):
            return [rewritten(part) for part in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    found = read_pack(json.dumps({**rewritten(saved), "queryUsed": {"text": QUESTION}}))
    assert found.pack_id == saved["pack_id"] == EvidencePack.model_validate(saved).with_id().pack_id


@pytest.mark.parametrize("depth", [300, 100_000])
def test_values_that_are_nested_deeply_are_refused(saved, depth):
    text = json.dumps(saved)[:-1] + f', "z": {"[" * depth}{"]" * depth}}}'
    with pytest.raises(InvalidRequestError):
        read_pack(text)
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    assert not is_intact({**saved, "z": deep})


# The same content, elsewhere

_ELSEWHERE = """
import sys
from pathlib import Path
from tests.core.test_same_packs import all_answered
from tests.corpora import Workplace
import json
place = Workplace(Path(sys.argv[1]))
print(json.dumps(all_answered(place, json.loads(sys.argv[2]))))
"""
ASKED = [{"query": query} for query in (QUESTION, ERROR, "RetryPlugin", "wait between two attempts", "sessions")]


@pytest.fixture(scope="module")
def here(indexed: Workplace) -> list[dict[str, Any]]:
    return all_answered(indexed, ASKED)


@pytest.mark.parametrize(("seed", "threads", "locale"), [("1", "1", "C"), ("3", "4", "POSIX")])
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
