"""`adk/ingest` and `adk/index`: run `adk-ingest` in another process, as the store's engine would freeze this one."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from adk_evidence.errors import (
    EvidenceError,
    IngestError,
    InvalidRequestError,
    ModelError,
    SettingsError,
    SourceError,
    StoreError,
    VerificationError,
)
from adk_evidence_lsp.progress import Report, create_token, work_done
from adk_evidence_lsp.projects import path_of, used_adk
from adk_evidence_lsp.protocol import (
    INGEST_PROGRESS,
    IndexParams,
    IndexResult,
    IngestedCorpus,
    IngestParams,
    IngestProgress,
    IngestResult,
    Token,
)
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk

_LOG = logging.getLogger(__name__)

# -P: a module in the folder that the editor happens to be in must not stand in for ours.
INGEST_COMMAND = (sys.executable, "-P", "-m", "adk_evidence_lsp.ingest_process")
TERMINATE_SECONDS = 5.0
LINE_BYTES = 1 << 20
# The names of the stages for people.
_STAGES = {
    "discover": "Finding the files",
    "chunk": "Reading the files",
    "embed": "Reading the meaning",
    "upsert": "Writing the index",
    "verify": "Verifying the index",
    "publish": "Publishing the index",
    "targets": "Listing the symbols",
}
_ERRORS = {
    error.exit_code: error
    for error in (SettingsError, SourceError, ModelError, StoreError, IngestError, VerificationError)
}


class IngestRunningError(EvidenceError):
    """This server runs an ingestion already."""

    code = "ingest_running"


class Ingestion:
    """Runs one ingestion at a time.

    Args:
        server: The server.
        command: The program, to which the mode and the options are added.
    """

    def __init__(self, server: EvidenceServer, command: tuple[str, ...]) -> None:
        self._server = server
        self._command = command
        self._process: Process | None = None

    async def answer(self, params: IngestParams) -> dict[str, Any]:
        """What the finished run did. Cancelling the request, or its progress, ends the process."""
        server = self._server
        with self._alone():
            wanted = await self._wanted(params)
            mode = params.mode if wanted is None else "all"
            arguments = [mode, *_version_options(wanted), *self._options(params)]
            title, token = "Indexing the ADK's docs and code", params.work_done_token
            result = await self._run(arguments, title, token, symbols=mode != "docs")
        server.refresh_diagnostics()
        server.warm_up()
        corpora = result["corpora"]
        told = IngestResult(
            status=result["status"],
            corpora={
                name: IngestedCorpus(repo=run["repo"], commit=run["commit"], chunks=run["chunks"])
                for name, run in corpora.items()
            },
            missing=result["missing"],
            failed_files=tuple(file for run in corpora.values() for file in run["failed_files"]),
            seconds=sum(result["seconds"].values()),
            notices=tuple(result["notices"]),
        )
        return told.model_dump(mode="json")

    async def index(self, params: IndexParams) -> dict[str, Any]:
        """Index the code of a folder; cancelled as `answer` is."""
        from adk_evidence.index.registry import name_for_folder
        from adk_ingest.wording import why_left_out

        server, folder = self._server, path_of(params.folder)
        if folder is None:
            raise InvalidRequestError("This folder is not on a disk of this machine.", "Open a folder that is.")
        with self._alone():
            settings = server.desk.load()
            name = await server.executor.run(lambda _: name_for_folder(settings, folder), lane="lookup")
            # What comes after `--` is no option.
            arguments = ["codebase", f"--name={name}", *self._options(), "--", str(folder)]
            result = await self._run(arguments, "Indexing the project's code", params.work_done_token, symbols=False)
        told = {name: result[name] for name in IndexResult.model_fields}
        skipped = tuple(f"{path} ({why_left_out(reason)})" for path, reason in result["skipped"])
        told |= {"skipped": skipped, "warnings": tuple(result["warnings"])}
        return IndexResult.model_validate(told).model_dump(mode="json")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse to run beside another ingestion of this server."""
        if self._server.ingesting:
            raise IngestRunningError("Something is being indexed already.", "Wait until it ends, or cancel it.")
        self._server.ingesting = True
        try:
            yield
        finally:
            self._server.ingesting = False

    def kill(self) -> None:
        """End the process at once; for the end of the server."""
        if self._process is not None and self._process.returncode is None:
            _signal(self._process, kill=True)

    async def _wanted(self, params: IngestParams) -> ProjectAdk | None:
        """The google-adk of the project that the request names."""
        server = self._server
        if params.folder is None:
            return None
        project = server.project(params.folder)
        settings = server.desk.load()
        found = await server.executor.run(lambda _: used_adk(settings, project))
        if found is None:
            raise InvalidRequestError("No google-adk is found in this project.", "Install it there, or lock a version.")
        return found

    def _options(self, params: IngestParams | None = None) -> list[str]:
        client = self._server.configuration.client
        named = {"--home": client.home, "--profile": client.profile}
        if params is not None:
            named |= {"--docs": params.docs if params.mode != "code" else None}
            # The code of a version is that version's release.
            named |= {"--code": params.code if params.mode != "docs" and params.folder is None else None}
        # With `=`, a value that begins with a dash is not an option.
        options = [f"{name}={value}" for name, value in named.items() if value is not None]
        return [*options, "--json", *(["--offline"] if params is not None and params.offline else [])]

    async def _run(self, arguments: list[str], title: str, token: Token | None, *, symbols: bool) -> dict[str, Any]:
        """Run the program with its progress shown; returns what it printed at its end."""
        server = self._server
        if token is None:
            token = await create_token(server)
        with work_done(server, token, title, cancels=asyncio.current_task()) as report:
            notify = partial(server.protocol.notify, INGEST_PROGRESS)
            return await self._followed(arguments, _Shown(report, notify, symbols=symbols))

    async def _followed(self, arguments: list[str], shown: _Shown) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            # Never written to: the child ends when this end of the pipe does.
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=LINE_BYTES,
            # A separate group, so that the programs that the child started (git, pip) end with the child.
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
        if (result := _json_object(output)) is None:
            raise IngestError("The indexing ended without saying what it did.", "Run `adk-ingest status`.")
        return result


