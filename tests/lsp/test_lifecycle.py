"""Cancelling, superseding, several clients, clients that vanish: nothing hangs and nothing is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.corpora import Workplace
from tests.lsp import rpc
from tests.lsp.conftest import Start, command
from tests.lsp.rpc import RawClient, environment

QUESTION = "how do I retry when a tool throws?"
CANCELLED = -32800
REQUEST_FAILED = -32803
SECONDS = 60


def held(server: RawClient, **more: object) -> int:
    """Ask a question that waits in the embedder; returns its id once it does."""
    number = server.ask("adk/evidence", {"query": "HOLD retry", **more})
    server.notification("test/reached")
    return number


def asked(home: Path) -> list[str]:
    """The questions that were answered, by the event log."""
    log = home / "logs" / "events.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line)["query_text"] for line in lines]


def test_a_cancelled_request_is_answered_at_once_and_its_work_stops(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    workplace.ingest()
    server = start(workplace)
    number = held(server)
    server.notify("$/cancelRequest", {"id": number})
    assert server.answer(number)["error"]["code"] == CANCELLED
    server.notify("test/release", {})
    server.result("adk/evidence", {"query": QUESTION})
    server.end()
    assert asked(workplace.home) == [QUESTION]


def test_a_cancelled_command_is_answered_too(start: Start) -> None:
    server = start()
    arguments = [{"query": "HOLD retry"}]
    number = server.ask(
        "workspace/executeCommand", {"command": "adkEvidence.server.showEvidence", "arguments": arguments}
    )
    server.notification("test/reached")
    server.notify("$/cancelRequest", {"id": number})
    assert server.answer(number)["error"]["code"] == CANCELLED


def test_cancelling_is_read_while_every_thread_is_busy(start: Start) -> None:
    server = start()
    numbers = [server.ask("adk/evidence", {"query": f"HOLD {number}"}) for number in range(12)]
    for _ in range(4):
        server.notification("test/reached")
    assert server.result("adk/symbol", {"name": "Runner"})["name"] == "Runner"
    for number in numbers:
        server.notify("$/cancelRequest", {"id": number})
    assert {server.answer(number)["error"]["code"] for number in numbers} == {CANCELLED}
    server.notify("test/release", {})
    assert server.result("adk/evidence", {"query": QUESTION})["status"] == "success"


def test_more_questions_than_may_wait_are_told_when_to_ask_again(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "environment", lambda: environment(TESTS_MOST_WAITING="1"))
    server = start()
    first = held(server, query="HOLD one")
    late = server.request("adk/evidence", {"query": QUESTION, "timeBudgetMs": 20})["error"]
    assert late["code"] == REQUEST_FAILED and late["data"]["code"] == "waited_too_long"
    second = server.ask("adk/evidence", {"query": QUESTION})
    refused = server.request("adk/evidence", {"query": "LlmAgent"})["error"]
    assert refused["code"] == REQUEST_FAILED and refused["data"]["code"] == "busy"
    assert refused["data"]["hint"] == f"Ask again in {refused['data']['retryAfterSeconds']} s."
    # Look-ups and the status do not wait behind questions.
    assert server.result("adk/symbol", {"name": "Runner"})["name"] == "Runner"
    requests = load(server)["requests"]
    assert (requests["running"], requests["waiting"], requests["refused"]) == (1, 1, 1)
    # Whoever goes makes room at once.
    server.notify("$/cancelRequest", {"id": second})
    assert server.answer(second)["error"]["code"] == CANCELLED
    third = server.ask("adk/evidence", {"query": QUESTION})
    server.notify("test/release", {})
    assert [server.answer(number)["result"]["status"] for number in (first, third)] == ["success"] * 2


def load(server: RawClient) -> dict[str, Any]:
    return server.result("test/load")


def test_a_question_that_comes_again_is_answered_from_the_cache(start: Start) -> None:
    server = start()
    packs = [server.result("adk/evidence", {"query": QUESTION}) for _ in range(2)]
    assert packs[1]["debug"]["answered_from"]["cache"] == packs[0]["query_id"]
    assert packs[1]["pack_id"] == packs[0]["pack_id"]
    (kept,) = [cache for cache in load(server)["caches"] if cache["name"] == "answers"]
    assert (kept["entries"], kept["hit_rate"]) == (1, 0.5)


@pytest.mark.parametrize("same", [{"supersedeKey": "panel"}, {"textDocument": {"uri": "file:///a.py"}}], ids=str)
def test_a_later_request_supersedes_the_one_before(start: Start, same: dict[str, object]) -> None:
    server = start()
    first = held(server, **same)
    other = server.ask("adk/evidence", {"query": "another", "supersedeKey": "other"})
    second = server.ask("adk/evidence", {"query": QUESTION, **same})
    assert server.answer(first)["error"]["code"] == CANCELLED
    assert server.answer(second)["result"]["status"] == "success"
    assert server.answer(other)["result"]["query"] == "another"


def test_the_products_own_command_starts_and_ends(indexed: Workplace) -> None:
    program = "from adk_evidence_cli.main import run; run()"
    with RawClient([sys.executable, "-c", program, "serve", "lsp"], {"home": str(indexed.home)}) as server:
        assert server.initialize()["result"]["capabilities"]["hoverProvider"]
        assert server.result("adk/symbol", {"name": "Runner"})["name"] == "Runner"
        assert server.end() == 0


def test_nothing_heavy_is_loaded_before_the_first_answer() -> None:
    program = (
        "import sys, adk_evidence_lsp.features; heavy = {'numpy', 'qdrant_edge', 'fastembed', 'onnxruntime', 'onnx', "
        "'griffe', 'rich', 'adk_evidence.search.session'}; print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# Clients that go


def test_the_server_ends_when_its_input_does(start: Start) -> None:
    server = start()
    held(server)
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(SECONDS) == 1


def test_the_server_ends_when_nobody_reads_its_output(indexed: Workplace) -> None:
    process = subprocess.Popen(
        command(indexed.root),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdout.close()
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "adk/status"}'
    process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    process.stdin.flush()
    try:
        assert process.wait(SECONDS) == 1
    finally:
        process.kill()
        process.stdin.close()


def test_the_server_ends_when_the_clients_process_does(start: Start) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    server = start(initialize=False)
    server.initialize(processId=editor.pid)
    server.notify("test/prepare", {})
    held(server)
    editor.communicate()
    assert server.process.wait(SECONDS) == 1


def test_exit_without_shutdown_is_told_by_the_status(start: Start) -> None:
    server = start()
    server.notify("exit", None)
    assert server.process.wait(SECONDS) == 1
