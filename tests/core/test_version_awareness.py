"""Questions about a version, on an index that holds two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import Kind, point_id, sha256_text
from adk_evidence.models.pack import EvidencePack, VersionPlan
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest, ProjectVersion
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search.session import EvidenceService
from adk_evidence.store.base import NewPoint, Record
from adk_evidence.store.factory import open_generations, open_writer
from tests.corpora import CODE, CODE_COMMIT, DOCS_COMMIT, HashEmbedder, Workplace, shared_sparse, write_code

pytestmark = pytest.mark.slow

OLD_COMMIT = "01dc0de000000000000000000000000000000001"
OLD = "src/google/adk/plugins/retry.py"
# Another name for one function; all other files are the same in both versions.
OLD_CODE = {**CODE, OLD: CODE[OLD].replace("def back_off(", "def wait_longer(")}
STRONG: dict[str, Any] = {"retrieval": {"weak_pool_size": 0, "weak_similarity": -1.0}}
KINDS: tuple[Kind, ...] = ("doc", "code")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """An index of v9.9.0 and, beside it, v8.1.0."""
    new = Workplace(tmp_path_factory.mktemp("new"))
    new.ingest()
    old = Workplace(tmp_path_factory.mktemp("old"))
    write_code(old.code, OLD_CODE, commit=OLD_COMMIT)
    about = old.code / "corpus.json"
    about.write_text(about.read_text().replace("v9.9.0", "v8.1.0"))
    old.ingest()
    _put_beside(new, old)
    return new


def _put_beside(place: Workplace, other: Workplace) -> None:
    """Publish a generation of one index that holds the other's code and API reference as well."""
    settings, generations = place.settings, open_generations(place.settings)
    theirs = other.generations.current()
    ours = generations.current()
    assert theirs is not None and ours is not None
    building = generations.begin("beside", generations.current())
    writer = open_writer(building.folder, ours.manifest.specs(), settings)
    collections = dict(ours.manifest.collections)
    for kind in KINDS:
        name = settings.store.collection(kind)
        points = [
            _of_a_kept_version(record)
            for record in other.records(kind, with_vectors=True)
            if record.payload["commit"] == OLD_COMMIT
        ]
        writer.upsert(name, points)
        collections[name] = collections[name].model_copy(update={"points": writer.count(name)})
    writer.flush()
    writer.close()
    beside = {f"{n}@v8.1.0": c for n, c in theirs.manifest.corpora.items() if c.commit == OLD_COMMIT}
    assert len(beside) == 2
    corpora = {**ours.manifest.corpora, **beside}
    changes = {"generation": building.id, "collections": collections, "corpora": corpora}
    generations.publish(building, ours.manifest.model_copy(update=changes))


def _of_a_kept_version(record: Record) -> NewPoint:
    """The point with an id of its own: a version that is kept beside another has a corpus of another name."""
    chunk_id = sha256_text(f"v8.1.0 {record.payload['chunk_id']}")[:40]
    return NewPoint(point_id(chunk_id), record.vectors, {**record.payload, "chunk_id": chunk_id})


@pytest.fixture(scope="module")
def service(both: Workplace) -> Iterator[EvidenceService]:
    opened = EvidenceService(both.settings_with(STRONG), dense=HashEmbedder(), sparse=shared_sparse())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceService]:
    """An index of v9.9.0 alone."""
    place = Workplace(tmp_path_factory.mktemp("one"))
    place.ingest()
    opened = EvidenceService(place.settings_with(STRONG), dense=HashEmbedder(), sparse=shared_sparse())
    yield opened
    opened.close()


def ask(service: EvidenceService, query: str, **filters: Any) -> EvidencePack:
    return service.find(EvidenceRequest(query=query, filters=EvidenceFilters(**filters)))


def code_refs(pack: EvidencePack) -> set[str]:
    return {candidate.ref for candidate in pack.candidates if candidate.source_type == "code"}


def plan(pack: EvidencePack) -> VersionPlan:
    assert pack.retrieval_plan is not None and pack.retrieval_plan.versions is not None
    return pack.retrieval_plan.versions


