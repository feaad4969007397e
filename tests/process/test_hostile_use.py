"""Both command lines against bad input, a broken machine and faults of our own: a sentence, never a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import adk_evidence_console as console
from adk_evidence_cli import asking
from adk_evidence_cli.main import app as evidence
from adk_ingest.commands import reports
from adk_ingest.commands.cli import app as ingest
from tests.process.conftest import sentence


def test_a_fault_of_our_own_is_a_sentence_and_its_place_is_in_the_log(monkeypatch, tmp_path) -> None:
    quoted = "text of " + "a document"

    def broken(*args: object, **more: object) -> None:
        raise TypeError(quoted)

    monkeypatch.setattr(reports, "make_status", broken)
    said = sentence(CliRunner().invoke(ingest, ["status", "--home", str(tmp_path)]), 1)
    log = tmp_path / "logs" / "errors.log"
    assert "TypeError" in said and str(log) in said
    assert "in broken" in log.read_text() and quoted not in said + log.read_text()


@pytest.mark.parametrize("home", ["a folder that cannot be written", "no folder"])
def test_a_fault_is_told_where_no_log_can_be_written(monkeypatch, tmp_path, home) -> None:
    def broken(*args: object, **more: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(reports, "make_status", broken)
    monkeypatch.setattr(Path, "mkdir", lambda *args, **more: (_ for _ in ()).throw(PermissionError(13, "Denied")))
    said = sentence(CliRunner().invoke(ingest, ["status", "--home", str(tmp_path)]), 1)
    assert "ZeroDivisionError" in said and "report" in said


def test_a_closed_standard_input_is_an_empty_question(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(console.sys, "stdin", None)
    assert console.read_stdin() == ""


@pytest.mark.parametrize("columns", ["0", "1", "-5"])
def test_a_terminal_without_a_width_gets_an_answer(monkeypatch, columns) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert console.stdout().width >= 20


def test_a_full_disk_is_named(monkeypatch, tmp_path) -> None:
    def full(*args: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/home/x/file")

    monkeypatch.setattr(reports, "make_status", full)
    said = sentence(CliRunner().invoke(ingest, ["status", "--home", str(tmp_path)]), 1)
    assert "/home/x/file" in said and "No space left on device" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", ""], "The query is not valid: it is empty"),
        (["ask", "\udcff"], "encoding of this locale"),
        (["ask", "x", "--path", ""], "--path is not valid: it is empty"),
        (["operate", ""], "is empty"),
    ],
)
def test_what_is_wrong_is_called_as_on_the_command_line(arguments, said, tmp_path) -> None:
    assert said in sentence(CliRunner().invoke(evidence, [*arguments, "--home", str(tmp_path)]), 2)


@pytest.mark.parametrize(("app", "command"), [(evidence, ["ask", "x"]), (ingest, ["all"]), (ingest, ["indexes"])])
def test_a_home_that_is_a_file_is_refused_at_once(app, command, tmp_path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\0")
    assert "is not a folder" in sentence(CliRunner().invoke(app, [*command, "--home", str(file)]), 2)


@settings(max_examples=60)
@given(st.text(max_size=30), st.sampled_from(["query", "path_allowlist", "path_blocklist", "languages"]))
def test_no_text_of_a_question_breaks_the_request(text: str, option: str) -> None:
    values = {"query": text} if option == "query" else {"query": "x", "filters": {option: [text]}}
    try:
        asking.build_request(values)
    except asking.InvalidRequestError as exc:
        assert "filters." not in exc.message and "String should" not in exc.message


def test_ingest_writes_utf8_into_a_pipe_whatever_the_locale() -> None:
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.environ["PATH"]}
    code = "from adk_ingest.commands import cli; cli.app = lambda: print('\\u2026'); cli.run()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "\u2026\n".encode()), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one encoding for names of files")
def test_names_of_files_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = "import os, sys; from adk_ingest.commands import cli"
    code += "; cli.run = lambda: print(ascii(os.listdir(sys.argv[1])))"
    code += "; from adk_evidence_cli.entry import ingest; ingest()"
    (tmp_path / "Straße").mkdir()
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, env=environment)
    assert (done.returncode, done.stdout) == (0, rb"['Stra\xdfe']" + b"\n"), done.stderr


@pytest.mark.parametrize("command", ["evidence", "ingest"])
def test_an_interrupt_while_a_command_is_still_loading_ends_it_without_a_traceback(command) -> None:
    code = f"""
import os, signal, sys
class Interrupts:
    def find_spec(self, name, *rest):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
from adk_evidence_cli.entry import {command}
{command}()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
