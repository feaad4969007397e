"""`adk-ingest watch` as a person or a script meets it: a process that tells what it does until Ctrl+C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adk_ingest.commands.cli import app as ingest_app
from adk_ingest.priority import NICENESS
from tests.corpora import change, write_files
from tests.process.test_codebase_cli import FILES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a test cannot send Ctrl+C there without ending itself"),
]

DEADLINE = 180.0


@contextmanager
def watching(*arguments: object, errors: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, which is ended with the test at the latest."""
    command = [sys.executable, "-m", "tests.process.watch_driver", "watch", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ})
    killer = threading.Timer(DEADLINE, process.kill)
    killer.start()
    try:
        yield process
    finally:
        killer.cancel()
        process.kill()
        process.wait()


def line_with(process: subprocess.Popen[str], part: str) -> str:
    """The next line of output that has this part."""
    assert process.stdout is not None
    for line in process.stdout:
        if part in line:
            return line
    raise AssertionError(f"the command ended before it said {part!r}")


def test_events_come_as_lines_and_ctrl_c_leaves_a_whole_index(tmp_path: Path) -> None:
    shop, home = write_files(tmp_path / "shop", FILES), tmp_path / "home"
    with watching(shop, "--home", home, "--json", errors=subprocess.DEVNULL) as process:
        assert json.loads(line_with(process, "event"))["report"]["files"] == 3
        assert json.loads(line_with(process, "event"))["event"] == "watching"
        # Editors go first.
        assert os.getpriority(os.PRIO_PROCESS, process.pid) >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
        change(shop / "auth.py", "strip", "lower")
        report = json.loads(line_with(process, "event"))["report"]
        assert (report["name"], report["status"], report["changed_files"]) == ("shop", "success", 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0
        assert json.loads(line_with(process, "event")) == {"event": "ended"}
    listed = CliRunner().invoke(ingest_app, ["indexes", "--json", "--home", str(home)])
    assert [(one["name"], one["files"]) for one in json.loads(listed.stdout)] == [("shop", 3)]


def test_ctrl_c_during_a_run_ends_with_a_sentence(tmp_path: Path) -> None:
    shop = write_files(tmp_path / "shop", FILES)
    with watching(shop, "--home", tmp_path / "home", errors=subprocess.STDOUT) as process:
        line_with(process, "discover")
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=DEADLINE)[0]
        assert process.returncode == 0
        assert "The watching has ended" in rest
        assert "Traceback" not in rest


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(ingest_app, ["watch", str(tmp_path / "nowhere"), "--home", str(tmp_path / "home")])
    assert result.exit_code == 3
    assert "does not exist" in result.stderr
