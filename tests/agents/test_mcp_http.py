"""Who may speak to `adk-evidence serve mcp --http`, what is offered there, and how servers end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from mcp.types import INVALID_PARAMS

from tests.agents.servers import HELLO, INITIALIZED, ROOT, call, command, http_client, piped, serving_http
from tests.corpora import Workplace, write_files

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

CHOSEN = "a-token-of-my-own-choice"
WRITING = {"index_codebase", "delete_index"}


def hello(**headers: str) -> dict[str, Any]:
    """The first message of a client."""
    return {"json": HELLO, "headers": {"Accept": "application/json, text/event-stream", **headers}}


async def test_a_client_without_the_token_is_refused(indexed: Workplace) -> None:
    async with serving_http(indexed.home) as served, httpx2.AsyncClient(timeout=60) as http:
        right = served.headers["Authorization"]
        for wrong in ("", "Bearer", "Bearer guess", f"{right}x", right[:-1], right.replace("Bearer", "Basic")):
            refused = await http.post(served.url, **hello(Authorization=wrong))
            assert refused.status_code == 401, wrong
            assert refused.headers["www-authenticate"].startswith("Bearer")
        assert (await http.get(served.url)).status_code == 401
        assert (await http.post(served.url, **hello(Authorization=right))).status_code == 200


async def test_other_hosts_and_origins_are_refused_even_with_the_token(indexed: Workplace) -> None:
    async with serving_http(indexed.home) as served, httpx2.AsyncClient(timeout=60) as http:
        rebound = await http.post(served.url, **hello(**served.headers, Host="evil.example.org"))
        foreign = await http.post(served.url, **hello(**served.headers, Origin="http://evil.example.org"))
        assert (rebound.status_code, foreign.status_code) == (421, 403)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_the_token_is_in_a_file_that_only_its_owner_reads_while_the_server_runs(indexed: Workplace) -> None:
    async with serving_http(indexed.home) as served:
        file = served.token_file
        assert file.parent == indexed.home and stat.S_IMODE(file.stat().st_mode) == 0o600
        first = file.read_text()
        assert len(first) >= 32 and first not in served.said
    assert not file.exists()
    async with serving_http(indexed.home) as served:
        assert served.token_file.read_text() != first


async def test_a_chosen_token_is_taken_and_written_nowhere(indexed: Workplace) -> None:
    async with serving_http(indexed.home, ADK_EVIDENCE_MCP_TOKEN=CHOSEN) as served:
        assert CHOSEN not in served.said and not list(indexed.home.glob("*.token"))
        async with http_client(served, headers={"Authorization": f"Bearer {CHOSEN}"}) as client:
            assert (await client.list_tools()).tools


async def test_without_authentication_only_on_purpose_and_with_a_warning(indexed: Workplace) -> None:
    async with serving_http(indexed.home, "--no-auth") as served:
        assert served.said.startswith("WARNING") and not list(indexed.home.glob("*.token"))
        async with http_client(served, headers={}) as client:
            assert (await client.list_tools()).tools


async def test_indexing_and_deleting_are_offered_on_request_alone(indexed: Workplace) -> None:
    async with serving_http(indexed.home) as served, http_client(served) as client:
        assert not WRITING & {tool.name for tool in (await client.list_tools()).tools}
        for name in WRITING:
            with pytest.raises(MCPError, match="--allow-indexing") as caught:
                await client.call_tool(name, {"name": "shop"})
            assert caught.value.code == INVALID_PARAMS
    async with serving_http(indexed.home, "--allow-indexing") as served, http_client(served) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= WRITING


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    """The exit code of a process that ends, and what it said on standard error."""
    assert process.stderr is not None
    async with asyncio.timeout(60):
        errors = await process.stderr.read()
        return await process.wait(), errors.decode()


async def refused(home: Path, *options: str, **environment: str) -> str:
    """What a server that does not begin says."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command(home, *options),
        stderr=subprocess.PIPE,
        env={"HOME": str(home.parent / "nobody"), "PATH": os.environ["PATH"], **environment},
        cwd=ROOT,
    )
    code, errors = await ended(process)
    assert code == 2 and "Traceback" not in errors and "Serving" not in errors
    return " ".join(errors.split())


async def test_what_keeps_a_server_from_beginning_is_said_first(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        said = await refused(tmp_path / "home", "--http", str(port))
        assert f"port {port}" in said and "in use" in said
    assert not list((tmp_path / "home").glob("*.token"))
    for bad in ("short", "has spaces in it, which no header can carry"):
        said = await refused(tmp_path / "home", "--http", "0", ADK_EVIDENCE_MCP_TOKEN=bad)
        assert "ADK_EVIDENCE_MCP_TOKEN" in said and bad not in said
    for option in ("--no-auth", "--allow-indexing"):
        assert "--http" in await refused(tmp_path / "home", option)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals between processes")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 143)])
async def test_one_signal_ends_http_with_clients_connected(indexed: Workplace, name: str, code: int) -> None:
    async with serving_http(indexed.home) as served:
        file = served.token_file
        async with http_client(served, "legacy") as client:
            await client.list_tools()
            served.process.send_signal(getattr(signal, name))
            found, errors = await ended(served.process)
        assert found == code and "Traceback" not in errors and not file.exists()


async def indexing_over_stdio(root: Path) -> asyncio.subprocess.Process:
    """A server in the middle of indexing for a client on its pipes."""
    code = write_files(root / "code", {f"a{number}.py": f"x = {number}\n" for number in range(200)})
    asked = call("index_codebase", {"name": "code", "path": str(code)}, _meta={"progressToken": 1})
    process = await piped(root / "home", HELLO, INITIALIZED, asked)
    assert process.stdout is not None
    while "embed" not in (told := json.loads(await process.stdout.readline())).get("params", {}).get("message", ""):
        assert told.get("id") != 2, told
    return process


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals between processes")
async def test_one_interrupt_ends_stdio_whatever_it_does(indexed: Workplace, tmp_path: Path) -> None:
    busy = await indexing_over_stdio(tmp_path)
    idle = await piped(indexed.home, HELLO)
    assert idle.stdout is not None and await idle.stdout.readline()
    for process in (busy, idle):
        process.send_signal(signal.SIGINT)
        assert await ended(process) == (130, "")


async def test_a_client_that_dies_during_indexing_leaves_no_traceback(tmp_path: Path) -> None:
    process = await indexing_over_stdio(tmp_path)
    transport = process._transport  # type: ignore[attr-defined]
    for pipe in (0, 1):
        transport.get_pipe_transport(pipe).close()
    assert await ended(process) == (0, "")