@pytest.mark.parametrize("form", ["ADK 8.1: {}", "{} with google-adk==8.1.0", "{} in v8", "{} (adk-python 8.x)"])
def test_the_version_of_the_question_is_searched_and_no_other(service: EvidenceService, form: str) -> None:
    pack = ask(service, form.format("retry a tool that throws"))
    assert code_refs(pack) == {OLD_COMMIT}
    assert plan(pack).basis == "question" and plan(pack).searched["adk_code"] == ("v8.1.0",)
    assert plan(pack).left_out["adk_code"] == ("v9.9.0",)
    assert pack.warnings == ()


def test_definitions_are_of_the_version_that_is_searched(service: EvidenceService) -> None:
    for question, commit in (("what is this in ADK 8.1?", OLD_COMMIT), ("what is this?", CODE_COMMIT)):
        pack = service.find(EvidenceRequest(query=question, symbols=("google.adk.plugins.RetryPlugin",)))
        assert (pack.candidates[0].symbol, pack.candidates[0].ref) == ("RetryPlugin", commit)


def test_guides_that_have_no_version_still_answer(service: EvidenceService) -> None:
    pack = ask(service, "retry a tool that throws in ADK 8.1")
    assert {c.ref for c in pack.candidates if c.source_type == "docs"} == {DOCS_COMMIT}


def test_the_api_reference_follows_the_version(service: EvidenceService) -> None:
    pack = ask(service, "RetryPlugin in ADK 8.1", source_types=("docs",))
    refs = {c.ref for c in pack.candidates if c.origin == "api-reference"}
    assert refs == {OLD_COMMIT}


def test_without_a_version_the_newest_answers_alone_and_the_plan_says_so(service: EvidenceService) -> None:
    pack = ask(service, "retry a tool that throws")
    assert code_refs(pack) == {CODE_COMMIT}
    assert plan(pack).model_dump() == {
        "asked": (),
        "basis": "newest",
        "searched": {"adk_docs": ("v9.9.0",), "adk_code": ("v9.9.0",)},
        "left_out": {"adk_docs": ("v8.1.0",), "adk_code": ("v8.1.0",)},
    }
    assert pack.warnings == ()


def test_the_same_text_in_both_versions_is_cited_from_the_one_that_is_asked_for(service: EvidenceService) -> None:
    for query, commit in (("Runner in ADK 8.1", OLD_COMMIT), ("Runner in ADK 9.9", CODE_COMMIT)):
        found = {c.path: c.ref for c in ask(service, query).candidates if c.source_type == "code"}
        assert found["src/google/adk/runners.py"] == commit


def test_a_question_about_two_versions_gets_both(service: EvidenceService) -> None:
    pack = ask(service, "wait before the next attempt: from ADK 8.1 to 9.9")
    assert code_refs(pack) == {OLD_COMMIT, CODE_COMMIT}
    assert plan(pack).asked == ("8.1", "9.9") and not plan(pack).left_out


def test_the_requests_own_version_wins(service: EvidenceService) -> None:
    pack = ask(service, "retry a tool that throws in ADK 8.1", repo_ref_hint="v9.9.0")
    assert code_refs(pack) == {CODE_COMMIT}
    assert (plan(pack).basis, plan(pack).asked) == ("request", ("8.1",))
    assert pack.warnings == ()


def test_a_hint_that_is_not_indexed_does_not_mix_versions(service: EvidenceService) -> None:
    pack = ask(service, "retry a tool that throws", repo_ref_hint="v0.0.1")
    assert code_refs(pack) == {CODE_COMMIT}
    assert pack.warnings == ("ref_not_indexed: no indexed corpus is of 'v0.0.1'; the search went on without it.",)


