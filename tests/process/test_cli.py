"""`adk-evidence` as a person or a script meets it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from adk_evidence.embedding.minilm import model as minilm
from adk_evidence.files import copy_tree
from adk_evidence.models.pack import EvidencePack
from adk_evidence.services.chat import KEY_VARIABLES
from adk_evidence.text.tokens import estimate_tokens
from adk_evidence_cli.main import app
from adk_evidence_eval import ablation
from tests.corpora import HashEmbedder, Workplace, write_files
from tests.environments import write_environment
from tests.process.conftest import Cli, call, sentence
from tests.released import released
from tests.standins.llm import KEY, MODEL, LlmStandIn

QUESTION = "how do I retry when a tool throws?"
# What a command line that only helps must not wait for.
HEAVY = ("qdrant_edge", "qdrant_client", "grpc", "fastembed", "onnxruntime", "onnx", "numpy", "tokenizers")
HEAVY += ("pydantic_settings", "pydantic")

# Runs the command line in a process without a model.
WITHOUT_MODEL = """
from adk_evidence.search import session as door
from adk_evidence_cli.main import run
from tests.corpora import HashEmbedder
door.make_dense = lambda settings: HashEmbedder()
run()
"""


@pytest.fixture
def cli() -> Cli:
    return partial(call, app)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own, without a model."""
    command = [sys.executable, "-c", WITHOUT_MODEL, *arguments]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment})


# Other versions


@pytest.fixture
def known(indexed: Workplace) -> Iterator[None]:
    """A table of released versions that knows the indexed version."""
    both = {
        "google.adk": {"": "m"},
        "google.adk.plugins": {"": "m", "RetryPlugin": "c:"},
        "google.adk.agents": {"": "m"},
    }
    gone = {"google.adk.plugins": {"": "m", "RetryPlugin": "c:", "WaitPlugin": "c:"}}
    with released(indexed.home, {"9.8.0": {**both, **gone}, "9.9.0": both}):
        yield


LACKING = "google-adk 9.9.0 has no `google.adk.plugins.WaitPlugin`: the last version that has it is 9.8.0."


