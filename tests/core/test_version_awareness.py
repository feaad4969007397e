"""Questions about a version, and for a project that uses one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.models.pack import EvidencePack, VersionPlan
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest, ProjectVersion
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.render.view import version_label
from adk_evidence.search.session import EvidenceService
from tests.answers import told
from tests.corpora import HashEmbedder, Workplace, shared_sparse

pytestmark = pytest.mark.slow

STRONG: dict[str, Any] = {"retrieval": {"expansion": "never"}}


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


def plan(pack: EvidencePack) -> VersionPlan:
    assert pack.retrieval_plan is not None and pack.retrieval_plan.versions is not None
    return pack.retrieval_plan.versions


def test_the_version_is_no_part_of_what_is_searched_for(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    heard: list[str] = []

    class Listening(HashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            heard.append(text)
            return super().embed_query(text)

    opened = EvidenceService(place.settings, dense=Listening(), sparse=shared_sparse())
    pack = ask(opened, "retry a tool in google-adk==8.1.0 please")
    otherwise = ask(opened, "retry a tool please in ADK v8.1")
    ask(opened, ">=9.0")
    opened.close()
    assert heard.count("retry a tool please") == 1, "the same text is not embedded twice"
    assert not any("8.1" in text for text in heard)
    found = [[candidate.candidate_id for candidate in one.candidates] for one in (pack, otherwise)]
    assert found[0] == found[1]
    assert ">=9.0" in heard, "a question that is nothing but a version is embedded as it is"


def ask_for(service: EvidenceService, version: str, query: str = "retry a tool that throws", **filters: Any) -> Any:
    project = ProjectVersion(version=version, taken_from="uv.lock")
    return service.find(EvidenceRequest(query=query, project=project, filters=EvidenceFilters(**filters)))


@pytest.mark.parametrize("version", ["9.9.0", "9.9", "9.9.0+mine"])
def test_a_question_is_answered_for_the_version_of_the_project(one: EvidenceService, version: str) -> None:
    pack = ask_for(one, version)
    assert (pack.adk.wanted, pack.adk.taken_from, pack.adk.is_wanted) == (version, "uv.lock", True)
    assert pack.warnings == () and pack.retrieval_plan.versions is None


def test_the_version_that_the_question_names_wins_over_the_project(one: EvidenceService) -> None:
    pack = ask_for(one, "1.18.0", "retry a tool that throws in ADK 9.9")
    assert (pack.adk.indexed, pack.adk.wanted, pack.warnings) == ("9.9.0", "1.18.0", ())
    (warning,) = told(ask_for(one, "9.9.0", "retry a tool that throws in ADK 8.1"))
    assert warning.startswith("version_not_indexed: The question is about ADK 8.1; the index holds v9.9.0.")


def test_views_name_the_version_and_what_it_was_taken_from(one: EvidenceService) -> None:
    pack = ask_for(one, "9.9.0")
    assert "VERSION: google-adk 9.9.0, from `uv.lock`" in to_prompt(pack).text.splitlines()
    assert "Version: google-adk 9.9.0, from uv.lock" in to_markdown(pack).splitlines()
    other = ask_for(one, "8.1.0", "retry a tool that throws in ADK 9.9")
    assert "VERSION: google-adk 9.9.0; the project uses google-adk 8.1.0, from `uv.lock`" in to_prompt(other).text
    assert version_label(ask(one, "retry a tool that throws in ADK 9.9")) == "google-adk 9.9.0, from the question"
    assert version_label(ask(one, "retry a tool that throws in ADK 8.1")) == ""
    without = ask(one, "retry a tool that throws")
    assert without.adk is None and "VERSION" not in to_prompt(without).text


def test_a_project_of_another_version_gets_a_warning_and_no_high_quality(one: EvidenceService) -> None:
    pack = ask_for(one, "1.18.0")
    assert told(pack) == (
        "version_not_indexed: The project uses google-adk 1.18.0; the index is of 9.9.0. Evidence may not "
        "hold for 1.18.0. `adk-ingest all --adk 1.18.0` indexes that version.",
    )
    assert pack.quality.level == "mixed"
    assert pack.quality.note.endswith("; the version that the project uses is not in the index.")
    assert (pack.adk.indexed, pack.adk.is_wanted) == ("9.9.0", False)
    # Who names a version alone has no project.
    asked = one.find(EvidenceRequest(query="retry a tool that throws", project=ProjectVersion(version="1.18.0")))
    assert asked.quality.note.endswith("; the version that you asked for is not in the index.")
    assert told(asked)[0].endswith("indexes that version if it was released.")
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


def test_a_version_that_is_not_there_is_a_warning_and_no_high_quality(one: EvidenceService) -> None:
    strong = ask(one, "retry a tool that throws")
    assert strong.quality.level == "high" and strong.retrieval_plan.versions is None
    pack = ask(one, "retry a tool that throws from ADK 8.1 to 9.9")
    assert plan(pack).model_dump() == {"asked": ("8.1", "9.9"), "indexed": "9.9.0", "is_asked": False}
    assert told(pack) == (
        "version_not_indexed: The question is about ADK 8.1 and 9.9; the index holds v9.9.0. Evidence may not hold "
        "there.",
    )
    assert pack.quality.level == "mixed"
    assert pack.quality.note.endswith("; the version that the question names is not in the index.")


def test_docs_alone_are_judged_by_the_code_beside_them(tmp_path: Path) -> None:
    place = Workplace(tmp_path, {"ingestion": {"api_reference": False}})
    place.ingest()
    opened = EvidenceService(place.settings_with(STRONG), dense=HashEmbedder(), sparse=shared_sparse())
    try:
        old = ask(opened, "retry a tool in ADK 1.18", source_types=("docs",))
        new = ask(opened, "retry a tool in ADK 9.9", source_types=("docs",))
    finally:
        opened.close()
    assert "holds v9.9.0" in told(old)[0] and new.warnings == ()
