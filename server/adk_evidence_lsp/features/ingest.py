"""`adk/ingest`: runs `adk-ingest` in a process of its own, as the store's engine would freeze this one."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from adk_evidence.errors import EvidenceError, IngestError, ModelError, SettingsError, SourceError, StoreError
from adk_evidence.errors import VerificationError as _VerificationError
from adk_evidence_lsp.progress import WorkDone, create_token
from adk_evidence_lsp.protocol import INGEST, IngestParams, Token

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer

_LOG = logging.getLogger(__name__)

# -P: a module in the folder that the editor happens to be in must not stand in for ours.
INGEST_COMMAND = (sys.executable, "-P", "-m", "adk_evidence_lsp.ingest_process")
TERMINATE_SECONDS = 5.0
LINE_BYTES = 1 << 20
# What a person reads of a stage.
_STAGES = {
    "discover": "Finding the files",
    "chunk": "Cutting the files into passages",
    "embed": "Computing vectors",
    "upsert": "Writing the index",
    "verify": "Verifying the index",
    "publish": "Publishing the index",
    "targets": "Ranking the symbols",
}
_ERRORS = {
    error.exit_code: error
    for error in (SettingsError, SourceError, ModelError, StoreError, IngestError, _VerificationError)
}


class IngestRunningError(EvidenceError):
    """This server runs an ingestion already."""

    code = "ingest_running"


class IngestFeature:
    """Runs one ingestion at a time.

    Args:
        server: The server.
        command: The program, to which the mode and the options are added.
    """

    def __init__(self, server: EvidenceServer, command: tuple[str, ...]) -> None:
        self._server = server
        self._command = command
        self._busy = False
        self._process: asyncio.subprocess.Process | None = None
        self._by_token: dict[Token, asyncio.Task[Any]] = {}
        server.on_request(INGEST, IngestParams, self.answer)

        def cancel(params: types.WorkDoneProgressCancelParams) -> None:
            task = self._by_token.get(params.token)
            if task is not None:
                task.cancel()

        server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)(cancel)

    @property
    def running(self) -> bool:
        """Whether an ingestion runs."""
        return self._busy

    async def answer(self, params: IngestParams) -> dict[str, Any]:
        """The manifest of the finished run. Cancelling the request, or its progress, ends the process."""
        if self._busy:
            raise IngestRunningError("An ingestion is running already.", "Wait until it ends, or cancel it.")
        self._busy = True
        try:
            token = params.work_done_token
            if token is not None:
                work = WorkDone(self._server, token)
            else:
                work = WorkDone(self._server, await create_token(self._server), created=True)
            task = asyncio.current_task()
            if work.token is not None and task is not None:
                self._by_token[work.token] = task
            try:
                with work.running("Ingesting the ADK corpora", cancellable=True, percentage=0):
                    shown = _Shown(work, symbols=params.mode != "docs")
                    result = await self._run(self._arguments(params), shown)
                    if params.mode != "docs":
                        result = await self._with_targets(result, shown)
            finally:
                if work.token is not None:
                    self._by_token.pop(work.token, None)
        finally:
            self._busy = False
        self._server.in_background(self._server.warm_up())
        return result

    def kill(self) -> None:
        """End the process at once; for the end of the server."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            _signal(process, kill=True)

    async def _with_targets(self, result: dict[str, Any], shown: _Shown) -> dict[str, Any]:
        """Embed the symbols, so that they are found by meaning; the manifest says if that failed."""
        try:
            await self._run(["targets", *self._options({}), "--json"], shown)
        except EvidenceError as exc:
            notice = f"The symbols are searched by name and words alone: {exc.message}"
            return {**result, "notices": [*result.get("notices", ()), notice]}
        return result

    def _arguments(self, params: IngestParams) -> list[str]:
        named = {"--docs": params.docs, "--code": params.code}
        skipped = {"docs": "--code", "code": "--docs"}.get(params.mode)
        corpora = {name: value for name, value in named.items() if name != skipped}
        return [params.mode, *self._options(corpora), "--json", *(["--offline"] if params.offline else [])]

    def _options(self, corpora: dict[str, str | None]) -> list[str]:
        client = self._server.configuration.client
        named = {**corpora, "--home": client.home, "--profile": client.profile}
        # With `=`, a value that begins with a dash is no option.
        return [f"{name}={value}" for name, value in named.items() if value is not None]

    async def _run(self, arguments: list[str], shown: _Shown) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            # Never written to: the child ends when this end of it does.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
            # Its own group: what it started (git, pip) ends with it.
            start_new_session=True,
        )
        self._process = process
        try:
            output, problem = await asyncio.gather(_read_all(process.stdout), _follow(process.stderr, shown))
            code = await process.wait()
        finally:
            self._process = None
            if process.returncode is None:
                await _end(process)
        if code != 0:
            raise _failure(code, problem)
        return _result(output)


async def _read_all(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.read() if stream is not None else b""


class _Shown:
    """Progress of the processes of one ingestion, with one bar for all of it."""

    def __init__(self, work: WorkDone, *, symbols: bool) -> None:
        from adk_ingest.progress import Overall

        self._work = work
        self._overall = Overall(symbols=symbols)
        self._stage = ""
        self._count = ""

    def take(self, event: dict[str, Any]) -> bool:
        """Show a line of the process; False for one that is no progress."""
        match event:
            case {"event": "stage", "stage": str(name), "total": int() | None as total, "unit": str(unit)}:
                self._stage = _STAGES.get(name, name)
                self._count = "" if total is None else f" of {total:,} {unit}".rstrip()
                self._overall.stage(name, total)
                self._report(self._stage)
            case {"event": "progress", "done": int(done)}:
                self._overall.reach(done)
                self._report(f"{self._stage}: {done:,}{self._count}")
            case {"event": "note", "message": str(message)}:
                self._report(message)
            case _:
                return False
        return True

    def _report(self, message: str) -> None:
        self._work.report(message, int(100 * self._overall.share))


async def _follow(stream: asyncio.StreamReader | None, shown: _Shown) -> list[str]:
    """Turn the lines of JSON into progress; returns the others, which say what went wrong."""
    others: list[str] = []
    while stream is not None and (line := await stream.readline()):
        text = line.decode("utf-8", "replace").strip()
        if not shown.take(_event(text)) and text:
            others.append(text)
    return others


def _event(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _result(output: bytes) -> dict[str, Any]:
    try:
        found = json.loads(output)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise IngestError("The ingestion ended without saying what it did.", "Run `adk-ingest status`.")
    return found


def _failure(code: int, lines: list[str]) -> EvidenceError:
    """The sentence that the command printed, as the error that its exit code stands for."""
    message, hint = "The ingestion stopped.", "Run `adk-ingest all` in a terminal to see why."
    for line in lines:
        if line.startswith("error: "):
            message, hint = line.removeprefix("error: "), ""
        elif line.startswith("try: "):
            hint = line.removeprefix("try: ")
    _LOG.warning("The ingestion ended with status %d", code)
    return _ERRORS.get(code, IngestError)(message, hint)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask the process to stop, then make it."""
    _signal(process, kill=False)
    try:
        await asyncio.wait_for(process.wait(), TERMINATE_SECONDS)
    except TimeoutError:
        _signal(process, kill=True)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, *, kill: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill() if kill else process.terminate()
        else:
            os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)