@pytest.mark.usefixtures("known")
def test_the_drift_of_docs_is_reported_for_people_and_for_tools(cli, indexed, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Wait\n\n```python\nfrom google.adk.plugins import RetryPlugin, WaitPlugin\n```\n")
    where = (page, "--home", indexed.home)
    told = cli("drift", *where)
    assert told.exit_code == 0
    assert told.stdout.splitlines()[:2] == ["page.md", f"     4  {LACKING}"]
    assert "2 imports from google.adk in 1 file: 1 (50.0%) do not exist in google-adk 9.9.0." in told.stdout
    assert [cli("drift", *where, "--fail", *more).exit_code for more in ((), ("--adk", "9.8.0"))] == [1, 0]
    found = json.loads(cli("drift", *where, "--format", "json").stdout)
    assert (found["imports"], found["missing"], found["share"]) == (2, 1, 0.5)
    assert [(one["path"], one["lines"]["start"], one["until"]) for one in found["findings"]] == [
        ("page.md", 4, "9.8.0")
    ]
    (result,) = json.loads(cli("drift", *where, "--format", "sarif").stdout)["runs"][0]["results"]
    assert (result["ruleId"], result["level"], result["message"]["text"]) == ("drift-import", "warning", LACKING)
    assert cli("drift", *where, "--format", "github").stdout.startswith("::warning file=")


@pytest.mark.usefixtures("known")
def test_code_is_linted_for_people_and_for_tools(cli, indexed, tmp_path):
    code = tmp_path / "agent.py"
    code.write_text("import os\nfrom google.adk.plugins import WaitPlugin\n")
    where = (tmp_path, code, "--adk", "9.9.0", "--home", indexed.home)
    told = cli("lint", *where)
    assert told.exit_code == 1
    assert told.stdout.splitlines() == [
        f"{code}:2: {LACKING} [unknown-import]",
        "1 problem; 0 names of google-adk in 1 file fit 9.9.0.",
    ]
    assert cli("lint", code, "--adk", "9.8.0", "--home", indexed.home).exit_code == 0
    found = json.loads(cli("lint", *where, "--format", "json").stdout)
    assert (found["version"], found["files"], found["confirmed"]) == ("9.9.0", 1, [])
    assert [(one["path"], one["line"], one["code"]) for one in found["problems"]] == [(str(code), 2, "unknown-import")]
    (result,) = json.loads(cli("lint", *where, "--format", "sarif").stdout)["runs"][0]["results"]
    assert (result["ruleId"], result["level"], result["message"]["text"]) == ("unknown-import", "error", LACKING)
    assert cli("lint", *where, "--format", "github").stdout.startswith("::error file=")
    code.write_text("from google.adk.plugins import WaitPlugin  # adk: ignore[unknown-import]\n")
    assert cli("lint", *where).exit_code == 0
    # What is named is read as Python, and what cannot be read is told.
    script, binary = tmp_path / "script", tmp_path / "binary.py"
    script.write_text("from google.adk.plugins import WaitPlugin\n")
    binary.write_bytes(b"\xff\xfe\x00")
    told = cli("lint", script, binary, "--adk", "9.9.0", "--home", indexed.home).stdout
    assert f"{script}:1: {LACKING}" in told and f"{binary}:1: The file cannot be read as Python." in told
    (tmp_path / "empty").mkdir()
    sentence(cli("lint", tmp_path / "empty", "--adk", "9.9.0", "--home", indexed.home), 3, "no Python file")


def test_lint_checks_and_mends_what_the_environment_has_beside_google_adk(cli, tmp_path):
    packages = write_environment(tmp_path / "env", "2.13.0") / "lib/python3.12/site-packages"
    write_files(packages / "mcp-2.3.0.dist-info", {"METADATA": "Version: 2.3.0\n"})
    write_files(packages / "mcp", {"__init__.py": "class Session:\n    def __init__(self, *, time_out=3): ...\n"})
    file = tmp_path / "agent.py"
    file.write_text("from mcp import Session\n\nSession(timeOut=3)\n")
    where = (file, "--python", tmp_path / "env", "--home", tmp_path / "home")
    problem = "mcp 2.3.0 has no `Session(timeOut=)`. The nearest keyword is `time_out`."
    assert cli("lint", *where).stdout.splitlines() == [
        f"{file}:3: {problem} [unknown-keyword]",
        "1 problem; 0 names of google-adk and 1 name of other packages in 1 file fit 2.13.0 and what is installed.",
        "Can be mended: 1 by --fix.",
    ]
    mended = cli("lint", *where, "--fix")
    assert mended.exit_code == 0
    assert mended.stdout.startswith(f"{file}:3: Change to time_out. {problem} [unknown-keyword]\n0 problems; ")


MENDABLE = (
    "from google.adk.sessions import InMemorySessionService\n\n\n"
    "async def main(service: InMemorySessionService):\n"
    "    service.create_session(app_name='a', user_id='u')\n"
    "    await service.get_session(appName='a', user_id='u', session_id='s')\n"
    "    await service.delete_session(app='a', user_id='u', session_id='s')\n"
)


def test_lint_mends_what_is_certain_and_says_why(cli, indexed, tmp_path):
    file, fine = tmp_path / "agent.py", tmp_path / "fine.py"
    file.write_text(MENDABLE)
    fine.write_text("import os\n")
    where = (tmp_path, "--adk", "2.13.0", "--home", indexed.home)
    assert cli("lint", *where).stdout.endswith("Can be mended: 2 by --fix, 3 by --fix --unsafe.\n")
    # Showing writes nothing, and `patch` takes what is shown.
    shown = cli("lint", *where, "--diff")
    assert (shown.exit_code, file.read_text()) == (1, MENDABLE)
    assert "Would mend 2 problems in 1 file." in shown.stderr
    subprocess.run(["patch", "-p0", "--dry-run", "-d", "/"], input=shown.stdout, text=True, check=True)
    file.chmod(0o640)
    mended = cli("lint", *where, "--fix")
    assert mended.exit_code == 1 and file.stat().st_mode & 0o777 == 0o640
    assert f"{file}:5: Add await. google-adk 2.13.0 has `InMemorySessionService.create_session`" in mended.stdout
    assert "This is so since 1.0.0. [missing-await]" in mended.stdout and f"{file}:7:" in mended.stdout
    assert mended.stdout.endswith("Can be mended: 1 by --fix --unsafe.\n")
    assert file.read_text() == MENDABLE.replace("    service.c", "    await service.c").replace("appName", "app_name")
    done = cli("lint", *where, "--fix", "--unsafe", "--format", "json")
    assert done.exit_code == 0
    assert [(one["line"], one["code"]) for one in json.loads(done.stdout)["mended"]] == [(7, "unknown-keyword")]
    assert cli("lint", *where, "--diff").exit_code == 0
    sentence(cli("lint", *where, "--diff", "--fix"), 2, "--diff goes with neither")
    sentence(cli("lint", *where, "--unsafe"), 2, "--unsafe needs --fix or --diff")


def test_an_upgrade_is_reported_for_people_and_for_tools_and_mended(cli, tmp_path):
    file = write_files(tmp_path / "app", {"agent.py": MENDABLE, "requirements.txt": "google-adk==0.5.0\n"}) / "agent.py"
    where = (tmp_path / "app", "--to", "2.13.0", "--offline", "--home", tmp_path / "home")
    told = cli("upgrade", *where)
    assert told.exit_code == 1 and told.stdout.startswith("google-adk 0.5.0 (requirements.txt) to 2.13.0\n")
    assert "Breaks with 2.13.0\n  agent.py:5: " in told.stdout
    assert "This is so since 1.0.0. --fix: Add await." in told.stdout
    assert "1 line breaks, 2 lines were wrong before (files: 1). --fix mends 2, --fix --unsafe 3." in told.stdout
    # What is not on this machine is named, and is no error.
    assert "What changes behind names that stay was not looked at" in told.stdout
    assert "The docs were not searched" in told.stdout
    assert cli("upgrade", *where, "--markdown").stdout.startswith("# google-adk 0.5.0 ")
    found = json.loads(cli("upgrade", *where, "--format", "json").stdout)
    assert [one["line"] for one in found["breaks"]] == [5]
    assert {one["line"] for one in found["wrong_before"]} == {6, 7}
    results = json.loads(cli("upgrade", *where, "--format", "sarif").stdout)["runs"][0]["results"]
    assert results[0]["ruleId"] == "missing-await" and "unknown-keyword" in [one["ruleId"] for one in results]
    assert cli("upgrade", *where, "--fix").exit_code == 1
    assert file.read_text() == MENDABLE.replace("    service.c", "    await service.c").replace("appName", "app_name")
    assert cli("upgrade", *where, "--fix", "--unsafe").exit_code == 0
    sentence(cli("upgrade", *where, "--from", "2.13.0"), 2, "2.13.0 is not later than 2.13.0")
    sentence(cli("upgrade", *where, "--unsafe"), 2, "--unsafe needs --fix")
    sentence(cli("upgrade", tmp_path / "none", "--home", tmp_path), 3, "There is no file or folder")
    (tmp_path / "app" / "requirements.txt").unlink()
    sentence(cli("upgrade", *where), 2, "No google-adk is found")


def test_a_fix_cites_the_code_of_the_environment_that_shows_why(cli, indexed, tmp_path):
    plugin = {"": "m", "RetryPlugin": "c:", "RetryPlugin.on_tool_error": "a:error, attempt"}
    known = {"google.adk": {"": "m"}, "google.adk.plugins": {"": "m"}, "google.adk.plugins.retry": plugin}
    with released(indexed.home, {"9.8.0": known}):
        python, code = write_environment(tmp_path / "venv", "9.8.0"), tmp_path / "code.py"
        code.write_text(
            "from google.adk.plugins.retry import RetryPlugin\n"
            "async def f(one: RetryPlugin):\n    one.on_tool_error(1, 2)\n"
        )
        told = cli("lint", code, "--python", python, "--fix", "--home", indexed.home)
    assert "(adk-python@v9.8.0:src/google/adk/plugins/retry.py#L" in told.stdout


@pytest.mark.usefixtures("known")
def test_a_folder_is_checked_against_the_version_of_a_project(cli, indexed, tmp_path, monkeypatch):
    docs, project = write_files(tmp_path / "docs", {"page.py": "from google.adk.plugins import WaitPlugin\n"}), tmp_path
    (project / "uv.lock").write_text('[[package]]\nname = "google-adk"\nversion = "9.8.0"\n')

    def report(*more: object) -> tuple[str, int]:
        found = json.loads(cli("drift", *more, "--format", "json", "--home", indexed.home).stdout)
        return found["version"], found["missing"]

    assert report(docs, "--project", project) == ("9.8.0", 0)
    monkeypatch.chdir(project)
    monkeypatch.setenv("ADK_EVIDENCE_PROJECT__DETECT", "true")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(variable, raising=False)
    assert [report(docs), report()[0]] == [("9.8.0", 0), "9.9.0"]
    assert report(docs, "--adk", "9.9.0") == ("9.9.0", 1)
    # A range means the newest version in it.
    (project / "uv.lock").unlink()
    (project / "requirements.txt").write_text("google-adk>=9\n")
    assert report(docs) == ("9.9.0", 1)
    assert "fit 9.9.0" in cli("lint", docs, "--home", indexed.home).stdout


@pytest.mark.usefixtures("known")
def test_the_docs_of_the_index_are_checked_against_the_indexed_version(cli, indexed, tmp_path):
    workplace = Workplace(tmp_path)
    page = "# Wait\n\n```python\nfrom google.adk.plugins import WaitPlugin\n```\n"
    write_files(workplace.docs, {"docs/wait.md": page})
    workplace.ingest()
    found = json.loads(cli("drift", "--format", "json", "--home", workplace.home).stdout)
    assert found["version"] == "9.9.0" and found["files"] > 1
    assert [(one["path"], one["lines"]["start"], one["text"]) for one in found["findings"]] == [
        ("docs/wait.md", 4, LACKING)
    ]


def test_drift_needs_a_version_that_is_known_and_a_folder_that_is_there(cli, indexed, tmp_path):
    sentence(cli("drift", "--home", indexed.home), 2, "does not know v9.9.0")
    sentence(cli("drift", tmp_path, "--home", tmp_path / "empty"), 2, "which version")
    sentence(
        cli("drift", tmp_path / "none", "--adk", "1.18.0", "--home", indexed.home), 3, "There is no file or folder"
    )
    sentence(cli("drift", tmp_path, "--index", "adk", "--home", indexed.home), 2, "exclude each other")


# Asking


def test_an_answer_on_the_terminal(cli, indexed):
    result = cli("ask", QUESTION, "--home", indexed.home)
    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout.startswith(f"{QUESTION}\nFound ")
    assert "docs/tools/retry.md" in result.stdout and "verified" in result.stdout
    assert "\x1b" not in result.stdout
    full = cli("ask", QUESTION, "--full", "--home", indexed.home).stdout
    assert len(full) > len(result.stdout) and "--full" in result.stdout and "--full" not in full


def test_the_wordings_of_a_language_model_are_told_beside_the_answer(cli, indexed, monkeypatch):
    with LlmStandIn(words=lambda question: ["RetryPlugin", "retries of a tool"]) as service:
        monkeypatch.setenv(KEY_VARIABLES[0], KEY)
        for name, value in (("PROVIDER", "llm"), ("LLM__BASE_URL", service.base_url), ("LLM__MODEL", MODEL)):
            monkeypatch.setenv(f"ADK_EVIDENCE_RERANK__{name}", value)
        result = cli("ask", QUESTION, "--json", "--home", indexed.home)
        monkeypatch.setenv("ADK_EVIDENCE_RERANK__LLM__WORDINGS", "false")
        without = cli("ask", QUESTION, "--json", "--home", indexed.home)
    assert result.stderr == "Also searched for: RetryPlugin; retries of a tool\n"
    assert EvidencePack.model_validate_json(result.stdout).warnings == ()
    assert without.stderr == "" and len(service.requests) == 3


def test_json_is_exactly_the_pack(cli, indexed):
    result = cli("ask", QUESTION, "--json", "--home", indexed.home)
    pack = EvidencePack.model_validate_json(result.stdout)
    assert pack.with_id() == pack
    assert result.stdout == pack.model_dump_json(indent=2) + "\n"


def test_a_selection_and_symbols_show_definitions_first(cli, indexed, tmp_path):
    own = tmp_path / "own code.py"
    own.write_text("from google.adk.plugins import RetryPlugin\n\nplugin = RetryPlugin(max_retries=2)\n")
    whole = cli("ask", "--selection", f"{own}:3", "--json", "--home", indexed.home)
    pack = EvidencePack.model_validate_json(whole.stdout)
    assert pack.query == "plugin = RetryPlugin(max_retries=2) (using RetryPlugin, RetryPlugin.__init__)"
    assert (pack.candidates[0].symbol, pack.warnings) == ("RetryPlugin", ())
    options = ("--selection", own, "--symbol", "google.adk.Runner", "--json")
    both = EvidencePack.model_validate_json(cli("ask", QUESTION, *options, "--home", indexed.home).stdout)
    assert both.query == QUESTION
    assert [candidate.symbol for candidate in both.candidates[:2]] == ["Runner", "RetryPlugin"]


def test_a_selection_must_be_there(cli, indexed, tmp_path):
    own = tmp_path / "own.py"
    own.write_text("x = 1\n\n")
    for value, problem in (
        (f"{own}:9", "--selection names no lines"),
        (f"{own}:2-1", "--selection names no lines"),
        (f"{own}:2", "There is no text at this place"),
        (f"{own}.txt:1", "The file of --selection cannot be read"),
    ):
        sentence(cli("ask", "--selection", value, "--home", indexed.home), 2, problem)
    sentence(cli("ask", "--home", indexed.home), 2, "There is no question")


def test_markdown_and_prompt(cli, indexed):
    markdown = cli("ask", QUESTION, "--markdown", "--home", indexed.home)
    assert markdown.stdout.startswith("# Evidence: how do I retry when a tool throws?\n")
    prompt = cli("ask", QUESTION, "--prompt", "--max-tokens", 600, "--home", indexed.home)
    assert "[CTX 1]" in prompt.stdout and estimate_tokens(prompt.stdout) <= 600
    assert "results in about" in prompt.stderr
    assert prompt.stdout.endswith(f"\nQUESTION: {QUESTION}\n")
    answered = cli("ask", QUESTION, "--prompt", "--no-question", "--home", indexed.home)
    assert "[CTX 1]" in answered.stdout and "QUESTION" not in answered.stdout
    least = cli("ask", "x", "--prompt", "--max-tokens", 5, "--home", indexed.home)
    assert least.exit_code == 0 and "[CTX" not in least.stdout and "no room for evidence" in least.stderr


def test_options_become_the_request(cli, indexed):
    narrow = ["--path", "src/**", "--path", "docs/**", "--exclude", "**/runners.py", "--language", "python"]
    more = ["--mode", "debug", "-k", "5", "--time-budget-ms", "60000", "--strict"]
    result = cli("ask", QUESTION, *narrow, *more, "--json", "--home", indexed.home)
    assert result.exit_code == 0, result.stderr
    pack = json.loads(result.stdout)
    assert pack["task_mode"] == "debug" and 1 <= len(pack["candidates"]) <= 5
    (event,) = [json.loads(line) for line in indexed.settings.paths.event_log.read_text().splitlines()][-1:]
    assert event["qdrant_request_params"]["filters"] == {
        "path_allowlist": ["src/**", "docs/**"],
        "path_blocklist": ["**/runners.py"],
        "languages": ["python"],
    }


def test_a_question_on_standard_input(cli, indexed):
    result = cli("ask", "-", "--json", "--home", indexed.home, stdin="Traceback:\n  ValueError: tool \xe4".encode())
    assert json.loads(result.stdout)["query"] == "Traceback:\n  ValueError: tool ä"
    wide = cli("ask", "-", "--json", "--home", indexed.home, stdin="tool ä".encode("utf-16"))
    assert json.loads(wide.stdout)["query"] == "tool ä"
    broken = cli("ask", "-", "--json", "--home", indexed.home, stdin=b"tool \xff")
    assert json.loads(broken.stdout)["query"] == "tool \ufffd"
    sentence(cli("ask", "-", "--home", indexed.home, stdin=" \n"), 2, "it is empty")


def test_warnings_of_piped_output_go_to_stderr(cli, indexed):
    result = cli("ask", f"{QUESTION} in ADK 1.0", "--json", "--home", indexed.home)
    json.loads(result.stdout)
    assert "warning: version_not_indexed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("x", "--json", "--markdown"), "--json and --markdown exclude each other"),
        (("x", "--max-tokens", "100"), "--max-tokens goes with --prompt"),
        (("x", "--no-question", "--json"), "--no-question goes with --prompt"),
        (("x" * 9000,), "it has more than 8000 characters and no traceback"),
        (("x", "--language", "\udcff"), "not valid Unicode"),
        (("x", "--profile", "nope"), "no profile 'nope'"),
    ],
)
def test_wrong_usage_is_one_sentence(cli, indexed, arguments, problem):
    sentence(cli("ask", *arguments, "--home", indexed.home), 2, problem)