def test_the_nearest_version_is_searched_and_said(service: EvidenceService) -> None:
    pack = ask(service, "retry a tool that throws in ADK 8.3")
    assert code_refs(pack) == {OLD_COMMIT} and plan(pack).basis == "nearest"
    (warning,) = pack.warnings
    assert warning == (
        "version_not_indexed: The question is about ADK 8.3; the index holds v8.1.0, v9.9.0, of which v8.1.0 was "
        "searched. Evidence may not hold there."
    )
    assert pack.quality.level == "mixed"
    assert pack.quality.note.endswith("; the version that the question names is not in the index.")


def test_a_name_of_another_version_is_not_known_in_this_one(service: EvidenceService) -> None:
    pack = ask(service, "what does back_off do in ADK 8.1")
    assert pack.warnings == ("unknown_name: back_off is not in the version that was searched, but in another one.",)
    assert pack.quality.level != "high"
    assert ask(service, "what does wait_longer do in ADK 8.1").warnings == ()
    assert "is nowhere in the index" in ask(service, "what does jump_far do in ADK 8.1").warnings[0]


def test_the_version_is_no_part_of_what_is_searched_for(both: Workplace) -> None:
    heard: list[str] = []

    class Listening(HashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            heard.append(text)
            return super().embed_query(text)

    opened = EvidenceService(both.settings, dense=Listening(), sparse=shared_sparse())
    pack = ask(opened, "retry a tool in google-adk==8.1.0 please")
    otherwise = ask(opened, "retry a tool please in ADK v8.1")
    ask(opened, ">=9.0")
    opened.close()
    assert heard.count("retry a tool please") == 2 and not any("8.1" in text for text in heard)
    found = [[candidate.candidate_id for candidate in one.candidates] for one in (pack, otherwise)]
    assert found[0] == found[1]
    assert ">=9.0" in heard, "a question that is nothing but a version is embedded as it is"


# The version of a project


def ask_for(service: EvidenceService, version: str, query: str = "retry a tool that throws", **filters: Any) -> Any:
    project = ProjectVersion(version=version, taken_from="uv.lock")
    return service.find(EvidenceRequest(query=query, project=project, filters=EvidenceFilters(**filters)))


def test_a_question_is_answered_from_the_version_of_the_project(service: EvidenceService) -> None:
    for version, commit in (("8.1.0", OLD_COMMIT), ("9.9", CODE_COMMIT)):
        pack = ask_for(service, version)
        assert code_refs(pack) == {commit} and plan(pack).basis == "project"
        assert (pack.adk.wanted, pack.adk.taken_from, pack.adk.is_wanted) == (version, "uv.lock", True)
        assert pack.warnings == ()


def test_the_version_that_the_question_names_wins_over_the_project(service: EvidenceService) -> None:
    pack = ask_for(service, "9.9.0", "retry a tool that throws in ADK 8.1")
    assert code_refs(pack) == {OLD_COMMIT} and plan(pack).basis == "question"
    assert (pack.adk.indexed, pack.adk.wanted, pack.warnings) == ("8.1.0", "9.9.0", ())


def test_the_filter_of_the_request_wins_over_the_project(service: EvidenceService) -> None:
    pack = ask_for(service, "9.9.0", repo_ref_hint="v8.1.0")
    assert code_refs(pack) == {OLD_COMMIT} and pack.adk.indexed == "8.1.0" and pack.warnings == ()


def test_views_name_the_version_and_what_it_was_taken_from(service: EvidenceService) -> None:
    pack = ask_for(service, "8.1.0")
    assert "VERSION: google-adk 8.1.0, from `uv.lock`" in to_prompt(pack).text.splitlines()
    assert "Version: google-adk 8.1.0, from uv.lock" in to_markdown(pack).splitlines()
    other = ask_for(service, "9.9.0", "retry a tool that throws in ADK 8.1")
    assert "VERSION: google-adk 8.1.0; the project uses google-adk 9.9.0, from `uv.lock`" in to_prompt(other).text
    without = ask(service, "retry a tool that throws")
    assert without.adk is None and "VERSION" not in to_prompt(without).text


# One version


def test_a_project_of_another_version_gets_a_warning_and_no_high_quality(one: EvidenceService) -> None:
    pack = ask_for(one, "1.18.0")
    assert pack.warnings == (
        "version_not_indexed: The project uses google-adk 1.18.0; the index is of 9.9.0. Evidence may not "
        "hold for 1.18.0. `adk-ingest all --adk 1.18.0` indexes that version.",
    )
    assert pack.quality.level == "mixed"
    assert pack.quality.note.endswith("; the version that the project uses is not in the index.")
    assert (pack.adk.indexed, pack.adk.is_wanted) == ("9.9.0", False)
    # Who names a version alone has no project.
    asked = one.find(EvidenceRequest(query="retry a tool that throws", project=ProjectVersion(version="1.18.0")))
    assert asked.quality.note.endswith("; the version that you asked for is not in the index.")
    assert asked.warnings[0].endswith("indexes that version if it was released.")
    # The question's own version is what the warning is about.
    assert ask_for(one, "1.18.0", "retry a tool that throws in ADK 9.9").warnings == ()


def test_the_id_of_a_pack_does_not_depend_on_the_machine(one: EvidenceService, monkeypatch: pytest.MonkeyPatch) -> None:
    def pack(taken_from: str) -> Any:
        project = ProjectVersion(version="1.18.0", taken_from=taken_from)
        return one.find(EvidenceRequest(query="retry a tool that throws", project=project))

    here = pack("uv.lock")
    monkeypatch.setattr("adk_evidence.commands._given", ("--home", "/home/somebody"))
    there = pack(".venv")
    assert there.adk.taken_from == ".venv" and there.pack_id == here.pack_id
    assert "--home" not in there.model_dump_json()


def test_a_build_of_ones_own_counts_as_its_release(one: EvidenceService) -> None:
    assert ask_for(one, "9.9.0+mine").warnings == ()


def test_one_version_that_is_asked_for_changes_nothing_but_the_plan(one: EvidenceService) -> None:
    pack = ask(one, "retry a tool that throws in ADK 9.9")
    assert plan(pack).basis == "question" and not plan(pack).left_out
    assert pack.warnings == () and code_refs(pack) == {CODE_COMMIT}


def test_a_question_without_a_version_has_nothing_to_say_of_versions(one: EvidenceService) -> None:
    pack = ask(one, "retry a tool that throws")
    assert pack.retrieval_plan is not None and pack.retrieval_plan.versions is None


def test_a_version_that_is_not_there_is_a_warning_and_no_high_quality(one: EvidenceService) -> None:
    assert ask(one, "retry a tool that throws").quality.level == "high"
    pack = ask(one, "retry a tool that throws in ADK 1.18")
    assert pack.warnings == (
        "version_not_indexed: The question is about ADK 1.18; the index holds v9.9.0. Evidence may not hold there.",
    )
    assert pack.quality.level == "mixed" and plan(pack).basis == "newest"


def test_docs_alone_are_judged_by_the_code_beside_them(tmp_path: Path) -> None:
    place = Workplace(tmp_path, {"ingestion": {"api_reference": False}})
    place.ingest()
    opened = EvidenceService(place.settings_with(STRONG), dense=HashEmbedder(), sparse=shared_sparse())
    try:
        old = ask(opened, "retry a tool in ADK 1.18", source_types=("docs",))
        new = ask(opened, "retry a tool in ADK 9.9", source_types=("docs",))
    finally:
        opened.close()
    assert "holds v9.9.0" in old.warnings[0] and new.warnings == ()


def test_the_same_question_gives_the_same_pack(service: EvidenceService) -> None:
    first, second = (ask(service, "retry a tool that throws in ADK 8.1").pack_id for _ in range(2))
    assert first == second


def test_a_place_that_two_versions_have_needs_the_version(service: EvidenceService) -> None:
    with service.session() as session:
        with pytest.raises(InvalidRequestError, match=r"^2 indexed commits have this file\.") as caught:
            session.read("src/google/adk/plugins/retry.py:6-8")
        cited = caught.value.hint.removeprefix("Cite one of them: ").removesuffix(".").split(", ")
        assert [session.read(citation).commit for citation in cited] == [OLD_COMMIT, CODE_COMMIT]