def _version_options(wanted: ProjectAdk | None) -> list[str]:
    """The options that name the version of a project, and the environment that has the version installed."""
    if wanted is None:
        return []
    return [f"--adk={wanted.version}" if wanted.python is None else f"--python={wanted.python}"]


class _Shown:
    """Progress of the processes of one ingestion, with one bar for all of them."""

    def __init__(self, report: Report, notify: Callable[[dict[str, Any]], None], *, symbols: bool) -> None:
        from adk_ingest.progress import Overall

        self._report = report
        self._notify = notify
        self._overall = Overall(symbols=symbols)
        self._answers: Literal["nothing", "keywords", "meaning"] = "nothing"
        self._name = "discover"
        self._stage = ""
        self._count = ""

    def take(self, event: dict[str, Any] | None) -> bool:
        """Show a line of the process; False for a line that is not progress."""
        match event:
            case {"event": "stage", "stage": str(name), "total": int() | None as total, "unit": str(unit)}:
                self._name, self._stage = name, _STAGES.get(name, name)
                message = self._stage
                self._count = "" if total is None else f" of {total:,} {unit}".rstrip()
                self._overall.stage(name, total)
            case {"event": "progress", "done": int(done)}:
                self._overall.reach(done)
                message = f"{self._stage}: {done:,}{self._count}"
            case {"event": "note", "message": str(message)}:
                pass
            case {"event": "published", "vectors": bool(vectors)}:
                self._answers = "meaning" if vectors else "keywords"
                message = self._stage
            case _:
                return False
        self._report(message, int(100 * self._overall.share))
        self._notify(
            IngestProgress(
                stage=self._name,
                fraction=self._overall.share,
                seconds_left=self._overall.seconds_left,
                answers=self._answers,
            ).model_dump()
        )
        return True


async def _read_all(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.read() if stream is not None else b""


async def _follow(stream: asyncio.StreamReader | None, shown: _Shown) -> list[str]:
    """Turn the lines of JSON into progress; returns the other lines, which say what went wrong."""
    others: list[str] = []
    while stream is not None and (line := await stream.readline()):
        text = line.decode("utf-8", "replace").strip()
        if not shown.take(_json_object(text)) and text:
            others.append(text)
    return others


def _json_object(text: str | bytes) -> dict[str, Any] | None:
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    return None


def _failure(code: int, lines: list[str]) -> EvidenceError:
    """The sentence that the command printed, as the error that its exit code stands for."""
    message, hint = "The indexing stopped.", "Run `adk-ingest all` in a terminal to see why."
    for line in lines:
        if line.startswith("error: "):
            message, hint = line.removeprefix("error: "), ""
        elif line.startswith("try: "):
            hint = line.removeprefix("try: ")
    _LOG.warning("The ingestion ended with status %d", code)
    return _ERRORS.get(code, IngestError)(message, hint)


async def _end(process: Process) -> None:
    """Ask the process to stop, then make it stop."""
    _signal(process, kill=False)
    try:
        await asyncio.wait_for(process.wait(), TERMINATE_SECONDS)
    except TimeoutError:
        _signal(process, kill=True)
        await process.wait()


def _signal(process: Process, *, kill: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill() if kill else process.terminate()
        else:
            os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)
