"""Folders whose projects use different versions of google-adk, side by side in one server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.index.project import find_adk
from adk_ingest.indexes.version import ingest_version
from adk_ingest.progress import Progress
from adk_ingest.session import Sources
from tests.corpora import CODE, HashEmbedder, Workplace, change, shared_sparse
from tests.environments import PLUGIN, write_environment
from tests.lsp.conftest import Start, command
from tests.lsp.rpc import RawClient

MAIN, OLDER = "9.9.0", "9.8.0"
QUESTION = "how often does RetryPlugin call a tool again?"
OLDER_CODE = {**CODE, PLUGIN: CODE[PLUGIN].replace("max_retries: int = MAX_RETRIES", "attempts: int = 7")}
TEXT = "from google.adk.plugins import RetryPlugin\n\nplugin = RetryPlugin()\n"


class Projects:
    """A home with an index of 9.9.0, and two projects: `new` has locked 9.9.0, `old` has 9.8.0 installed."""

    def __init__(self, root: Path) -> None:
        self.workplace = Workplace(root / "workplace")
        self.old, self.new = root / "projects" / "old", root / "projects" / "new"
        self.environment = self.old / ".venv"
        write_environment(self.environment, OLDER, OLDER_CODE)
        self.new.mkdir(parents=True)
        (self.new / "uv.lock").write_text(f'[[package]]\nname = "google-adk"\nversion = "{MAIN}"\n')

    def ingest_older(self) -> None:
        wanted = find_adk(self.old)
        assert wanted is not None
        sources, embedder = Sources(allow_network=False), HashEmbedder()
        ingest_version(self.workplace.settings, wanted, sources, Progress(), dense=embedder, sparse=shared_sparse())

    @property
    def folders(self) -> dict[str, Any]:
        """What a client says of its workspace."""
        named = [{"uri": folder.as_uri(), "name": folder.name} for folder in (self.new, self.old)]
        return {"workspaceFolders": named}

    def document(self, folder: Path) -> str:
        return (folder / "agent.py").as_uri()


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Projects:
    found = Projects(tmp_path_factory.mktemp("projects"))
    found.workplace.ingest()
    found.ingest_older()
    return found


def begin(client: RawClient, projects: Projects) -> None:
    client.initialize(**projects.folders)
    client.notify("test/prepare", {})
    for folder in (projects.old, projects.new):
        client.open(projects.document(folder), TEXT)


@pytest.fixture(scope="module")
def editor(projects: Projects) -> Iterator[RawClient]:
    """A server with both folders; tests leave it as they found it."""
    with RawClient(command(projects.workplace.root), {"home": str(projects.workplace.home)}) as client:
        begin(client, projects)
        yield client


def citations_of_the_plugin(pack: dict[str, Any]) -> set[str]:
    return {candidate["citation"] for candidate in pack["candidates"] if "retry.py" in candidate["path"]}


def place(uri: str, line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def test_each_folder_is_answered_from_its_version(editor: RawClient, projects: Projects) -> None:
    old = editor.result("adk/evidence", {"query": QUESTION, "folder": projects.old.as_uri()})
    new = editor.result("adk/evidence", {"query": QUESTION, "folder": projects.new.as_uri()})
    assert old["adk"] == {"indexed": OLDER, "wanted": OLDER, "taken_from": ".venv"}
    assert new["adk"] == {"indexed": MAIN, "wanted": MAIN, "taken_from": "uv.lock"}
    assert "attempts: int = 7" in str(old["candidates"]) and "attempts: int = 7" not in str(new["candidates"])
    assert citations_of_the_plugin(old) and not citations_of_the_plugin(old) & citations_of_the_plugin(new)
    assert not [warning for pack in (old, new) for warning in pack["warnings"] if "version" in warning["code"]]


def test_the_folder_of_a_document_decides(editor: RawClient, projects: Projects) -> None:
    asked = place(projects.document(projects.old), 2, 12)
    pack = editor.result("adk/evidence", {**asked, "folder": projects.new.as_uri()})
    assert pack["adk"]["indexed"] == OLDER
    hovers = {
        folder: str(editor.result("textDocument/hover", place(projects.document(folder), 2, 12)))
        for folder in (projects.old, projects.new)
    }
    assert "v9.8.0" in hovers[projects.old] and "v9.9.0" not in hovers[projects.old]
    assert "v9.9.0" in hovers[projects.new] and "v9.8.0" not in hovers[projects.new]
    symbol = editor.result("adk/symbol", {"name": "RetryPlugin", "folder": projects.old.as_uri()})
    assert symbol["ref"] == "v9.8.0"


def test_a_definition_is_opened_where_the_project_has_no_installed_adk(editor: RawClient, projects: Projects) -> None:
    at = {folder: place(projects.document(folder), 2, 12) for folder in (projects.old, projects.new)}
    found = editor.result("textDocument/definition", at[projects.new])
    assert found["uri"].endswith("/src/google/adk/plugins/retry.py")
    text = (projects.workplace.code / "src/google/adk/plugins/retry.py").read_text().splitlines()
    assert text[found["range"]["start"]["line"]].startswith("class RetryPlugin")
    assert editor.result("textDocument/definition", at[projects.old]) is None
    assert editor.result("textDocument/definition", place(projects.document(projects.new), 2, 2)) is not None
    assert editor.result("textDocument/definition", place(projects.document(projects.new), 1, 0)) is None


def test_symbols_of_the_workspace_name_their_version(editor: RawClient, projects: Projects) -> None:
    found = editor.result("workspace/symbol", {"query": "RetryPlugin"})
    containers = {symbol["containerName"] for symbol in found if symbol["name"] == "RetryPlugin"}
    assert containers == {"google.adk.plugins (9.9.0)", "google.adk.plugins (9.8.0)"}
    targets = editor.result("adk/targets", {"query": "RetryPlugin", "folder": projects.old.as_uri()})
    assert targets["ref"] == "v9.8.0"


def test_symbols_name_no_version_that_nobody_knows(start: Start, tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    change(projects.workplace.code / "corpus.json", "v9.9.0", "main")
    (projects.new / "uv.lock").unlink()
    projects.workplace.ingest()
    projects.ingest_older()
    client = start(projects.workplace, initialize=False)
    begin(client, projects)
    found = client.result("workspace/symbol", {"query": "RetryPlugin"})
    containers = {symbol["containerName"] for symbol in found if symbol["name"] == "RetryPlugin"}
    assert containers == {"google.adk.plugins", "google.adk.plugins (9.8.0)"}


def test_sources_of_every_version_are_opened(editor: RawClient, projects: Projects) -> None:
    pack = editor.result("adk/evidence", {"query": QUESTION, "folder": projects.old.as_uri()})
    citation = min(citations_of_the_plugin(pack))
    for folder in (projects.old, projects.new):
        source = editor.result("adk/source", {"citation": citation, "folder": folder.as_uri()})
        assert "attempts: int = 7" in source["text"]
    missing = editor.request("adk/source", {"citation": "adk-python@v1.0.0:src/google/adk/nowhere.py#L1-L2"})
    assert missing["error"]["data"]["code"] == "not_indexed"


def test_a_saved_pack_is_checked_against_the_version_that_answered(editor: RawClient, projects: Projects) -> None:
    for folder in (projects.old, projects.new):
        pack = editor.result("adk/evidence", {"query": QUESTION, "folder": folder.as_uri()})
        found = editor.result("adk/check", {"pack": pack})["candidates"]
        assert found and {one["verification"]["state"] for one in found} == {"exact"}
    pack["adk"]["indexed"] = "9.8.5"
    reasons = [one["verification"]["reason"] for one in editor.result("adk/check", {"pack": pack})["candidates"]]
    assert any("9.8.5, which is not indexed" in reason for reason in reasons)


def test_the_status_says_what_each_folder_uses(editor: RawClient, projects: Projects) -> None:
    status = editor.result("adk/status", {"folder": projects.old.as_uri()})
    assert status["index"]["corpora"]["adk_python"]["ref"] == "v9.8.0"
    told = {each["folder"]: (each["version"], each["taken_from"], each["exact"]) for each in status["projects"]}
    assert told == {
        projects.new.as_uri(): (MAIN, "uv.lock", True),
        projects.old.as_uri(): (OLDER, ".venv", True),
    }


def test_the_clients_interpreter_decides(start: Start, projects: Projects, tmp_path: Path) -> None:
    client = start(
        projects.workplace, initialize=False, interpreters={projects.new.as_uri(): str(projects.environment)}
    )
    begin(client, projects)
    asked = {"query": QUESTION, "folder": projects.new.as_uri()}
    assert client.result("adk/evidence", asked)["adk"] == {
        "indexed": OLDER,
        "wanted": OLDER,
        "taken_from": "an environment outside the project",
    }
    # One that is gone leaves the question to what lies in the folder.
    assert client.settings is not None
    client.settings["interpreters"] = {projects.new.as_uri(): str(tmp_path / "gone")}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    assert client.result("adk/evidence", asked)["adk"]["taken_from"] == "uv.lock"


def test_the_editor_builds_the_index_of_a_version(start: Start, tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    projects.workplace.ingest()
    client = start(projects.workplace, initialize=False)
    begin(client, projects)
    asked = {"query": QUESTION, "folder": projects.old.as_uri()}
    before = client.result("adk/evidence", asked)
    assert before["adk"] == {"indexed": MAIN, "wanted": OLDER, "taken_from": ".venv"}
    assert any(warning["code"] == "version_not_indexed" for warning in before["warnings"])
    hover = place(projects.document(projects.old), 2, 12)
    told = "the project uses google-adk 9.8.0, which is not indexed"
    targets = client.result("adk/targets", {"query": "RetryPlugin", "folder": projects.old.as_uri()})
    assert any("The project uses google-adk 9.8.0; the index is of " in warning for warning in targets["warnings"])
    assert told in str(client.result("textDocument/hover", hover))
    run = client.result("adk/ingest", {"folder": projects.old.as_uri(), "offline": True})
    assert run["status"] == "complete"
    assert client.result("adk/evidence", asked)["adk"]["indexed"] == OLDER
    assert told not in str(client.result("textDocument/hover", hover))
    # A project that changes its version is noticed without a word of the client.
    shutil.rmtree(projects.environment)
    (projects.old / "requirements.txt").write_text("google-adk==9.9.0\n")
    assert client.result("adk/evidence", asked)["adk"] == {
        "indexed": MAIN,
        "wanted": MAIN,
        "taken_from": "requirements.txt",
    }
    (projects.old / "requirements.txt").unlink()
    refused = client.request("adk/ingest", {"folder": projects.old.as_uri()})
    assert "No google-adk is found" in refused["error"]["message"]


def test_the_index_of_a_version_counts_where_there_is_no_other(start: Start, tmp_path: Path) -> None:
    projects = Projects(tmp_path)
    projects.ingest_older()
    client = start(projects.workplace, initialize=False)
    begin(client, projects)
    for asked in ({}, {"folder": projects.old.as_uri()}, {"folder": projects.new.as_uri()}):
        index = client.result("adk/status", asked)["index"]
        assert index is not None and index["corpora"]["adk_python"]["ref"] == "v9.8.0"
    # A window without the ADK.
    elsewhere = start(projects.workplace)
    status = elsewhere.result("adk/status", {})
    assert status["index"] == index and not [one for one in status["findings"] if one["state"] == "broken"]
    assert "attempts: int = 7" in str(elsewhere.result("adk/evidence", {"query": QUESTION})["candidates"])
