"""`adk-evidence serve mcp` as a process, with the tests' embedder in place of a model."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).resolve().parents[2]
# A question with the word SLOW takes longer than any test, as does indexing; native code and prints write to standard
# output.
DRIVER = f"""
import sys
sys.path[:0] = {[path for path in sys.path if path]!r}
import os, time
from adk_evidence.search import session as door
from adk_evidence_cli.main import run
from adk_ingest import pipeline as ingestion
from tests.corpora import HashEmbedder
class Noisy(HashEmbedder):
    def embed_query(self, text):
        print("noise on stdout")
        os.write(1, b"native noise\\n")
        if "SLOW" in text:
            time.sleep(3)
        if "BREAK" in text:
            raise RuntimeError("sk-secret-of-the-user")
        return super().embed_query(text)
door.make_dense = lambda settings: Noisy()
ingestion.make_dense = lambda *_, **__: HashEmbedder(on_batch=lambda done: time.sleep(0.1))
run()
"""
# The first messages of a client, and one that calls a tool.
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments, **more}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


async def piped(home: Path, *messages: dict[str, Any]) -> asyncio.subprocess.Process:
    """A server with messages on its pipe, whose answers are lines of its standard output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=home.parent,
        limit=1 << 20,
    )
    assert process.stdin is not None
    process.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
    return process


@dataclass(frozen=True)
class Served:
    """A running server, and what it said when it began."""

    process: asyncio.subprocess.Process
    url: str
    said: str

    @property
    def token_file(self) -> Path:
        found = re.search(r"The token is in (\S+),", self.said)
        assert found, self.said
        return Path(found[1])

    @property
    def headers(self) -> dict[str, str]:
        """What a client has to send."""
        return {"Authorization": f"Bearer {self.token_file.read_text()}"}


def command(home: Path, *options: str) -> list[str]:
    """Arguments of the interpreter."""
    return ["-c", DRIVER, "serve", "mcp", "--home", str(home), *options]


@asynccontextmanager
async def over_stdio(home: Path, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a server of its own, whose environment is bare: HOME, PATH and little more."""
    environment = {"HOME": str(home.parent / "nobody")}
    parameters = StdioServerParameters(command=sys.executable, args=command(home), env=environment, cwd=ROOT)
    async with Client(parameters, mode=mode, read_timeout_seconds=60) as client:
        yield client


@asynccontextmanager
async def serving_http(home: Path, *options: str, **environment: str) -> AsyncIterator[Served]:
    """A server on this machine, at a port of its choice."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command(home, "--http", "0", *options),
        stderr=subprocess.PIPE,
        env={"HOME": str(home.parent / "nobody"), "PATH": os.environ["PATH"], **environment},
        cwd=ROOT,
    )
    assert process.stderr is not None
    try:
        lines = [(await process.stderr.readline()).decode() for _ in range(2)]
        address = re.match(r"Serving at (\S+)$", lines[0])
        assert address, [*lines, await process.stderr.read()]
        yield Served(process, address[1], lines[1])
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


def http_client(served: Served, mode: str = "auto", headers: dict[str, str] | None = None) -> Client:
    """A client that identifies itself as the server says, or with other headers."""
    http = httpx2.AsyncClient(headers=served.headers if headers is None else headers, timeout=60)
    return Client(streamable_http_client(served.url, http_client=http), mode=mode, read_timeout_seconds=60)


@asynccontextmanager
async def over_http(home: Path, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a server of its own on this machine."""
    async with serving_http(home) as served, http_client(served, mode) as client:
        yield client
