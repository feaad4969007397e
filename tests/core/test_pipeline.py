"""From a question to a pack, on a small real index."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from adk_evidence.commands import remember_options
from adk_evidence.errors import (
    CollectionUnavailableError,
    RequestCancelledError,
    StoreError,
)
from adk_evidence.files import copy_tree
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search import calibration, pipeline
from adk_evidence.search.calibration import Calibration, SupportWeights
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Ranking
from tests.answers import codes, told
from tests.corpora import CODE_COMMIT, DOCS_COMMIT, HashEmbedder, Workplace, shared_sparse

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
# A small index is always "weak": without sub-queries, one thing is tested at a time.
STRONG = {"retrieval": {"expansion": "never"}}
# Every answer supports its question.
SURE = Calibration(
    weak=-1,
    relevant=-1,
    adapted_below=0,
    support=SupportWeights(bias=9, coverage=0, pairs=0, similarity=0, words=0, absent=0, high=0.5, nearest=-1),
)

Make = Callable[..., EvidenceService]


@pytest.fixture(scope="module", params=["edge", pytest.param("server", marks=pytest.mark.live)])
def store(request: pytest.FixtureRequest) -> str:
    """Every test runs on each kind of store, and finds the same."""
    return request.param


@pytest.fixture
def workplace(tmp_path: Path, store: str) -> Workplace:
    return Workplace(tmp_path, store=store)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, store: str) -> Workplace:
    """An index that no test changes."""
    workplace = Workplace(tmp_path_factory.mktemp("indexed"), store=store)
    workplace.ingest()
    return workplace


@pytest.fixture(scope="module")
def service(indexed: Workplace) -> Iterator[EvidenceService]:
    """Answers from that index with the default settings."""
    with closing(indexed.service()) as opened:
        yield opened


@pytest.fixture
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "MINILM", SURE)


@pytest.fixture
def make() -> Iterator[Make]:
    """Services that are closed after the test."""
    with ExitStack() as stack:

        def open_service(place: Workplace, overrides: dict[str, Any] | None = None, **parts: Any) -> EvidenceService:
            parts = {"dense": HashEmbedder(), "sparse": shared_sparse(), **parts}
            return stack.enter_context(closing(EvidenceService(place.settings_with(overrides or {}), **parts)))

        yield open_service


def ask(service: EvidenceService, query: str = QUESTION, **values: Any) -> EvidencePack:
    filters = values.pop("filters", {})
    return service.find(EvidenceRequest(query=query, filters=EvidenceFilters(**filters), **values))


def ranked(service: EvidenceService, query: str = QUESTION, **values: Any) -> Ranking:
    with service.session() as session:
        return session.rank(EvidenceRequest(query=query, **values))


def added(ranking: Ranking) -> int:
    """How many sub-queries were searched beside the question."""
    return len(ranking.candidates.encoded.queries) - 1


def kinds(pack: EvidencePack) -> list[str]:
    return [candidate.source_type for candidate in pack.candidates]


def without(place: Workplace, root: Path, *kinds: str) -> Workplace:
    """A copy of an index that lost the collections of these kinds."""
    broken = Workplace(root, store=place.store)
    copy_tree(place.home, broken.home)
    for collection in (place.settings.store.collection(kind) for kind in kinds):
        for folder in broken.home.glob(f"index/generations/*/{collection}"):
            shutil.rmtree(folder)
        for record in broken.home.glob("index/generations/*/server.json"):
            record.write_text(record.read_text().replace(f'"{collection}-', f'"gone-{collection}-'))
    return broken


def collections(place: Workplace) -> tuple[str, str]:
    return place.settings.store.docs_collection, place.settings.store.code_collection


class Favours:
    """A reranker that puts one kind before the other."""

    model = "favours-1"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def rerank(self, query: Any, task_mode: Any, documents: Any) -> list[float]:
        return [float(document.payload.kind == self.kind) for document in documents]


# The pack


def test_a_question_is_answered_from_docs_and_code(service):
    pack = ask(service)
    assert pack.status == "success"
    assert {"docs", "code"} == set(kinds(pack))
    assert pack.candidates[0].path in ("docs/tools/retry.md", "src/google/adk/plugins/retry.py")
    assert pack.coverage.docs_in_top_k + pack.coverage.code_in_top_k == len(pack.candidates)
    assert pack.quality.level in ("high", "mixed")
    assert pack.warnings == ()


def test_the_json_has_every_key_of_the_specification(indexed, make):
    pack = json.loads(ask(make(indexed, STRONG)).model_dump_json())
    plan = pack["retrieval_plan"]
    assert plan["collections_queried"] == [*collections(indexed)] and plan["hybrid_fusion"] == "rrf"
    assert plan["prefetch_limits"] == {"dense": 80, "sparse": 120, "asked": 40}
    assert plan["qdrant_search_params"] == {"hnsw_ef": 256, "exact": False}
    assert set(pack["coverage"]) == {"docs_in_top_k", "code_in_top_k"}
    assert {"qdrant", "voyage", "timings_ms"} <= set(pack["debug"])
    wanted = "rank rerank_score collection source_type repo ref path_or_url chunk_id text citation symbol headings "
    wanted += "language lines citation_confidence verification why"
    for rank, candidate in enumerate(pack["candidates"], 1):
        assert candidate["rank"] == rank
        assert set(wanted.split()) <= set(candidate)
    assert pack["index"]["corpora"]["adk_docs"]["commit"] == DOCS_COMMIT
    assert re.fullmatch("[0-9a-f]{64}", pack["pack_id"])


def test_citations_have_exactly_the_specified_form(service):
    for candidate in ask(service).candidates:
        if candidate.source_type == "docs":
            assert candidate.citation.startswith(f"adk-docs@{DOCS_COMMIT}:{candidate.path_or_url} L")
            assert candidate.path_or_url.startswith("https://docs.example.org/")
        else:
            lines = f"#L{candidate.lines.start}-L{candidate.lines.end}"
            assert candidate.citation == f"adk-python@{CODE_COMMIT}:{candidate.path}{lines}"
        assert candidate.verification.state == "exact"
        assert candidate.citation_confidence == "high"


def test_why_tells_a_result_s_whole_way(service):
    pack = ask(service)
    for candidate in pack.candidates:
        why = candidate.why
        assert {branch.branch.partition("#")[0] for branch in why.branches} <= {"dense", "sparse", "asked"}
        assert all(branch.rank >= 1 for branch in why.branches)
        assert why.pool_rank is not None and why.ranking_place is not None
        assert why.ranking_place == candidate.rank or why.moved_up
        dense = [branch for branch in why.branches if branch.branch == "dense"]
        assert (why.similarity is not None) == bool(dense)
    assert "retry" in pack.candidates[0].why.matched_terms
    scores = [candidate.rerank_score for candidate in pack.candidates]
    assert scores == sorted(scores, reverse=True), "the reranker's order is the pack's"


def test_thirty_questions_at_once_are_all_answered_alike(indexed, service):
    together = threading.Barrier(30)

    def answer(_: int) -> str:
        together.wait()
        return ask(service).canonical_json()

    with ThreadPoolExecutor(30) as threads:
        answers = list(threads.map(answer, range(30)))
    assert len(answers) == 30 and len(set(answers)) == 1
    log = indexed.settings.paths.event_log.read_text(encoding="utf-8").splitlines()
    assert sum(json.loads(line)["pack_id"] == ask(service).pack_id for line in log) >= 30


# Filters


def test_only_what_passes_the_path_filters_is_found_and_no_mix_is_asked_for(service):
    pack = ask(service, filters={"path_allowlist": ("src/**",), "path_blocklist": ("**/retry.py",)})
    paths = {candidate.path for candidate in pack.candidates}
    assert paths and all(path.startswith("src/") and not path.endswith("retry.py") for path in paths)
    assert pack.warnings == ()


def test_a_language_is_a_file_s_or_a_code_block_s(service):
    pack = ask(service, filters={"languages": ("python",)})
    assert {candidate.language for candidate in pack.candidates} == {"py", "md"}
    docs = [candidate for candidate in pack.candidates if candidate.source_type == "docs"]
    assert docs and all("```python" in candidate.text for candidate in docs)


def test_a_question_for_one_kind_searches_one_collection(service, indexed):
    docs = ask(service, filters={"source_types": ("docs",)})
    code = ask(service, filters={"source_types": ("code",)})
    assert docs.retrieval_plan.collections_queried == collections(indexed)[:1] and set(kinds(docs)) == {"docs"}
    assert code.retrieval_plan.collections_queried == collections(indexed)[1:] and set(kinds(code)) == {"code"}
    assert "coverage" not in codes(docs) + codes(code)


def test_the_api_reference_answers_docs_questions_but_does_not_repeat_the_code(service):
    both = ask(service, "RetryPlugin")
    docs = ask(service, "RetryPlugin", filters={"source_types": ("docs",)})
    assert {candidate.origin for candidate in both.candidates} == {"repository"}
    assert "api-reference" in {candidate.origin for candidate in docs.candidates}


@pytest.mark.parametrize("name", ["9.9.0", "V9.9.0", CODE_COMMIT[:7]])
def test_a_commit_that_only_code_has_takes_its_docs_from_the_api_reference(service, name):
    pack = ask(service, "RetryPlugin", filters={"repo_ref_hint": name})
    assert {candidate.ref for candidate in pack.candidates} == {CODE_COMMIT}
    assert set(kinds(pack)) == {"docs", "code"}
    assert "ref_not_indexed" not in codes(pack)


def test_paths_that_no_indexed_file_has_are_named(service):
    pack = ask(service, filters={"path_allowlist": ("docs/nosuch/**",)})
    assert (pack.status, pack.quality.level, pack.candidates) == ("no_results", "none", ())
    assert [one for one in told(pack) if "'docs/nosuch/**'" in one and one.startswith("path_not_indexed")]
    assert pack.quality.note == "No evidence fits the filters."
    assert "CAUTION: Nothing was searched." in to_prompt(pack).text
    for paths in (("docs/nosuch/**", "*.md"), ("*.py",)):
        assert "path_not_indexed" not in codes(ask(service, filters={"path_allowlist": paths}))


@pytest.mark.parametrize(
    ("glob", "meant"),
    [
        ("plugins/retry.py", "**/plugins/retry.py"),
        ("./plugins/retry.py", "**/plugins/retry.py"),
        ("/*retry.py", "**/*retry.py"),
        ("*plugin/retry.py", None),
    ],
)
def test_a_path_that_begins_in_another_folder_is_named_as_it_would_match(service, glob, meant):
    pack = ask(service, filters={"path_allowlist": (glob,)})
    (warning,) = [one for one in told(pack) if one.startswith("path_not_indexed")]
    if meant is None:
        assert warning.endswith(f": {glob!r}.")
    else:
        assert warning.endswith(f" {meant!r} matches 1 indexed file.")
        assert ask(service, filters={"path_allowlist": (meant,)}).candidates


# Coverage and sub-queries


def test_a_kind_that_ranks_low_is_promoted_from_the_buffer(indexed, make):
    service = make(indexed, STRONG, reranker=Favours("doc"))
    assert kinds(ask(service, max_results_final=4)) == ["docs", "docs", "code", "code"]
    assert kinds(ask(service, max_results_final=4, task_mode="explain")) == ["docs"] * 4


def test_a_second_try_looks_deeper_on_the_side_that_is_short(indexed, make):
    service = make(indexed, {"retrieval": {**STRONG["retrieval"], "final_limit_per_collection": 1}})
    pack = ask(service)
    run = ranked(service)
    assert set(run.candidates.limits.values()) == {90} and added(run) == 0
    assert pack.coverage.docs_in_top_k >= 3 and pack.coverage.code_in_top_k >= 3
    assert pack.warnings == ()


@pytest.mark.usefixtures("sure")
def test_sub_queries_come_last_and_then_a_warning(indexed, make, monkeypatch):
    monkeypatch.setattr(pipeline, "WEAK_POOL_SIZE", 0)
    service = make(indexed)
    filters = {"path_blocklist": ("src/", "README.md")}
    pack, run = ask(service, filters=filters), ranked(service, filters=filters)
    assert list(run.candidates.limits.values()) == [60, 90]
    assert added(run) == 2
    assert told(pack) == ("coverage: only 0 of the 3 code results that the mode asks for.",)


@pytest.mark.parametrize(("fewest", "nearest", "queries"), [(100, -1.0, 3), (0, 1.0, 3), (0, -1.0, 0)])
def test_a_weak_first_pass_alone_adds_sub_queries(indexed, make, monkeypatch, fewest, nearest, queries):
    monkeypatch.setattr(pipeline, "WEAK_POOL_SIZE", fewest)
    monkeypatch.setattr(calibration, "MINILM", replace(SURE, weak=nearest))
    run = ranked(make(indexed), query="RetryPlugin fails")
    assert added(run) == queries, "one of them as the question names code"
    branches = {branch.branch for hit in run.final for branch in hit.branches}
    assert ({"dense#1", "sparse#3"} <= branches) == bool(queries)


def test_sub_queries_do_not_make_a_result_look_stronger(indexed, make):
    class OnlyTemplates(HashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            # Everything resembles the templates, nothing the question.
            return super().embed_query(text if text != "zzz" else "qqq")

    run = ranked(make(indexed, dense=OnlyTemplates()), query="zzz")
    assert added(run)
    assert run.quality.level == "none"


def test_other_wordings_are_searched_and_the_question_stays_the_question(service):
    # The question has not a word of the page, and the wording has a name that nothing in the index has.
    said = {"query": "zzz qqq", "wordings": ("retry a tool that throws", "NoSuchThing of retries")}
    run, alone = ranked(service, **said), ranked(service, query="zzz qqq")
    branches = {branch.branch for hit in run.final for branch in hit.branches}
    assert {"dense#1", "sparse#1", "dense#2"} <= branches
    pack = ask(service, **said)
    assert pack.candidates[0].path.endswith(("retry.md", "retry.py"))
    assert (pack.query, pack.retrieval_plan.wordings) == ("zzz qqq", said["wordings"])
    assert run.names == alone.names and not any("NoSuchThing" in warning for warning in told(pack))
    assert run.quality.level == "none"
    assert ask(service, **said).pack_id == pack.pack_id


def test_wordings_are_few_and_short():
    for wordings in (("a",) * 4, ("a" * 121,), (" ",)):
        with pytest.raises(ValidationError):
            EvidenceRequest(query=QUESTION, wordings=wordings)


def test_a_spent_time_budget_leaves_optional_stages_out(indexed, make):
    class Slow(HashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            threading.Event().wait(0.005)
            return super().embed_query(text)

    filters = {"path_blocklist": ("src/", "README.md")}
    run = ranked(make(indexed, dense=Slow()), filters=filters, time_budget_ms=1)
    assert run.final and added(run) == 0
    assert list(run.candidates.limits.values()) == [60, 60]
    said = [str(warning) for warning in run.question.context.warnings]
    assert "time_budget: the time budget was spent before sub-queries." in said
    assert "time_budget: the time budget was spent before the second try for coverage." in said


# Parts that fail


@pytest.mark.usefixtures("sure")
def test_a_kind_that_is_not_indexed_is_said_and_is_no_high_quality(workplace, make):
    workplace.ingest("docs")
    pack = ask(make(workplace, STRONG))
    assert codes(pack) == ["coverage"] and "no code is indexed" in told(pack)[0]
    assert pack.quality.level == "mixed" and pack.quality.note.endswith("; no code is indexed.")
    # Who asks for docs alone, or for an explanation, misses nothing.
    assert ask(make(workplace, STRONG), task_mode="explain").quality.level == "high"
    assert ask(make(workplace, STRONG), filters={"source_types": ("docs",)}).quality.level == "high"


@pytest.mark.usefixtures("sure")
def test_an_answer_whose_first_citation_is_gone_is_no_high_quality(workplace, make):
    workplace.ingest()
    assert ask(make(workplace, STRONG)).quality.level == "high"
    (workplace.docs / "docs/tools/retry.md").unlink()
    (workplace.code / "src/google/adk/plugins/retry.py").unlink()
    pack = ask(make(workplace, STRONG))
    assert pack.candidates[0].verification.state == "gone"
    assert pack.quality.level == "mixed" and "the text that the first result cites is gone" in pack.quality.note


def test_words_that_stand_nowhere_are_named_and_misspelt_ones_are_understood(service):
    support = ranked(service, query="How do I retry a capacitor plugin?").support
    assert support.absent == ("capacitor",)
    assert 0 < support.measures.coverage < 1
    misspelt = ranked(service, query="retry a thrown plugim").support
    assert "plugim" not in misspelt.absent


def test_a_result_s_text_is_the_lines_that_it_cites(service, indexed):
    for query in (QUESTION, "Runner.run", "confirm a tool"):
        for found in ask(service, query).candidates:
            root = indexed.docs if found.source_type == "docs" else indexed.code
            if found.origin == "repository":
                lines = (root / found.path).read_text().split("\n")[found.lines.start - 1 : found.lines.end]
                assert found.text == "\n".join(lines)


def test_one_collection_alone_gives_part_of_the_answer(indexed, make, tmp_path):
    broken = without(indexed, tmp_path, "code")
    pack = ask(make(broken))
    assert set(kinds(pack)) == {"docs"}
    assert codes(pack) == ["collection_unavailable", "coverage"]
    assert pack.quality.level != "high"
    assert pack.quality.note.endswith(f"{collections(indexed)[1]} could not be searched.")
    with pytest.raises(CollectionUnavailableError):
        ask(make(broken), strict=True)


def _passages_fail(question, *_):
    question.context.without_collection("doc", CollectionUnavailableError("The collection cannot answer."))
    return {}


def _outlines_fail(*_):
    raise CollectionUnavailableError("The collection cannot answer.")


@pytest.mark.parametrize(
    ("name", "fails"),
    [("pack.passages.passage_similarities", _passages_fail), ("pack.outlines._read", _outlines_fail)],
    ids=["passages", "outlines"],
)
def test_a_collection_that_fails_behind_the_search_lowers_the_quality(indexed, make, monkeypatch, name, fails):
    assert ask(make(indexed)).quality.level == "high"
    monkeypatch.setattr(f"adk_evidence.search.{name}", fails)
    pack = ask(make(indexed))
    assert "collection_unavailable" in codes(pack) and pack.candidates
    assert pack.quality.level == "mixed" and pack.quality.note.endswith(" could not be read to the end.")
    with pytest.raises(CollectionUnavailableError):
        ask(make(indexed), strict=True)


def test_vectors_that_are_still_to_come_are_said(indexed, make, tmp_path):
    pending = without(indexed, tmp_path)
    manifest = next(pending.home.glob("index/generations/*/manifest.json"))
    manifest.write_text(manifest.read_text().replace('"dense": "complete"', '"dense": "pending"'))
    assert manifest.read_text().count("pending") == 1
    pack = ask(make(pending))
    assert "dense_pending" in codes(pack) and pack.quality.level == "keyword_only"
    assert pack.index.dense == "pending"
    remember_options(str(pending.home), None)
    with pytest.raises(StoreError, match="is missing, because the indexing was stopped"):
        ask(make(pending), strict=True)
    (warning,) = (warning for warning in told(ask(make(pending))) if warning.startswith("dense_pending"))
    assert f"`adk-ingest all --home {pending.home}`" in warning


def test_a_caller_who_has_gone_is_noticed_between_stages(service):
    for patience in range(4):
        questions = iter([False] * patience)
        with pytest.raises(RequestCancelledError):
            service.find(EvidenceRequest(query=QUESTION), cancelled=lambda left=questions: next(left, True))
    assert service.find(EvidenceRequest(query=QUESTION), cancelled=lambda: False).candidates


# The index and its sources change


def test_without_guides_the_api_reference_stands_in_and_the_pack_says_so(workplace, make):
    workplace.ingest("code")
    pack = ask(make(workplace), "RetryPlugin")
    assert "docs_fallback" in codes(pack)
    assert {c.origin for c in pack.candidates if c.source_type == "docs"} == {"api-reference"}
    assert all(candidate.verification.state == "exact" for candidate in pack.candidates)


def test_cited_files_are_found_on_this_machine(service):
    pack = ask(service)
    with service.session() as session:
        files = session.local_files(pack)
    assert set(files) == {candidate.candidate_id for candidate in pack.candidates}
    assert all(file.is_file() for file in files.values())
