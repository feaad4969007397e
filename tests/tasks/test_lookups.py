"""What an agent is shown is what is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpora import Workplace
from tests.released import released
from tests.tasks.__main__ import main
from tests.tasks.lookups import MAX_CHARACTERS

TASK = "refund_approval"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that links to the corpora, as a folder for agents may."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "page.md").write_text("# Tools\nA tool is a function.\nTools have names.\n", encoding="utf-8")
    (corpus / "long.md").write_text("x" * (MAX_CHARACTERS + 500), encoding="utf-8")
    (tmp_path / "secret.md").write_text("nothing for agents", encoding="utf-8")
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "docs").symlink_to(corpus)
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "agent-1.jsonl"


def files(root: Path, log: Path, *command: str, options: tuple[str, ...] = ()) -> int:
    return main(["lookup-files", "--log", str(log), "--task", TASK, "--root", str(root), *options, *command])


def counted(log: Path) -> list[int]:
    return [json.loads(line)["characters"] for line in log.read_text(encoding="utf-8").splitlines()]


def test_all_that_a_command_prints_is_counted(root: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert files(root, log, "grep", "-rn", "tool", "docs/") == 0
    assert capsys.readouterr().out == "docs/page.md:2:A tool is a function.\n"
    assert files(root, log, "sed", "-n", "1,2p", "docs/page.md") == 0
    assert capsys.readouterr().out == "# Tools\nA tool is a function.\n"
    # An error is read, too.
    assert files(root, log, "cat", "docs/none.md") == 1
    complaint = capsys.readouterr().out
    assert "none.md" in complaint
    assert counted(log) == [
        len("docs/page.md:2:A tool is a function.\n"),
        len("# Tools\nA tool is a function.\n"),
        len(complaint),
    ]


def test_what_is_cut_is_not_counted(root: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert files(root, log, "cat", "docs/page.md", options=("--lines", "1")) == 0
    assert capsys.readouterr().out == "# Tools\n"
    assert files(root, log, "cat", "docs/long.md") == 0
    shown = capsys.readouterr().out
    assert "500 more characters" in shown and len(shown) < MAX_CHARACTERS + 100
    assert counted(log) == [len("# Tools\n"), len(shown)]


@pytest.mark.parametrize(
    "command", [["cat", "../secret.md"], ["grep", "-rn", "agents", ".."], ["python", "-c", "1"], []]
)
def test_agents_read_files_of_the_folder_and_nothing_else(
    root: Path, log: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert files(root, log, *command) == 2
    shown = capsys.readouterr().out
    assert "nothing for agents" not in shown and counted(log) == [len(shown)]


@pytest.mark.parametrize(
    "command",
    [
        ["sed", "-i", "s/tool/pool/", "docs/page.md"],
        ["sed", "-ni.bak", "1p", "docs/page.md"],
        ["sed", "--in-place", "s/tool/pool/", "docs/page.md"],
        ["find", "docs/", "-name", "*.md", "-delete"],
        ["find", "docs/", "-exec", "rm", "{}", ";"],
        ["find", "docs/", "-fprint", "docs/list.md"],
    ],
)
def test_agents_write_nothing(root: Path, log: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    before = {path: path.read_text(encoding="utf-8") for path in (root / "docs").iterdir()}
    assert files(root, log, *command) == 2
    shown = capsys.readouterr().out
    assert "only read" in shown and counted(log) == [len(shown)]
    assert {path: path.read_text(encoding="utf-8") for path in (root / "docs").iterdir()} == before


@pytest.mark.slow
def test_evidence_is_counted_as_it_is_printed(
    workplace: Workplace, log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace.ingest()
    monkeypatch.setenv("ADK_EVIDENCE_HOME", str(workplace.home))
    agent = {"google.adk": {"": "m"}, "google.adk.agents": {"": "m", "LlmAgent": "c: ~pydantic.BaseModel"}}
    agent["google.adk.agents"]["LlmAgent.name"] = "r:"
    solution = log.parent.parent / "solution.py"
    solution.write_text("from google.adk.agents import LlmAgent\nagent = LlmAgent(name='a')\n", encoding="utf-8")

    def ask(*command: str) -> tuple[int, str]:
        code = main(["lookup-evidence", "--log", str(log), "--task", TASK, *command])
        return code, capsys.readouterr().out

    shown = [
        ask("read", "adk-python@v9.9.0:src/google/adk/runners.py#L6-L8"),
        # This index has no targets: the error is what the agent sees.
        ask("symbol", "Runner"),
        ask("read", "not-a-citation"),
        ask("read"),
        ask("eval"),
        ask("ask", "How is a run started?", "--source", "code", "--path", "*runners.py"),
        ask("ask", "How is a run started?", "--source", "nowhere"),
    ]
    with released(workplace.home, {"9.9.0": agent}):
        shown.append(ask("check", str(solution)))
    assert [code for code, _ in shown] == [0, 1, 1, 2, 2, 0, 2, 0]
    assert "Checked: LlmAgent(name)" in shown[7][1]
    assert "class Runner" in shown[0][1] and "list of symbols" in shown[1][1]
    assert "[CTX 1] adk-python@" in shown[5][1] and "adk-docs@" not in shown[5][1]
    assert counted(log) == [len(text) for _, text in shown]


def test_arms_are_compared_by_the_tasks_that_both_worked_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def written(name: str, *entries: dict[str, object]) -> str:
        log = tmp_path / f"{name}.log"
        log.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        return str(log)

    def looked(task: str, characters: int) -> dict[str, object]:
        return {"task": task, "command": ["ls"], "characters": characters}

    logs = [
        written("few-1", looked(TASK, 1000), {"task": TASK, "solved": True}),
        written("few-2", looked("shop_key", 500), {"task": "shop_key", "solved": False}, looked("run_audit", 7)),
        written("many-1", looked(TASK, 3000), looked(TASK, 1000), looked("shop_key", 2000)),
    ]
    assert main(["report", *logs]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "| task | few: solved | look-ups | characters | many: solved | look-ups | characters | few : many |",
        "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |",
        "| refund_approval | yes | 1 | 1,000 | not checked | 2 | 4,000 | 0.25 |",
        "| run_audit | not checked | 1 | 7 | - | - | - | - |",
        "| shop_key | no | 1 | 500 | not checked | 1 | 2,000 | 0.25 |",
        "| **all** | 1 of 2 | 2 | 1,500 | 0 of 2 | 3 | 6,000 | 0.25 |",
    ]
