"""`adk-evidence serve mcp` as the MCP SDK's own client meets it: a process, with a bare environment."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import MCPError

from tests.agents.mcp_calls import answer, citations, text_of
from tests.agents.servers import HELLO, INITIALIZED, call, over_http, over_stdio, piped
from tests.corpora import Workplace

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

QUESTION = "how do I retry when a tool throws?"


async def test_a_cancelled_call_does_not_hold_up_the_next(indexed: Workplace) -> None:
    async with over_stdio(indexed.home) as client:
        await answer(client, "find_adk_evidence", query=QUESTION)
        slow = asyncio.create_task(client.call_tool("find_adk_evidence", {"query": "SLOW tools"}))
        quick = asyncio.create_task(answer(client, "find_adk_symbol", query="Runner", limit=1))
        await quick
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        await answer(client, "find_adk_evidence", query=QUESTION)


async def test_nothing_but_the_protocol_is_on_stdout(indexed: Workplace) -> None:
    process = await piped(indexed.home, HELLO, INITIALIZED, call("find_adk_evidence", {"query": QUESTION}))
    assert process.stdin is not None and process.stdout is not None
    lines = [json.loads(await process.stdout.readline()) for _ in range(2)]
    process.stdin.close()
    rest, errors = await process.communicate()
    assert [line["id"] for line in lines] == [1, 2] and not rest
    assert b"noise on stdout" in errors and b"native noise" in errors
    assert process.returncode == 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("over", [over_stdio, over_http])
async def test_all_of_it_works_over_each_transport_and_protocol(indexed: Workplace, over: Any, mode: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async with over(indexed.home, mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        result = await client.call_tool("find_adk_evidence", {"query": QUESTION}, progress_callback=on_progress)
        assert not result.is_error and "[CTX 1]" in text_of(result)
        numbers = [done for done, _, _ in told]
        assert numbers == sorted(set(numbers)) and {total for _, total, _ in told} == {3}
        assert told[-1][2] == "Found 8 results."
        quiet = await client.call_tool("find_adk_evidence", {"query": QUESTION})
        assert text_of(quiet) == text_of(result)

        (template,) = (await client.list_resource_templates()).resource_templates
        citation = citations(text_of(result))[0]
        uri = template.uri_template.replace("{citation}", quote(citation, safe=""))
        (source,) = (await client.read_resource(uri)).contents
        assert source.uri == uri and source.text.startswith(f"SOURCE: {citation.partition(':')[0]}:")
        with pytest.raises(MCPError, match="not a citation"):
            await client.read_resource("adk-evidence://source/nothing")


async def test_a_missing_extra_is_one_sentence(tmp_path: Path) -> None:
    without = "import sys; sys.modules['mcp'] = None; from adk_evidence_cli.main import run; run()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", without, "serve", "mcp", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    out, errors = await process.communicate()
    assert process.returncode == 1 and not out
    assert b"adk-evidence[mcp]" in errors and b"Traceback" not in errors
