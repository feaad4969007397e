"""`adk-evidence serve mcp` as a process, with the tests' embedder in place of a model."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]
# A question with the word SLOW takes longer than any test; native code and prints write to standard output.
DRIVER = f"""
import sys
sys.path[:0] = {[path for path in sys.path if path]!r}
import os, time
from adk_evidence.retrieval import pipeline
from adk_evidence_cli.main import run
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
pipeline.make_dense = lambda settings: Noisy()
run()
"""


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
async def serving_http(home: Path) -> AsyncIterator[str]:
    """The URL of a server on this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command(home, "--http", str(port), "--log-level", "info"),
        stderr=subprocess.PIPE,
        env={"HOME": str(home.parent / "nobody"), "PATH": os.environ["PATH"]},
        cwd=ROOT,
    )
    assert process.stderr is not None
    try:
        while b"startup complete" not in (line := await process.stderr.readline()):
            assert line, "the server ended"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.communicate()


@asynccontextmanager
async def over_http(home: Path, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a server of its own on this machine."""
    async with serving_http(home) as url, Client(url, mode=mode, read_timeout_seconds=60) as client:
        yield client
