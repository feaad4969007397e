"""The operations as an agent meets them: every one of them, and what each says when something goes wrong."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from adk_evidence.admission import Limits
from adk_evidence.desk import Desk
from adk_evidence.embedding.queries import RememberedQueries
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.registry import list_indexes, read_codebase, settings_of, size_on_disk
from adk_evidence.models.chunk import SourceType
from adk_evidence.models.warning import Warning
from adk_evidence.store.factory import open_generations
from adk_evidence_agents.operations.execute import execute
from adk_evidence_agents.operations.notes import Notes
from adk_evidence_agents.operations.requests import OperationRequest, SearchParameters
from adk_evidence_agents.operations.responses import OperationResponse
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.operations.searching import search
from adk_evidence_agents.session import AgentSession
from adk_evidence_cli.operating import read_request
from adk_evidence_console import read_stdin
from tests.agents.operations_place import (
    SHOP,
    ask,
    make_indexer,
    make_place,
    make_request,
    send,
    shop_folder,
    shop_parameters,
)
from tests.corpora import Workplace, change, write_files

pytestmark = pytest.mark.slow

ID = "123e4567-e89b-12d3-a456-426614174000"
DISCOUNT = "what the basket costs with the discount taken off"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentSession]:
    """A session on two indexes; tests only read them."""
    place = make_place(tmp_path_factory.mktemp("operations"))
    session = AgentSession(lambda: place.settings)
    yield session
    session.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Workplace, AgentSession]]:
    """A place and its session, to change."""
    place = make_place(tmp_path)
    session = AgentSession(lambda: place.settings)
    yield place, session
    session.close()


def paths(response: OperationResponse) -> list[str]:
    return [item.metadata.file_path for item in response.results.search_results or ()]


def types(response: OperationResponse) -> list[tuple[str, str]]:
    return [(error.type, error.severity) for error in response.errors]


def test_too_many_operations_are_told_when_to_come_back(session: AgentSession) -> None:
    _ = session.settings
    session.admission.limits = Limits(running=1, waiting=0)
    try:
        with session.admission.turn():
            response = ask(session, "search_code", query="basket")
            assert types(response) == [("busy", "critical")] and "Ask again in" in response.errors[0].message
            # What changes an index has turns of its own.
            assert types(ask(session, "update", collection_name="nothing")) == [("request_error", "critical")]
            session.admission.limits = Limits(running=1, waiting=1)
            gone = ask(session, "search_code", query="basket", cancelled=lambda: True)
            assert types(gone) == [("cancelled", "critical")]
        assert ask(session, "search_code", query="basket", collection_name="shop").status == "success"
    finally:
        session.admission.limits = Limits()


def test_code_is_found_with_its_place_and_what_stands_around_it(session: AgentSession) -> None:
    response = ask(session, "search_code", query="send the report to the accountants", collection_name="shop")
    assert response.status == "success" and response.operation_type == "search" and not response.errors
    results = response.results.search_results or ()
    first = results[0]
    assert (first.metadata.file_path, first.metadata.function_name) == ("jobs/report.py", "mail_report")
    assert first.metadata.tags == ("code", "py", "function") and first.metadata.file_type == "py"
    lines = SHOP["jobs/report.py"].split("\n")
    assert first.content == "\n".join(lines[first.metadata.line_start - 1 : first.metadata.line_end])
    assert first.context is not None
    before = lines[: first.metadata.line_start - 1]
    assert first.context.before == "\n".join(before[-5:]) and first.context.after == ""
    assert first.citation.startswith("shop@") and first.citation.endswith("#L6-L8")
    assert first.verification.state == "exact" and first.collection_name == "shop"
    assert all("code" in item.metadata.tags and 0 <= (item.score or 0) <= 1 for item in results)
    methods = ask(session, "search_code", query="RetryPlugin on_tool_error", filters={"file_type": "python"})
    assert "RetryPlugin" in {item.metadata.class_name for item in methods.results.search_results or ()}
    docs = ask(session, "search_docs", query="zebra roles", collection_name="shop", context_lines=1, top_k=1)
    (only,) = docs.results.search_results or ()
    assert only.metadata.file_path == "docs/hostile.md" and "docs" in only.metadata.tags
    assert only.context is not None and "\n" not in only.context.before


def test_filters_narrow_and_say_so_when_nothing_is_left(session: AgentSession) -> None:
    code = {"query": DISCOUNT, "collection_name": "shop"}
    assert set(paths(ask(session, "search_code", **code, filters={"file_type": "typescript"}))) <= {
        "src/basket.ts",
        "src/prices.ts",
        "src/checkout.ts",
    }
    below = ask(session, "search_code", **code, filters={"directory": "./jobs"})
    assert paths(below) and all(path.startswith("jobs/") for path in paths(below))
    rooted = ask(session, "search_code", query="retry", filters={"directory": "/plugins"})
    deep = ask(session, "search_code", query="retry", filters={"directory": "adk/plugins"})
    assert not paths(rooted) and paths(deep) and all("/adk/plugins/" in path for path in paths(deep))
    functions = ask(session, "search_code", **code, filters={"tags": ["function", "PY"]})
    assert functions.results.search_results
    assert all({"function", "py"} <= set(item.metadata.tags) for item in functions.results.search_results)
    whole = ask(session, "search_code", **code)
    assert below.metrics.vectors_searched < whole.metrics.vectors_searched

    nowhere = ask(session, "search_code", **code, filters={"directory": "kitchen"})
    assert nowhere.status == "success" and not paths(nowhere) and nowhere.metrics.vectors_searched == 0
    assert any("filters.directory" in advice for advice in nowhere.recommendations)
    untagged = ask(session, "search_code", **code, filters={"tags": ["striped"]})
    assert not paths(untagged) and any("filters.tags" in advice for advice in untagged.recommendations)


def test_a_threshold_is_a_cosine_similarity(session: AgentSession) -> None:
    code = {"query": DISCOUNT, "collection_name": "shop"}
    scores = [item.score or 0 for item in ask(session, "search_code", **code).results.search_results or ()]
    least = sorted(scores)[len(scores) // 2]
    kept = ask(session, "search_code", **code, score_threshold=least).results.search_results or ()
    assert sorted(item.score or 0 for item in kept) == sorted(score for score in scores if score >= least)
    none = ask(session, "search_code", **code, score_threshold=1.0)
    assert not paths(none) and any(f"{max(scores):.2f}" in advice for advice in none.recommendations)
    dense = ask(session, "search_code", query=SHOP["jobs/report.py"], collection_name="shop", score_threshold=0.5)
    assert "jobs/report.py" in paths(dense)


def test_several_indexes_are_searched_at_once(session: AgentSession) -> None:
    both = ask(session, "search_code", query="zebra password", collection_name=["adk", "shop"], top_k=20)
    everything = ask(session, "search_code", query="zebra password", collection_name="*", top_k=20)
    assert {item.collection_name for item in both.results.search_results or ()} == {"adk", "shop"}
    assert [item.id for item in both.results.search_results or ()] == [
        item.id for item in everything.results.search_results or ()
    ]
    first, second = (both.results.search_results or ())[:2]
    assert {first.metadata.function_name, second.metadata.function_name} == {"zebra_password"}
    alone = [
        ask(session, "search_code", query="zebra password", collection_name=name).metrics.vectors_searched
        for name in ("adk", "shop")
    ]
    assert both.metrics.vectors_searched == sum(alone)
    # An index without an answer does not come first.
    near = ask(session, "search_code", query="turnover of a month in cents", collection_name="*", top_k=3)
    assert paths(near)[0] == "jobs/turnover.py"


def test_sub_queries_about_the_adk_are_not_asked_of_a_codebase(session: AgentSession) -> None:
    with session.desk.open() as indexes:
        embedder = indexes.service(indexes.named("shop").settings).models.dense.code
    assert isinstance(embedder, RememberedQueries)
    ask(session, "search_code", query="paint the garden fence green", collection_name="shop")
    assert set(embedder.kept("paint the garden fence green")) == {"plain"}
    assert embedder.kept("ADK Python official usage: paint the garden fence green") == {}


def test_the_project_chooses_the_index(session: AgentSession) -> None:
    def first(project: str | None) -> str:
        request = make_request("search_code", {"query": "zebra password", "top_k": 1})
        response = send(session, {**request, "context": {"project_name": project}} if project else request)
        return (response.results.search_results or ())[0].collection_name

    assert (first("shop"), first("kitchen"), first("My Kitchen!"), first(None)) == ("shop", "adk", "adk", "adk")


def test_a_question_that_came_before_is_a_cache_hit(session: AgentSession) -> None:
    asked = {"query": "which articles are striped this time", "collection_name": "shop"}
    first, again = ask(session, "search_code", **asked).metrics, ask(session, "search_docs", **asked).metrics
    assert not first.cache_hit and first.embedding_time_ms > 0
    assert again.cache_hit and again.embedding_time_ms == 0 and again.query_time_ms > 0
    # What one operation asks twice was not there before.
    sources: tuple[SourceType, ...] = ("code", "docs")
    with Run(session, "search_code_and_docs", "shop") as run:
        for source in sources:
            search(run, SearchParameters(query="which articles are dotted this time"), (source,))
    assert not run.cache_hit and run.embedding_ms > 0


def test_similar_code_comes_without_the_snippet_itself_and_with_a_true_reason(session: AgentSession) -> None:
    snippet = SHOP["jobs/turnover.py"].split("\n\n\n")[1].strip()
    response = ask(session, "find_similar", reference_code=snippet, collection_name="shop")
    items = response.results.similar_items or ()
    first = items[0]
    assert "def turnover_of_month" in first.code_snippet and first.file_path == "jobs/turnover.py"
    assert f"{first.similarity_score:.2f}" in first.explanation
    assert "both call `load_receipts`, `sum`" in first.explanation
    assert all(item.code_snippet.split() != snippet.split() for item in items)
    for item in items:
        if "both call" in item.explanation:
            assert "load_receipts(" in item.code_snippet or "sum(" in item.code_snippet
    near = ask(session, "find_similar", reference_code=snippet, collection_name="shop", similarity_threshold=0.8)
    assert [item.id for item in near.results.similar_items or ()] == [first.id]
    none = ask(session, "find_similar", reference_code=snippet, collection_name="shop", similarity_threshold=1.0)
    assert none.results.similar_items == () and any("similarity_threshold" in text for text in none.recommendations)


def test_copies_of_a_snippet_are_shown(session: AgentSession) -> None:
    snippet = SHOP["jobs/zebra.py"].split("\n\n\n")[1]
    response = ask(session, "find_similar", reference_code=snippet, collection_name="*", top_k=2)
    items = response.results.similar_items or ()
    assert "def zebra_password() -> str:" in items[0].code_snippet
    assert {item.collection_name for item in items} == {"adk", "shop"}
    assert [item.explanation for item in items] == ["The same text."] * 2
    assert any("2 places" in advice for advice in response.recommendations)


def test_an_analysis_counts_what_is_there(own: tuple[Workplace, AgentSession]) -> None:
    place, session = own
    response = ask(session, "analyze", collection_name="*")
    main, shop = response.results.analysis or ()
    assert (main.collection_name, main.codebase_path) == ("adk", None)
    assert shop.codebase_path == str(shop_folder(place)) and shop.total_files == len(SHOP)
    assert (shop.changed_files, shop.missing_files, shop.added_files, shop.stale_files) == (0, 0, 0, ())

    change(shop_folder(place) / "src/prices.ts", "cents", "pence")
    (shop_folder(place) / "jobs/zebra.py").unlink()
    results = ask(session, "analyze", collection_name="shop").results
    (shop,) = results.analysis or ()
    assert results.load is not None and results.load.requests.running == 1
    assert {cache.name for cache in results.load.caches} >= {"answers", "questions"}
    assert (shop.changed_files, shop.missing_files) == (1, 1)
    assert shop.stale_files == ("jobs/zebra.py", "src/prices.ts")


def test_old_results_are_said_to_be_old(own: tuple[Workplace, AgentSession]) -> None:
    place, session = own
    # Otherwise the question would bring the index up to date.
    session.desk = Desk(lambda: place.settings)
    asked = {"query": "turnover of a month in cents", "collection_name": "shop", "top_k": 1}
    change(shop_folder(place) / "jobs/turnover.py", "def turnover_of_month", "# Slow.\ndef turnover_of_month")
    (moved,) = ask(session, "search_code", **asked).results.search_results or ()
    assert moved.verification.state == "moved" and moved.context is not None and "# Slow." in moved.context.before
    (shop_folder(place) / "jobs/turnover.py").write_text("nothing = 1\n")
    response = ask(session, "search_code", **asked)
    (gone,) = response.results.search_results or ()
    assert gone.verification.state == "gone" and gone.context is None
    assert any("update shop" in advice for advice in response.recommendations)


def test_an_index_is_updated_and_deleted(own: tuple[Workplace, AgentSession]) -> None:
    place, session = own
    write_files(shop_folder(place), {"jobs/gift.py": 'def wrap_gift():\n    """Wraps a gift in striped paper."""\n'})
    (shop_folder(place) / "stats/season.R").unlink()
    updated = ask(session, "update", collection_name="shop")
    items = updated.results.indexed_items
    assert updated.operation_type == "update" and items is not None
    assert (items.changed_files, items.removed_files, items.total_files) == (1, 1, len(SHOP))
    found = ask(session, "search_code", query="wrap a gift in paper", collection_name="shop")
    assert paths(found)[0] == "jobs/gift.py"
    again = ask(session, "update", collection_name="shop")
    assert again.status == "success" and any("Nothing has changed" in advice for advice in again.recommendations)

    deleted = ask(session, "delete", collection_name="shop")
    assert deleted.status == "success" and deleted.results.deleted_collection == "shop"
    assert [known.name for known in list_indexes(place.settings)] == ["adk"]
    assert (shop_folder(place) / "src/basket.ts").exists()
    gone = ask(session, "search_code", query="basket", collection_name="shop")
    assert types(gone) == [("request_error", "critical")] and "adk" in gone.errors[0].message
    assert ask(session, "index_codebase", **shop_parameters(place)).status == "success"
    assert paths(ask(session, "search_code", query="wrap a gift in paper", collection_name="shop"))[0] == "jobs/gift.py"


def test_files_that_cannot_be_indexed_are_parse_errors(own: tuple[Workplace, AgentSession]) -> None:
    place, session = own
    latin = b"caf\xe9 = '" + b"\xe9\xe8" * 200 + b"'\n"
    write_files(shop_folder(place), {"jobs/latin.py": latin, "jobs/gift.py": "def wrap_gift():\n    pass\n"})
    said: list[str] = []
    request = make_request("update", {"collection_name": "shop"})
    response = execute(request, session, make_indexer=make_indexer, progress=lambda *told: said.append(told[2]))
    assert response.status == "partial" and response.results.indexed_items is not None
    assert [(error.type, error.severity, error.file) for error in response.errors] == [
        ("parse_error", "warning", "jobs/latin.py")
    ]
    assert said and all(said)


def test_what_would_index_too_much_is_refused(session: AgentSession, tmp_path: Path) -> None:
    home = tmp_path / "me"
    (home / "project").mkdir(parents=True)
    file = home / "file.txt"
    file.write_text("text")

    def refused(path: str) -> str:
        response = ask(session, "index_codebase", codebase_path=path, collection_name="mine")
        assert types(response) == [("request_error", "critical")]
        return response.errors[0].message

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "home", lambda: home)
        assert "home folder" in refused(str(home))
        assert "home folder" in refused(str(home / "project" / ".."))
        assert "home folder" in refused(home.anchor)
        link = tmp_path / "link"
        link.symlink_to(home)
        assert "home folder" in refused(str(link))
    assert "not absolute" in refused("project")
    assert "not a folder" in refused(str(file))
    assert "not a folder" in refused(str(tmp_path / "gone"))
    # Whether it exists or not.
    assert "agents may look into" in refused("/etc") and "agents may look into" in refused("/gone")
    (tmp_path / "etc").symlink_to("/etc")
    assert "agents may look into" in refused(str(tmp_path / "etc"))
    assert "its own data" in refused(str(session.settings.paths.root / "index"))
    assert "its own data" in refused(str(session.settings.paths.root))
    assert "not a folder" in refused("/\0")
    assert [known.name for known in list_indexes(session.settings)] == ["adk", "shop"]


def test_agents_index_below_the_folders_that_the_user_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Workplace(tmp_path / "place")
    here, there = (write_files(tmp_path / name, {"a.py": "answer = 42\n"}) for name in ("here", "there"))

    def answer(roots: list[str], folder: Path) -> OperationResponse:
        settings = place.settings_with({"agents": {"roots": roots}})
        session = AgentSession(lambda: settings)
        return ask(session, "index_codebase", codebase_path=str(folder), collection_name=folder.name)

    monkeypatch.chdir(here)
    assert answer([], here).status == "success"
    response = answer([], there)
    assert types(response) == [("request_error", "critical")]
    assert f"below {here}" in response.errors[0].message and "--root" in response.errors[0].message
    assert answer([str(there)], there).status == "success"
    assert answer([str(there)], here).status == "failed"
    # Programs that desktops start run in the home folder or in `/`, which nobody chose.
    monkeypatch.setattr(Path, "home", lambda: here)
    assert "No folder is allowed" in answer([], there).errors[0].message


def test_the_products_own_data_is_no_part_of_a_codebase_around_it(tmp_path: Path) -> None:
    place = Workplace(tmp_path / "project")
    (place.home / "notes.md").parent.mkdir(parents=True)
    write_files(place.root, {"home/notes.md": "# Other projects\n\ntext\n", "a.py": "answer = 42\n"})
    session = AgentSession(lambda: place.settings)
    response = ask(session, "index_codebase", codebase_path=str(place.root), collection_name="project")
    assert response.status == "success"
    with open_generations(settings_of(place.settings, "project")).open_current() as lease:
        paths = {path for corpus in lease.manifest.corpora.values() for path in corpus.files}
    assert "a.py" in paths and not any(path.startswith("home/") for path in paths)


def test_indexing_again_keeps_what_the_request_leaves_out(tmp_path: Path) -> None:
    place = Workplace(tmp_path / "place")
    folder = write_files(tmp_path / "shop", {"a.py": "a = 1\n", "b.md": "# B\n\ntext\n", "c.ts": "const c = 1;\n"})
    session = AgentSession(lambda: place.settings)
    asked = {"codebase_path": str(folder), "collection_name": "shop"}

    def index(**parameters: Any) -> Codebase:
        assert ask(session, "index_codebase", **asked, **parameters).status == "success"
        return read_codebase(place.settings, "shop")

    first = index(file_patterns=["*.py"], exclude_patterns=["test/"], chunk_size=500, chunk_overlap=50)
    assert index() == first
    assert ask(session, "update", collection_name="shop").status == "success"
    assert read_codebase(place.settings, "shop") == first
    changed = index(file_patterns=[], chunk_size=600)
    assert (changed.file_patterns, changed.exclude_patterns) == ((), ("test/",))
    assert (changed.chunk_tokens, changed.overlap_tokens) == (600, 50)


def test_indexing_has_limits_that_are_named_as_the_request_names_them(session: AgentSession, tmp_path: Path) -> None:
    def refused(**changes: Any) -> str:
        parameters = {"codebase_path": str(tmp_path), "collection_name": "mine", **changes}
        response = ask(session, "index_codebase", **parameters)
        assert types(response) == [("request_error", "critical")]
        return response.errors[0].message

    assert "collection_name" in refused(collection_name="Not A Name")
    assert "main index" in refused(collection_name="adk")
    assert "chunk_size" in refused(chunk_size=1)
    assert "chunk_overlap must be smaller than chunk_size" in refused(chunk_size=100, chunk_overlap=100)
    assert "another folder" in refused(collection_name="shop")


def test_the_main_index_is_not_changed(session: AgentSession) -> None:
    for kind in ("update", "delete"):
        response = ask(session, kind, collection_name="adk")
        assert types(response) == [("request_error", "critical")] and "adk-ingest all" in response.errors[0].message
    assert [known.name for known in list_indexes(session.settings)] == ["adk", "shop"]


@pytest.mark.parametrize(
    ("config", "differs"),
    [
        ({"model": "all-MiniLM-L6-v2", "dimensions": 384}, False),
        ({"model": "sentence-transformers/all-minilm-l6-v2"}, False),
        ({"model": "text-embedding-3-small"}, True),
        ({"model": "all-MiniLM-L6-v2", "dimensions": 383}, True),
    ],
)
def test_another_embedding_than_the_indexs_is_an_error(
    session: AgentSession, tmp_path: Path, config: dict[str, Any], differs: bool
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    requests = [
        make_request("search_code", {"query": "basket", "collection_name": "shop"}),
        make_request("find_similar", {"reference_code": "basket()", "collection_name": "shop"}),
    ]
    if differs:
        requests.append(make_request("update", {"collection_name": "shop"}))
        mine = {"codebase_path": str(tmp_path), "collection_name": "mine"}
        requests.append(make_request("index_codebase", mine))
    for request in requests:
        response = send(session, {**request, "embedding_config": config})
        assert types(response) == ([("embedding_error", "critical")] if differs else [])
        assert not differs or "MiniLM" in response.errors[0].message


def test_a_model_that_fails_leaves_keywords_and_a_warning(session: AgentSession) -> None:
    asked = {"query": "NOMODEL turnover of a month", "collection_name": "shop", "score_threshold": 0.5}
    response = ask(session, "search_code", **asked)
    assert response.status == "partial" and "jobs/turnover.py" in paths(response)
    assert types(response) == [("embedding_error", "warning")] * 2
    assert all(item.score is None for item in response.results.search_results or ())
    assert any("score_threshold" in error.message for error in response.errors)
    snippet = ask(session, "find_similar", reference_code="NOMODEL()", collection_name="shop")
    assert snippet.status == "failed" and types(snippet) == [("embedding_error", "critical")]
    several = ask(session, "find_similar", reference_code="NOMODEL()", collection_name="*")
    assert several.status == "failed" and ("embedding_error", "critical") in types(several)


def test_the_indexes_that_there_are_are_named(session: AgentSession) -> None:
    one_of_two = ask(session, "search_code", query="zebra password", collection_name=["shop", "nowhere"])
    assert one_of_two.status == "partial" and paths(one_of_two) and types(one_of_two) == [("request_error", "warning")]
    unknown = ask(session, "search_code", query="x y", collection_name="nowhere")
    assert types(unknown) == [("request_error", "critical")]
    assert all("There are: adk, shop." in response.errors[0].message for response in (one_of_two, unknown))


def test_an_unexpected_failure_names_no_secret(session: AgentSession) -> None:
    response = ask(session, "search_code", query="BREAK it")
    assert types(response) == [("internal_error", "critical")]
    assert "RuntimeError" in response.errors[0].message and "sk-secret" not in response.model_dump_json()


def test_a_machine_that_is_full_is_a_resource_error(session: AgentSession) -> None:
    class Full:
        def update(self, name: str, cancelled: Any, progress: Any) -> Any:
            raise OSError(28, "No space left on device")

    request = make_request("update", {"collection_name": "shop"})
    response = execute(request, session, make_indexer=lambda settings: Full())  # type: ignore[arg-type,return-value]
    assert types(response) == [("resource_error", "critical")] and "No space left" in response.errors[0].message


def test_a_cancelled_operation_ends_with_a_record(own: tuple[Workplace, AgentSession]) -> None:
    place, session = own
    for kind, parameters in (
        ("search_code", {"query": "basket"}),
        ("analyze", {}),
        ("update", {"collection_name": "shop"}),
        ("delete", {"collection_name": "shop"}),
    ):
        response = ask(session, kind, cancelled=lambda: True, **parameters)
        assert types(response) == [("cancelled", "critical")], kind

    # Cancelled while it runs: the published index goes on answering.
    write_files(shop_folder(place), {"jobs/gift.py": "def wrap_gift():\n    pass\n"})
    asked = iter([False, False])
    response = ask(session, "update", cancelled=lambda: next(asked, True), collection_name="shop")
    assert types(response) == [("cancelled", "critical")]
    assert paths(ask(session, "search_code", query="turnover of a month", collection_name="shop"))


def test_without_any_index_the_answer_says_how_to_make_one(tmp_path: Path) -> None:
    empty = AgentSession(lambda: Workplace(tmp_path).settings)
    for asked, kind in ((None, "qdrant_error"), ("*", "qdrant_error"), ("nowhere", "request_error")):
        response = ask(empty, "search_code", query="basket", collection_name=asked)
        assert types(response) == [(kind, "critical")] and "adk-ingest all" in response.errors[0].message
    assert ask(empty, "analyze", collection_name="*").status == "failed"
    empty.close()


def test_settings_that_are_wrong_are_a_record_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADK_EVIDENCE_PROFILE", "cloudy")
    assert types(ask(AgentSession(), "search_code", query="basket")) == [("request_error", "critical")]


def test_a_broad_query_gets_advice(session: AgentSession) -> None:
    def advice(query: str, **more: Any) -> list[str]:
        response = ask(session, "search_code", query=query, collection_name="shop", **more)
        return [text for text in response.recommendations if "broad" in text]

    assert advice("turnover") and not advice("turnover_of") and not advice("turnover of a whole month")
    assert not advice("turnover", filters={"directory": "jobs"})


def test_a_codebase_without_docs_says_so_and_is_found_by_any_language(session: AgentSession) -> None:
    files = {"a.py": "def wrap_gift():\n    pass\n", "b.kt": "fun wrapGift() {}\n"}
    folder = write_files(session.settings.paths.root.parent / "bare", files)
    ask(session, "index_codebase", codebase_path=str(folder), collection_name="bare")
    gift = {"query": "how a gift is wrapped", "collection_name": "bare"}
    docs = ask(session, "search_docs", **gift)
    kotlin = ask(session, "search_code", **gift, filters={"file_type": "Kotlin"})
    ask(session, "delete", collection_name="bare")
    assert not paths(docs) and any("index its docs" in advice for advice in docs.recommendations)
    assert paths(kotlin) == ["b.kt"]


def test_requests_may_be_text_or_a_model_and_the_id_comes_back(session: AgentSession) -> None:
    request = {**make_request("search_code", {"query": "basket total", "collection_name": "shop"}), "request_id": ID}
    for form in (request, json.dumps(request), OperationRequest.model_validate_json(json.dumps(request))):
        response = send(session, form)
        assert response.status == "success" and response.request_id == UUID(ID)
    assert send(session, {"request_id": ID, "task_type": "index"}).request_id == UUID(ID)
    assert send(session, {"request_id": ID, "task_type": "index"}).operation_type == "index"


def test_an_operation_is_logged_without_its_texts(session: AgentSession) -> None:
    request = make_request("search_code", {"query": "secret project basket", "collection_name": "shop"})
    send(session, {**request, "request_id": ID, "context": {"project_type": "backend", "priority": "low"}})
    text = session.settings.paths.event_log.read_text()
    event = json.loads(text.splitlines()[-1])
    assert event["event"] == "operation" and event["action"] == "search_code" and event["request_id"] == ID
    assert event["collection_name"] == "shop" and event["status"] == "success"
    assert (event["project_type"], event["priority"]) == ("backend", "low")
    assert "secret project" not in text


def test_names_keep_their_case_in_advice() -> None:
    notes = Notes()
    unknown = Warning(code="unknown_name", text="zz_func is nowhere in the index.")
    notes.take_warnings([unknown, Warning(code="coverage", text="only 2 of the 3 docs results.")])
    assert notes.recommendations == ("zz_func is nowhere in the index.", "Only 2 of the 3 docs results.")
    down = Warning(code="rerank_unavailable", text="It is down.")
    gone, later = Warning(code="sparse_unavailable", text="It is gone."), Warning(code="dense_pending", text="Later.")
    notes.take_warnings([gone, later, down])
    notes.take_warnings([down])
    assert [error.type for error in notes.errors] == ["embedding_error", "embedding_error", "rerank_error"]


def with_narrow_search(session: AgentSession) -> AgentSession:
    """A session whose searches fetch two chunks of each kind."""
    limits = dict.fromkeys(("dense_prefetch_limit", "sparse_prefetch_limit", "final_limit_per_collection"), 2)
    narrow = session.settings.retrieval.model_copy(update=limits)
    return AgentSession(lambda: session.settings.model_copy(update={"retrieval": narrow}))


def test_tags_find_what_lies_behind_the_chunks_that_are_fetched(session: AgentSession) -> None:
    narrow = with_narrow_search(session)
    smooth = ask(narrow, "search_code", query=DISCOUNT, collection_name="shop", top_k=2, filters={"tags": ["R"]})
    assert paths(smooth) == ["stats/season.R"] and smooth.metrics.vectors_searched == 1
    turnover = SHOP["jobs/turnover.py"]
    similar = ask(
        narrow, "find_similar", reference_code=turnover, collection_name="shop", top_k=2, filters={"tags": ["r"]}
    )
    assert [item.file_path for item in similar.results.similar_items or ()] == ["stats/season.R"]
    narrow.close()


def test_as_many_results_come_as_were_asked_for(session: AgentSession) -> None:
    narrow = with_narrow_search(session)
    found = ask(narrow, "search_code", query="turnover of a day", collection_name="shop", top_k=6)
    similar = ask(narrow, "find_similar", reference_code=SHOP["jobs/turnover.py"], collection_name="shop", top_k=6)
    assert len(paths(found)) == len(similar.results.similar_items or ()) == 6
    narrow.close()


def test_an_operation_reads_an_index_in_one_state(own: tuple[Workplace, AgentSession]) -> None:
    place, session = own

    def generation(run: Run) -> str:
        (found,) = run.ask_each(lambda name, opened: opened.index.manifest.generation)
        return found

    discounts = SearchParameters(query="discounts")
    with Run(session, "search_docs", "shop") as run:
        first = generation(run)
        change(shop_folder(place) / "docs/discounts.md", "# Discounts", "# Rebates")
        assert ask(session, "update", collection_name="shop").status == "success"
        assert generation(run) == first
        assert any("Discounts" in item.payload.body for item in search(run, discounts, ("docs",)))
    with Run(session, "search_docs", "shop") as run:
        assert generation(run) != first
        assert any("Rebates" in item.payload.body for item in search(run, discounts, ("docs",)))


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell what a file takes")
def test_files_that_are_laid_out_and_empty_take_no_room(tmp_path: Path) -> None:
    with (tmp_path / "page.dat").open("wb") as file:
        file.truncate(1 << 25)
    (tmp_path / "text").write_bytes(b"x" * 10_000)
    assert 10_000 <= size_on_disk(tmp_path) < 100_000


def test_what_is_wrong_with_a_request_is_said_without_inner_names(session: AgentSession) -> None:
    for parameters, words in [
        (
            {"query": "x", "collection_name": 5},
            "parameters.collection_name is not valid: it should be a text",
        ),
        ({"query": "x", "collection_name": []}, "or: there should be at least 1 of them"),
        ({"query": "x", "colour": "red"}, "operation.parameters.colour is not valid: there is no such field."),
        ({}, "operation.parameters.query is not valid: it is missing."),
    ]:
        response = send(session, make_request("search_code", parameters))
        (error,) = response.errors
        assert words in error.message and not re.search(r"[\[(]|tuple|constrained|search_code", error.message)
    unknown = send(session, {"task_type": "search", "operation": {"type": "sing", "parameters": {}}})
    assert "the type is none of index_codebase, search_code, " in unknown.errors[0].message


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_before_a_request_is_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    file = tmp_path / "request.json"
    file.write_bytes("{}".encode(encoding))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert read_request(str(file), lambda: "") == read_request("-", read_stdin) == "{}"
