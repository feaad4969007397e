"""`adk-evidence symbol` as a person or a script meets them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from adk_evidence.targets.target import TargetAnswer
from adk_evidence_cli.main import app
from adk_ingest.commands import doctor
from adk_ingest.progress import Progress
from adk_ingest.targets import build
from tests.corpora import HashEmbedder, Workplace, change, write_files
from tests.environments import write_environment
from tests.process.conftest import Cli, call, sentence
from tests.released import released


@pytest.fixture
def home(indexed: Workplace) -> Path:
    return indexed.home


@pytest.fixture
def cli(home: Path) -> Cli:
    return partial(call, app, "symbol", "--home", home)


def test_a_symbol_on_the_terminal(cli: Cli) -> None:
    result = cli("RetryPlugin", "-k", 1)
    assert result.exit_code == 0 and result.stderr == ""
    assert "RetryPlugin  class" in result.stdout
    assert "from google.adk.plugins import RetryPlugin" in result.stdout
    assert "plugins/retry.py#L6-L18" in result.stdout and "\x1b" not in result.stdout


def test_what_is_private_is_shown_with_its_place_and_without_an_import(workplace: Workplace) -> None:
    private = '\n\n\ndef _wait(seconds: float) -> None:\n    """Wait here."""'
    change(workplace.code / "src/google/adk/plugins/retry.py", "MAX_RETRIES = 3", f"MAX_RETRIES = 3{private}")
    workplace.ingest()

    def shown(name: str) -> list[str]:
        result = call(app, "symbol", name, "--home", workplace.home)
        return [line.strip(" \u2502") for line in result.stdout.splitlines()]

    heading, signature, summary, citation = shown("_wait")
    assert heading == "1  _wait  function  private" and summary == "Wait here."
    assert signature == "def _wait(seconds: float) -> None"
    assert "plugins/retry.py#L" in citation
    assert shown("MAX_RETRIES")[0] == "1  MAX_RETRIES  variable  internal"
    assert "from google.adk.plugins.retry import MAX_RETRIES" in shown("MAX_RETRIES")


def test_only_the_first_result_has_a_long_signature(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    parameters = ", ".join(f"parameter_{number}: int = {number}" for number in range(12))
    classes = "".join(
        f'\n\n\nclass Wide{name}:\n    """Widens what is narrow."""\n\n    def __init__(self, {parameters}): ...'
        for name in ("One", "Two")
    )
    change(workplace.code / "src/google/adk/plugins/retry.py", "MAX_RETRIES = 3", f"MAX_RETRIES = 3{classes}")
    workplace.ingest()
    result = call(app, "symbol", "widens narrow", "-k", 2, "--home", workplace.home)
    first, second = (line for line in result.stdout.splitlines() if "(parameter_0" in line)
    assert first.endswith("parameter_11: int = 11)") and second.endswith(", ...)") and len(second) < len(first)


def test_a_name_that_lies_beside_google_adk_is_shown_as_it_is_installed(cli: Cli, tmp_path: Path) -> None:
    environment = write_environment(tmp_path / "env", "9.9.0")
    packages = environment / "lib/python3.12/site-packages"
    write_files(packages / "mcp-2.3.0.dist-info", {"METADATA": "Version: 2.3.0\n"})
    write_files(packages / "mcp", {"__init__.py": 'class Session:\n    """Talks."""\n    timeout: int = 3\n'})
    result = cli("mcp.Session", "--python", environment)
    assert "1  Session  class\n" in result.stdout and "Talks." in result.stdout
    assert "from mcp import Session" in result.stdout and "mcp@2.3.0:mcp/__init__.py#L1-L3" in result.stdout
    assert "No public symbol is called `mcp.Sessions`" in cli("mcp.Sessions", "--python", environment).stdout


def test_a_name_of_another_version_is_told_with_that_version(cli: Cli, home: Path) -> None:
    both = {"google.adk": {"": "m"}, "google.adk.plugins": {"": "m", "RetryPlugin": "c:"}}
    gone = {"google.adk.plugins": {"": "m", "RetryPlugin": "c:", "Zq7": "c:", "RetryPlugins": "c:"}}
    with released(home, {"9.8.0": {**both, **gone}, "9.9.0": both}):
        nothing, near, known = (
            cli(name, "--mode", "lexical").stdout for name in ("Zq7", "RetryPlugins", "RetryPlugin")
        )
    said = "google-adk 9.9.0 has no `{}`: the last version that has it is 9.8.0."
    assert " ".join(nothing.split()) == said.format("Zq7")
    assert " ".join(near.split()).startswith(f"{said.format('RetryPlugins')} The nearest: 1 RetryPlugin class")
    assert "9.8.0" not in known


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("google.adk.handed_on.RetryPlugin", "1 RetryPlugin class"),
        ("google.adk.handed_on.Renamed", "1 RetryPlugin class"),
        ("google.adk.handed_on.retry", "`google.adk.handed_on.retry` is a module, and modules are not listed;"),
        ("google.adk.handed_on.Foreign", "`google.adk.handed_on.Foreign` can be imported, and comes from another"),
        ("google.adk.handed_on.Hidden", "`google.adk.handed_on.Hidden` can be imported, and is not listed;"),
        ("google.adk.handed_on.Nothing", "google-adk 9.9.0 has no `google.adk.handed_on.Nothing`"),
    ],
)
def test_a_path_by_which_a_package_hands_on_what_others_define_leads_there(
    cli: Cli, home: Path, path: str, first: str
) -> None:
    retry = "google.adk.plugins.retry"
    rows = {
        "google.adk": {"": "m"},
        "google.adk.plugins": {"": "m", "RetryPlugin": f"={retry}.RetryPlugin"},
        retry: {"": "m", "RetryPlugin": "c:", "Unlisted": "c:"},
        "google.adk.handed_on": {
            "": "m",
            "RetryPlugin": f"={retry}.RetryPlugin",
            "Renamed": f"={retry}.RetryPlugin",
            "retry": f"={retry}",
            "Foreign": "~",
            "Hidden": f"={retry}.Unlisted",
        },
    }
    with released(home, {"9.9.0": rows}):
        shown = " ".join(cli(path, "--mode", "lexical").stdout.split())
    assert shown.startswith(first)


def test_json_is_exactly_the_answer(cli: Cli) -> None:
    result = cli("how to retry a tool", "--json", "--mode", "hybrid")
    answer = TargetAnswer.model_validate_json(result.stdout)
    assert answer.mode == "hybrid" and result.stdout == answer.model_dump_json(indent=2) + "\n"


def test_a_query_may_come_from_stdin_and_find_nothing(cli: Cli) -> None:
    assert "back_off" in cli("-", "-k", 1, stdin="back_off\n").stdout
    result = cli("zzzzqqqq", "--mode", "lexical")
    assert result.exit_code == 0 and "No ADK symbol matches" in result.stdout


def test_what_the_environment_lacks_is_marked(cli: Cli, tmp_path: Path) -> None:
    result = cli("RetryPlugin", "-k", 1, "--python", write_environment(tmp_path / "venv", "1.0.0"))
    assert "not in your google-adk 1.0.0" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [("",), ("  ",), ("x" * 1001,), ("Runner", "--python", "/nowhere/at/all"), ("Runner", "--profile", "no")],
)
def test_bad_input_gets_a_sentence(cli: Cli, arguments: tuple[str, ...]) -> None:
    sentence(cli(*arguments), 2)


def test_without_targets_there_is_a_sentence(tmp_path: Path) -> None:
    sentence(call(app, "symbol", "Runner", "--home", Workplace(tmp_path).home), 5, "adk-ingest all")


def test_doctor_says_what_is_there_of_the_targets(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "make_target_embedder", lambda settings: HashEmbedder())
    workplace.ingest()
    (folder,) = workplace.settings.paths.targets.iterdir()
    (folder / "targets_vectors.npy").unlink()

    def found() -> dict[str, str]:
        (finding,) = [one for one in doctor.examine(workplace.settings) if one.what == "list of symbols"]
        return {"state": finding.state, "found": finding.found, "mend": finding.mend}

    assert (
        found()["state"] == "note"
        and "by names and words alone" in found()["found"]
        and "adk-ingest all" in found()["mend"]
    )
    build.build_targets(workplace.settings, Progress(), dense=HashEmbedder())
    assert found()["state"] == "ok"
    # Symbols are those of the code, whatever the docs say by now.
    change(workplace.docs / "docs/tools/retry.md", "Waiting longer", "Waiting much longer")
    workplace.ingest()
    assert found()["state"] == "ok"
