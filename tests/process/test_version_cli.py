"""Versions of the ADK as a person meets them: indexed, asked for, found in a project, listed and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import Result

from adk_evidence.index.codebase import MAIN
from adk_evidence.models.pack import EvidencePack
from adk_evidence_cli.main import app as evidence_app
from adk_ingest.commands.cli import app as ingest_app
from tests.corpora import CODE_COMMIT, Workplace
from tests.environments import write_environment
from tests.process.conftest import call as run

pytestmark = pytest.mark.slow

QUESTION = "retry a tool that throws"


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test looks at the project around the tests."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("versions")


@pytest.fixture
def project(root: Path) -> Path:
    """A project whose environment has google-adk 8.1.0."""
    folder = root / "project"
    if not folder.exists():
        write_environment(folder / ".venv", "8.1.0")
    return folder


@pytest.fixture
def home(root: Path, project: Path) -> Path:
    """The main index of v9.9.0, and what `--project` has added to it."""
    place = Workplace(root)
    if not place.home.exists():
        place.ingest()
        done = call(ingest_app, place.home, "all", "--project", project, "--offline")
        assert done.exit_code == 0, done.output
        assert "computed" in done.stdout and "% (" in done.stdout
    return place.home


def call(app: object, home: Path, *arguments: object) -> Result:
    return run(app, *arguments, "--home", home)


def pack_of(home: Path, *options: object) -> EvidencePack:
    done = call(evidence_app, home, "ask", QUESTION, "--json", *options)
    assert done.exit_code == 0, done.output
    return EvidencePack.model_validate_json(done.stdout)


def refs(pack: EvidencePack) -> set[str]:
    return {candidate.ref for candidate in pack.candidates if candidate.source_type == "code"}


def test_two_projects_get_evidence_of_their_own_versions(home: Path, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_environment(other / ".venv", "9.9.0")
    assert refs(pack_of(home, "--project", project)) == {"v8.1.0"}
    assert refs(pack_of(home, "--python", project / ".venv")) == {"v8.1.0"}
    assert refs(pack_of(home, "--adk", "8.1")) == {"v8.1.0"}
    assert refs(pack_of(home, "--project", other)) == refs(pack_of(home)) == {CODE_COMMIT}


def test_the_project_in_the_working_folder_counts_where_the_settings_say_so(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert pack_of(home).adk is None
    monkeypatch.setenv("ADK_EVIDENCE_PROJECT__DETECT", "true")
    pack = pack_of(home)
    assert refs(pack) == {"v8.1.0"} and pack.adk is not None and pack.adk.taken_from == ".venv"
    shown = call(evidence_app, home, "ask", QUESTION).stdout
    assert "google-adk 8.1.0, from .venv" in shown
    # What the user names counts more.
    assert refs(pack_of(home, "--adk", "9.9.0")) == {CODE_COMMIT}


def test_a_version_in_the_question_is_shown_as_the_option_is(home: Path) -> None:
    asked = call(evidence_app, home, "ask", f"{QUESTION} in google-adk 8.1.0")
    assert asked.exit_code == 0 and "google-adk 8.1.0, from the question" in asked.stdout
    assert "from the question" not in call(evidence_app, home, "ask", QUESTION).stdout


def test_a_range_in_the_working_folder_decides_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["google-adk>=1,<2"]\n')
    monkeypatch.setenv("ADK_EVIDENCE_PROJECT__DETECT", "true")
    assert pack_of(home).adk is None
    named = pack_of(home, "--project", tmp_path).adk
    assert named is not None and named.wanted.startswith("1.") and named.taken_from.startswith("pyproject.toml: ")


def test_symbols_are_those_of_the_version(home: Path, project: Path) -> None:
    done = call(evidence_app, home, "symbol", "wait_longer", "--project", project)
    assert done.exit_code == 0 and done.stderr == "", done.output
    assert done.stdout.startswith("google-adk 8.1.0, from .venv") and "wait_longer  function" in done.stdout
    other = call(evidence_app, home, "symbol", "back_off", "--adk", "9.8.0")
    assert other.stdout.startswith("google-adk 9.9.0; you asked for google-adk 9.8.0")
    assert "You asked for google-adk 9.8.0; the index is of 9.9.0." in " ".join(other.stderr.split())


def test_commands_about_an_index_take_the_version(home: Path) -> None:
    for command in (("status",), ("verify", "--citations"), ("plan",)):
        done = call(ingest_app, home, *command, "--adk", "8.1.0", "--json")
        assert done.exit_code == 0, (command, done.output)
    status = json.loads(call(ingest_app, home, "status", "--adk", "8.1.0", "--json").stdout)
    assert status["corpora"]["adk_python"]["commit"] == "v8.1.0"
    main = json.loads(call(ingest_app, home, "status", "--adk", "9.9", "--json").stdout)
    assert main["corpora"]["adk_python"]["commit"] == CODE_COMMIT
    missing = call(ingest_app, home, "status", "--adk", "7.0.0")
    assert missing.exit_code != 0 and "adk-ingest all --adk 7.0.0" in missing.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--adk", "latest"), "'latest' is not a version of google-adk."),
        (("--adk", "8.1.0", "--project", "."), "--adk and --project exclude each other. try: Give one of the two."),
        (("--project", "nowhere"), "--project names no folder: nowhere."),
        (("--project", "."), "No google-adk is found in ."),
        (("--python", "nowhere"), "nowhere is neither a Python interpreter nor a virtual environment."),
        (("--adk", "8.1.0", "--index", "x"), "--index and the options that name a version exclude each other."),
    ],
)
def test_options_that_name_no_version_are_refused(home: Path, options: tuple[str, ...], said: str) -> None:
    done = call(evidence_app, home, "ask", QUESTION, *options)
    assert done.exit_code == 2 and said in " ".join(done.stderr.split())


def test_the_index_of_a_version_is_listed_and_removed(home: Path, tmp_path: Path) -> None:
    extra = write_environment(tmp_path / "venv", "8.7.0")
    assert call(ingest_app, home, "all", "--python", extra, "--offline").exit_code == 0
    assert "adk-8.7.0" in call(ingest_app, home, "indexes").stdout
    done = call(ingest_app, home, "delete", "adk-8.7.0", "--yes")
    assert done.exit_code == 0, done.output
    assert "adk-8.7.0" not in call(ingest_app, home, "indexes").stdout


def test_the_only_index_is_told_and_asked_whatever_its_version(project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert call(ingest_app, home, "all", "--project", project, "--offline").exit_code == 0
    status = json.loads(call(ingest_app, home, "status", "--json").stdout)
    assert status["corpora"]["adk_python"]["commit"] == "v8.1.0"
    assert call(ingest_app, home, "verify").exit_code == 0
    assert call(evidence_app, home, "doctor").exit_code == 0
    assert refs(pack_of(home)) == {"v8.1.0"}
    assert call(ingest_app, home, "rollback").exit_code != 0, "it changes no index that nobody has named"


def test_a_pack_is_checked_against_the_version_that_answered(home: Path, project: Path, tmp_path: Path) -> None:
    saved = []
    for asked in ((QUESTION, "--project", project), (QUESTION, "--adk", "9.9.0"), (f"{QUESTION} in ADK 8.1",)):
        done = call(evidence_app, home, "ask", "--json", *asked)
        saved.append(tmp_path / f"{len(saved)}.json")
        saved[-1].write_text(done.stdout)
    assert refs(EvidencePack.model_validate_json(saved[-1].read_text())) == {"v8.1.0"}
    result = call(evidence_app, home, "check", *saved, "--format", "json")
    assert result.exit_code == 0 and result.stderr == ""
    found = [one["state"] for file in json.loads(result.stdout)["packs"] for one in file["citations"]]
    assert set(found) == {"exact"}
    against_main = call(evidence_app, home, "check", saved[0], "--index", MAIN)
    assert against_main.exit_code == 1