@pytest.mark.parametrize("arguments", [("ask", "x", "--source", "web"), ("nope",)])
def test_what_the_parser_refuses_ends_with_two(cli, arguments):
    result = cli(*arguments)
    assert result.exit_code == 2 and "Traceback" not in result.output


# Things that are missing or broken


def test_without_an_index_the_next_command_is_named(cli, tmp_path):
    sentence(cli("ask", "x", "--home", tmp_path / "none"), 5, "no index", "adk-ingest all")
    assert not (tmp_path / "none").exists(), "asking leaves nothing behind"


def test_a_broken_settings_file_is_one_sentence(cli, monkeypatch, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("retrieval: {rrf_k: x}")
    monkeypatch.setenv("ADK_EVIDENCE_SETTINGS", str(path))
    for command in (("ask", "x"), ("doctor",)):
        sentence(cli(*command), 2, "retrieval.rrf_k")


def test_a_log_that_cannot_be_written_does_not_fail_the_answer(cli, indexed, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "index").symlink_to(indexed.home / "index", target_is_directory=True)
    (home / "logs").write_text("")
    result = cli("ask", QUESTION, "--home", home)
    assert result.exit_code == 0 and "verified" in result.stdout


@pytest.mark.parametrize("lost", ["manifest.json", "adk_docs", "adk_code/edge_config.json"])
def test_a_damaged_index_is_no_traceback(cli, indexed, tmp_path, lost):
    home = tmp_path / "home"
    copy_tree(indexed.home, home)
    path = next(home.glob(f"index/generations/*/{lost}"))
    shutil.rmtree(path) if path.is_dir() else path.write_bytes(b"\x00broken")
    asked = cli("ask", QUESTION, "--home", home)
    assert isinstance(asked.exception, SystemExit | None) and asked.exit_code in (0, 5)
    if asked.exit_code == 0:
        assert "warning: collection_unavailable" in asked.stdout
    examined = cli("doctor", "--home", home)
    assert examined.exit_code == 1 and "adk-ingest all" in examined.stdout


# Doctor


def findings(result: Result) -> dict[str, dict[str, str]]:
    return {finding["what"]: finding for finding in json.loads(result.stdout)}


def test_doctor_on_an_empty_home_says_how_to_mend_it(cli, tmp_path):
    result = cli("doctor", "--home", tmp_path)
    assert result.exit_code == 1
    assert "BROKEN  index: Nothing is indexed." in result.stdout
    assert f"Run `adk-ingest all --home {tmp_path}`." in result.stdout
    assert list(tmp_path.iterdir()) == [], "looking changes nothing"


def test_doctor_on_a_good_home(cli, indexed, monkeypatch):
    monkeypatch.setattr("adk_ingest.commands.doctor.is_prepared", lambda models, precision: True)
    monkeypatch.setattr("adk_ingest.commands.doctor.make_target_embedder", lambda settings: HashEmbedder())
    result = cli("doctor", "--json", "--home", indexed.home)
    assert result.exit_code == 0, result.stdout
    found = findings(result)
    assert {finding["state"] for finding in found.values()} == {"ok"}
    assert {"adk-evidence", "packages", "settings", "home", "model for search by meaning", "index", "models"} <= set(
        found
    )
    assert {"adk_docs", "adk_python", "api-reference"} <= set(found)


@pytest.mark.parametrize(("precision", "state"), [("int8", "note"), ("static", "note"), ("fp32", "ok")])
def test_doctor_calls_a_model_prepared_only_in_the_precision_of_the_settings(
    cli, tmp_path, monkeypatch, precision, state
):
    folder = minilm.prepared_folder(tmp_path / "models")
    folder.mkdir(parents=True)
    (folder / minilm._GRAPHS["fp32"]).touch()
    with (folder / "model.safetensors").open("wb") as weights:
        weights.truncate(minilm._WEIGHTS_BYTES)
    monkeypatch.setenv("ADK_EVIDENCE_EMBEDDING__DENSE__PRECISION", precision)
    found = findings(cli("doctor", "--json", "--home", tmp_path))["model for search by meaning"]
    assert found["state"] == state and precision in found["found"]


def test_doctor_says_which_language_model_reranks_and_shows_no_key(cli, indexed, monkeypatch):
    monkeypatch.setenv("ADK_EVIDENCE_RERANK__PROVIDER", "llm")
    for name in ("ADK_EVIDENCE_LLM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = findings(cli("doctor", "--json", "--home", indexed.home))["reranker"]
    assert found["state"] == "note" and "https://api.openai.com/v1" in found["found"]
    assert "ADK_EVIDENCE_LLM_API_KEY" in found["mend"]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-test")
    result = cli("doctor", "--json", "--home", indexed.home)
    assert findings(result)["reranker"]["state"] == "ok" and "sk-secret" not in result.output


def test_doctor_names_settings_that_the_index_does_not_match(cli, indexed, monkeypatch):
    monkeypatch.setenv("ADK_EVIDENCE_EMBEDDING__DENSE__MAX_TOKENS", "64")
    found = cli("doctor", "--json", "--home", indexed.home)
    assert found.exit_code == 1
    assert findings(found)["models"]["state"] == "broken"
    assert "max_tokens=64" in findings(found)["models"]["found"]
    sentence(cli("ask", "x", "--home", indexed.home), 5, "max_tokens=64", "adk-ingest all")


def test_doctor_notes_what_is_gone_and_what_stands_in(cli, workplace):
    workplace.ingest("code")
    shutil.rmtree(workplace.code)
    found = findings(cli("doctor", "--json", "--home", workplace.home))
    assert found["adk_python source"]["state"] == "note" and "is gone" in found["adk_python source"]["found"]
    assert found["adk_docs"]["state"] == "note" and "ADK_EVIDENCE_DOCS" in found["adk_docs"]["mend"]


# Evaluation


EXPECTED = {"corpus": "adk_docs", "path": "docs/tools/retry.md", "start_line": 5, "end_line": 14, "grade": 2}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A golden set of one question with an answer and one without."""
    path = tmp_path / "small.jsonl"
    rows = [
        {"id": "a", "query": "reflect and retry", "category": "tools", "expected": [EXPECTED]},
        {"id": "b", "query": "bake bread", "answerable": False, "expected": []},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_run_is_written_scored_and_compared(cli, indexed, golden, tmp_path):
    out = tmp_path / "run.jsonl"
    ran = cli("eval", "run", "--queries", golden, "--out", out, "--top-k", 5, "--home", indexed.home)
    assert ran.exit_code == 0 and "2 questions answered" in ran.stderr.replace("\n", " ")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(set(row) == {"id", "results"} and len(row["results"]) == 5 for row in rows)
    table = cli("eval", "score", "--golden", golden, "--run", out)
    assert "ndcg@12" in table.stdout and "1 of 1 questions answered" in table.stdout
    scores = json.loads(cli("eval", "score", "--golden", golden, "--run", out, "--json").stdout)
    assert scores["scores"]["recall@5"] == 1.0 and scores["categories"]["tools"]["recall@5"] == 1.0
    compared = json.loads(cli("eval", "compare", "--first", out, "--second", out, "--golden", golden, "--json").stdout)
    assert {row["metric"]: row["difference"]["mean"] for row in compared["metrics"]}["ndcg@12"] == 0
    assert "difference" in cli("eval", "compare", "--first", out, "--second", out, "--golden", golden).stdout


def test_the_ablation_is_a_table_for_each_set(cli, indexed, golden, monkeypatch, tmp_path):
    monkeypatch.setattr("adk_evidence_eval.ablation.VARIANTS", ablation.VARIANTS[:2])
    other = tmp_path / "other.jsonl"
    shutil.copyfile(golden, other)
    shown = cli("eval", "ablation", "--golden", golden, "--golden", other, "--home", indexed.home)
    assert shown.exit_code == 0 and "other: 2 of 2 questions, 2 variants" in shown.stderr
    assert "difference to BM25" in shown.stdout and max(map(len, shown.stdout.splitlines())) < 240
    only = ("--only", "dense", "--json", "--home", indexed.home)
    found = json.loads(cli("eval", "ablation", "--golden", other, *only).stdout)
    assert [row["variant"] for row in found["other"]] == ["dense"]
    sentence(cli("eval", "ablation", "--golden", golden, "--only", "nothing"), 2, "No variant")
    sentence(cli("eval", "ablation", "--golden", golden, "--golden", golden), 2, "given twice")


def test_a_golden_set_is_checked_and_written_anew(cli, indexed, golden, tmp_path):
    renewed = tmp_path / "renewed.jsonl"
    shown = cli("eval", "check", "--golden", golden, "--write", renewed, "--home", indexed.home)
    assert shown.exit_code == 0 and "1 of 1 spans stand where the set says" in shown.stdout
    assert json.loads(renewed.read_text().splitlines()[0])["expected"][0]["sha256"]
    gone = tmp_path / "gone.jsonl"
    gone.write_text(json.dumps({"id": "a", "query": "x", "expected": [{**EXPECTED, "path": "docs/none.md"}]}) + "\n")
    shown = cli("eval", "check", "--golden", gone, "--home", indexed.home)
    assert shown.exit_code == 1 and "docs/none.md:5-14" in shown.stdout


# The process


@pytest.mark.parametrize("command", [[], ["eval"]])
def test_help_loads_nothing_heavy(command):
    # Recent versions of typer itself load pydantic for the options of a group's commands.
    heavy = [name for name in HEAVY if not command or name != "pydantic"]
    script = (
        f"import sys\nsys.argv = ['adk-evidence', *{command!r}, '--help']\nfrom adk_evidence_cli.main import run\n"
        f"try:\n    run()\nfinally:\n    print('LOADED', [name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and "Commands:" in done.stdout
    assert "LOADED []" in done.stdout


def test_output_into_a_pipe_is_utf8_whatever_the_locale_says(indexed):
    home = str(indexed.home)
    piped = run("ask", "retry ä tool", "--json", "--home", home, PYTHONIOENCODING="ascii")
    assert json.loads(piped.stdout.decode("utf-8"))["query"] == "retry ä tool"
    shown = run("ask", QUESTION, "--home", home, PYTHONIOENCODING="ascii")
    assert shown.returncode == 0 and "›" in shown.stdout.decode("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="pipes of the POSIX kind")
@pytest.mark.parametrize("form", [["--json"], []])
def test_a_reader_that_stops_reading_is_no_error(indexed, form):
    command = [sys.executable, "-c", WITHOUT_MODEL, "ask", QUESTION, *form, "--home", str(indexed.home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_without_a_model_the_answer_is_by_keywords(cli, indexed, monkeypatch):
    from adk_evidence.errors import ModelError

    def refuse(*_: Any, **__: Any) -> Path:
        raise ModelError("The weights cannot be had.", "Name a folder with them.")

    monkeypatch.undo()
    monkeypatch.setattr(minilm, "prepare_minilm", refuse)
    result = cli("ask", QUESTION, "--home", indexed.home)
    assert result.exit_code == 0 and "warning: dense_unavailable: The weights cannot be had." in result.stdout
    sentence(cli("ask", QUESTION, "--strict", "--home", indexed.home), 4, "cannot be had", "Name a folder")
