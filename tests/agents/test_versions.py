"""Agents that work on a project get evidence of the version of the ADK that the project uses."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.project import ProjectAdk
from adk_evidence.settings import Settings
from adk_evidence_agents import adk_tool
from adk_evidence_agents.adk_tool import retrieve_adk_evidence
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.server import make_server
from adk_ingest.indexes.version import ingest_version
from adk_ingest.progress import Progress
from adk_ingest.session import Sources
from tests.agents.mcp_calls import answer
from tests.corpora import CODE_COMMIT, HashEmbedder, Workplace, shared_sparse
from tests.environments import write_environment

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

QUESTION = "how do I retry when a tool throws?"
_CODE_CITED = re.compile(r"adk-python@([^:\s]+):")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The main index of v9.9.0 and an index of 8.1.0."""
    place = Workplace(tmp_path_factory.mktemp("home"))
    place.ingest()
    wanted = ProjectAdk("8.1.0", ".venv", exact=True, python=write_environment(place.root / "venv", "8.1.0"))
    sources = Sources(allow_network=False)
    ingest_version(place.settings, wanted, sources, Progress(), dense=HashEmbedder(), sparse=shared_sparse())
    return place


class Project:
    """A project that is upgraded when a test says so."""

    version = "8.1.0"

    def find(self, settings: Settings) -> ProjectAdk:
        return ProjectAdk(self.version, ".venv", exact=True)


@pytest.fixture
def project() -> Project:
    return Project()


@pytest.fixture
def session(home: Workplace, project: Project) -> Iterator[AgentSession]:
    session = AgentSession(lambda: home.settings, lambda settings, _: project.find(settings))
    yield session
    session.close()


def asking(session: AgentSession) -> Client:
    return Client(make_server(session), mode="legacy")


async def test_every_tool_answers_from_the_version_of_the_project(session: AgentSession) -> None:
    async with asking(session) as client:
        text = await answer(client, "find_adk_evidence", query=QUESTION)
        assert "VERSION: google-adk 8.1.0, from `.venv`" in text and set(_CODE_CITED.findall(text)) == {"v8.1.0"}
        text = await answer(client, "find_adk_symbol", query="wait_longer")
        assert text.startswith("VERSION: google-adk 8.1.0, from `.venv`")
        text = await answer(client, "search_code_and_docs", query="wait before the next attempt")
        assert "wait_longer" in text and "back_off" not in text
        cited = next(one for one in re.findall(r"adk-python@\S+#L\d+-L\d+", text))
        text = await answer(client, "read_adk_source", citation=cited)
        assert text.startswith("SOURCE: adk-python@v8.1.0:") and "has changed" not in text


async def test_a_version_that_is_not_indexed_is_said(session: AgentSession, project: Project) -> None:
    project.version = "8.2.0"
    async with asking(session) as client:
        for tool in ("find_adk_evidence", "find_adk_symbol"):
            text = await answer(client, tool, query="RetryPlugin")
            assert "The project uses google-adk 8.2.0; the index is of 8.1.0." in text
            assert "VERSION: " not in text


async def test_a_search_of_all_indexes_mixes_no_versions(home: Workplace) -> None:
    session = AgentSession(lambda: home.settings)
    async with asking(session) as client:
        text = await answer(client, "search_code_and_docs", query="wait before the next attempt", index="*")
        assert "back_off" in text and "wait_longer" not in text
        text = await answer(client, "search_code_and_docs", query="wait before the next attempt", index="adk-8.1.0")
        assert "wait_longer" in text and "back_off" not in text
        text = await answer(client, "list_indexes")
        assert "adk-8.1.0" in text
    session.close()


async def test_the_tool_of_agents_answers_for_the_adk_that_runs_the_agent(
    home: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = write_environment(tmp_path / "venv", "8.1.0")
    monkeypatch.setattr("sys.path", [str(running / "lib/python3.12/site-packages"), *sys.path])
    settings = home.settings_with({"project": {"detect": True}})
    session = AgentSession(lambda: settings, adk_tool._running_adk)
    monkeypatch.setattr(adk_tool, "_SESSION", session)
    given = await retrieve_adk_evidence(QUESTION)
    session.close()
    pack = given["evidence_pack"]
    assert pack["version"] == "google-adk 8.1.0, from the running environment" and given["warnings"] == []
    assert {one["ref"] for one in pack["candidates"] if one["source_type"] == "code"} == {"v8.1.0"}


async def test_the_code_of_a_checkout_is_not_taken_for_the_release(
    home: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = write_environment(tmp_path / "venv", "8.1.0") / "lib/python3.12/site-packages"
    told = packages / "google_adk-8.1.0.dist-info/direct_url.json"
    told.write_text('{"url": "file:///work/adk-python", "dir_info": {"editable": true}}')
    monkeypatch.setattr("sys.path", [str(packages), *sys.path])
    found = adk_tool._running_adk(home.settings_with({"project": {"detect": True}}), None)
    assert found is not None and (found.version, found.exact, found.asked) == ("8.1.0", False, "editable")


async def test_an_upgrade_in_the_midst_of_a_request_mixes_no_versions(session: AgentSession, project: Project) -> None:
    def find(settings: Settings) -> ProjectAdk:
        # Each look finds another version.
        project.version = "9.9.0" if project.version == "8.1.0" else "8.1.0"
        return ProjectAdk(project.version, ".venv", exact=True)

    project.find = find  # type: ignore[method-assign]
    commits = {"8.1.0": "v8.1.0", "9.9.0": CODE_COMMIT}
    async with asking(session) as client:
        for _ in range(2):
            for tool, query in (("find_adk_symbol", "RetryPlugin"), ("find_adk_evidence", QUESTION)):
                text = await answer(client, tool, query=query)
                version = re.search(r"^VERSION: google-adk ([\d.]+), from `.venv`", text, re.MULTILINE)
                assert version and set(_CODE_CITED.findall(text)) == {commits[version[1]]}


async def test_an_operation_does_not_take_a_version_for_a_codebase(session: AgentSession) -> None:
    from adk_ingest.indexes.codebase import CodebaseIndexer

    with pytest.raises(InvalidRequestError, match="is the index of a version of the ADK"):
        CodebaseIndexer(session.settings).update("adk-8.1.0", lambda: False, lambda *_: None)
