"""`adk/ingest`: a process of its own, with progress, that ends when it is cancelled and with its server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from adk_evidence.files import remove_tree
from adk_ingest.priority import NICENESS
from tests.corpora import Workplace
from tests.lsp.conftest import Start
from tests.lsp.rpc import RawClient
from tests.lsp.test_protocol_schema import problems

QUESTION = "how do I retry when a tool throws?"
CANCELLED = -32800
TOKEN = "mine"  # noqa: S105
SECONDS = 60


def wait_for_end_of_ingestion(workplace: Workplace) -> None:
    """Wait until no ingesting process lives: it holds this lock."""
    with FileLock(workplace.root / "ingesting.lock", timeout=SECONDS, poll_interval=0.01):
        pass


def sources(workplace: Workplace) -> dict[str, object]:
    return {"mode": "all", "docs": str(workplace.docs), "code": str(workplace.code), "offline": True}


def wait_until_held(server: RawClient) -> str:
    """Wait until the ingestion stands still; returns the token of its progress."""
    while True:
        progress = server.notification("$/progress")
        if progress["value"].get("message") == "held":
            return str(progress["token"])


def test_ingestion_reports_progress_and_its_index_answers(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    server = start(workplace)
    assert problems("IngestParams", sources(workplace)) == []
    run = server.result("adk/ingest", {**sources(workplace), "workDoneToken": TOKEN})
    assert run["status"] == "complete" and problems("IngestResult", run) == []
    events = []
    while not events or events[-1]["kind"] != "end":
        progress = server.notification("$/progress")
        assert progress["token"] == TOKEN
        events.append(progress["value"])
    assert events[0]["kind"] == "begin" and events[0]["cancellable"]
    assert {"Reading the files", "Reading the meaning", "Writing the index"} <= {
        event.get("message") for event in events
    }
    # Without a percentage at its beginning, a client shows no bar; and no bar goes back.
    shares = [event["percentage"] for event in events[:-1]]
    assert shares[0] == 0 and shares == sorted(shares) and shares[-1] <= 100
    assert server.result("adk/evidence", {"query": QUESTION})["status"] == "success"
    assert run["notices"] == [] and server.result("adk/status", {"examined": False})["symbols"]
    # As where the ingestion was stopped while it ranked them.
    remove_tree(workplace.home / "targets")
    status = server.result("adk/status", {"examined": False})
    assert status["index"]["dense"] == "complete" and not status["symbols"]


def test_clients_are_told_how_far_it_is_and_when_keywords_answer(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    (tmp_path / "keywords-first").touch()
    server = start(workplace)
    server.result("adk/ingest", sources(workplace))
    told = [server.notification("$/adk/ingestProgress")]
    while told[-1]["answers"] != "meaning":
        told.append(server.notification("$/adk/ingestProgress"))
    fractions = [each["fraction"] for each in told]
    assert fractions == sorted(fractions) and fractions[0] >= 0 and fractions[-1] <= 1
    by = [each["answers"] for each in told]
    assert list(dict.fromkeys(by)) == ["nothing", "keywords", "meaning"]
    # Keywords answer before the first vector is computed.
    assert by[[each["stage"] for each in told].index("embed")] == "keywords"


@pytest.mark.parametrize("way", ["request", "progress", "own token"])
def test_a_cancelled_ingestion_ends_its_process(start: Start, tmp_path: Path, way: str) -> None:
    workplace = Workplace(tmp_path)
    (tmp_path / "hold").touch()
    server = start(workplace)
    token = {} if way == "own token" else {"workDoneToken": TOKEN}
    number = server.ask("adk/ingest", {**sources(workplace), **token})
    shown = wait_until_held(server)
    assert server.result("adk/status", {})["ingesting"]
    busy = server.request("adk/ingest", sources(workplace))["error"]
    assert busy["data"]["code"] == "ingest_running"
    if way == "request":
        server.notify("$/cancelRequest", {"id": number})
    else:
        server.notify("window/workDoneProgress/cancel", {"token": shown})
    assert server.answer(number)["error"]["code"] == CANCELLED
    wait_for_end_of_ingestion(workplace)
    (tmp_path / "hold").unlink()
    assert server.result("adk/ingest", sources(workplace))["status"] == "complete"


def test_after_a_cancelled_ingestion_it_is_said_what_is_missing_and_how_to_go_on(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    for name in ("hold", "keywords-first"):
        (tmp_path / name).touch()
    server = start(workplace)
    number = server.ask("adk/ingest", {**sources(workplace), "workDoneToken": TOKEN})
    wait_until_held(server)

    def said() -> tuple[bool, str, str]:
        status = server.result("adk/status", {})
        assert status["index"]["dense"] == "pending"
        (finding,) = (finding for finding in status["findings"] if finding["what"] == "search by meaning")
        (warning,) = server.result("adk/evidence", {"query": "RetryPlugin", "maxResults": 1})["warnings"][:1]
        return status["ingesting"], f"{finding['found']} {finding['mend']}", warning["text"]

    running, found, warning = said()
    assert running and "being computed" in found and "still being computed" in warning
    server.notify("$/cancelRequest", {"id": number})
    assert server.answer(number)["error"]["code"] == CANCELLED
    wait_for_end_of_ingestion(workplace)
    running, found, warning = said()
    assert not running and "still being" not in warning
    for text in (found, warning):
        assert "missing, because the indexing was stopped" in text and "goes on where it stopped" in text


@pytest.mark.parametrize("way", ["closed", "terminated", "killed"])
def test_no_ingestion_outlives_its_server(start: Start, tmp_path: Path, way: str) -> None:
    workplace = Workplace(tmp_path)
    (tmp_path / "hold").touch()
    server = start(workplace)
    server.ask("adk/ingest", {**sources(workplace), "workDoneToken": TOKEN})
    wait_until_held(server)
    if way == "closed":
        assert server.process.stdin is not None
        server.process.stdin.close()
    elif way == "terminated":
        server.process.terminate()
    else:
        server.process.kill()
    assert server.process.wait(SECONDS) != 0
    wait_for_end_of_ingestion(workplace)


def test_a_failed_ingestion_says_what_the_command_says(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    server = start(workplace)
    params = {**sources(workplace), "docs": str(tmp_path / "nowhere"), "code": "--home=/elsewhere"}
    error = server.request("adk/ingest", params)["error"]
    assert error["data"]["code"] == "source_unavailable"
    assert error["message"].endswith(".")
    assert not Path("/elsewhere").exists()


@pytest.mark.skipif(os.name != "posix", reason="other systems count priorities in another way")
def test_an_ingestion_lets_the_editor_go_first() -> None:
    tell = "lambda: print(os.getpriority(os.PRIO_PROCESS, 0), flush=True)"
    told = f"import os, adk_ingest.commands.cli as cli; cli.run = {tell}"
    program = f"{told}; from adk_evidence_lsp.ingest_process import main; main()"
    # The child ends when its standard input does.
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        priority = int(child.stdout.readline())
    assert priority >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
