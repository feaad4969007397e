"""The server from its start to its end, and what its requests share; `features.py` adds the requests."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.workspace import TextDocument

from adk_evidence import __version__
from adk_evidence.commands import remember_options
from adk_evidence.desk import Desk, OpenService, open_service
from adk_evidence.errors import EvidenceError, TargetsMissingError
from adk_evidence.services.eventloop import Cancelled
from adk_evidence.settings import load_settings
from adk_evidence.text.redaction import where_raised
from adk_evidence_lsp.configuration import Configuration
from adk_evidence_lsp.documents import Documents, Snapshot
from adk_evidence_lsp.executor import Executor
from adk_evidence_lsp.projects import Project, project_at, projects_of, used_adk
from adk_evidence_lsp.protocol import ClientSettings
from adk_evidence_lsp.wire import EvidenceProtocol
from adk_ingest.indexes.freshness import Freshness

_LOG = logging.getLogger(__name__)
# pygls logs the bodies of messages, at every level.
logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)

_Kind = TypeVar("_Kind")
PARENT_POLL_SECONDS = 3.0
# How long work that can wait looks away while a question is answered.
QUIET_SECONDS = 0.05


class EvidenceServer(LanguageServer):
    """The language server and the state that its requests share."""

    protocol: EvidenceProtocol

    def __init__(self, open_service: OpenService = open_service) -> None:
        super().__init__(
            "adk-evidence",
            __version__,
            # Incremental changes would be applied to lines as pygls counts them, which differ from the editor's
            # behind a form feed.
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=EvidenceProtocol,
            converter_factory=default_converter,
        )
        self.executor = Executor()
        self.desk = Desk(load_settings, used_adk, open_service, Freshness())
        self._place: tuple[str | None, str | None] = (None, None)
        self.documents = Documents()
        self.configuration = Configuration(self, self.configure)
        self.ingesting = False
        # Callbacks that stop the server's parts at its end. The last one is called first.
        self.at_end = ExitStack()
        self._background: set[asyncio.Task[Any]] = set()

    def configure(self, client: ClientSettings) -> None:
        """Take the client's home and profile; if they changed, other indexes answer from now on."""
        remember_options(client.home, client.profile)
        place = (client.home, client.profile)
        if place == self._place:
            return
        self._place = place
        self.desk.change(partial(load_settings, {"home": client.home} if client.home else {}, profile=client.profile))
        _LOG.info("Home or profile changed: the index is opened anew")

    def snapshot(self, uri: str) -> Snapshot:
        """The current version of an open document.

        Raises:
            JsonRpcInvalidParams: The document is not open. The server reads no files from the disk for a client.
        """
        # pygls keeps documents by their decoded addresses: those with spaces, or of a Windows drive, are encoded.
        document = self.workspace.text_documents.get(unquote(uri))
        if document is None:
            raise JsonRpcInvalidParams("The document is not open in the editor.")
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return Snapshot(uri, document.version, document.source, _language(document), encoding)

    def projects(self) -> list[Project]:
        """The projects of the workspace's folders."""
        # Editors that know one folder alone send it as the root.
        root = self.workspace.root_uri
        folders = [folder.uri for folder in self.workspace.folders.values()] or ([root] if root else [])
        return projects_of(folders, self.configuration.client.interpreters)

    def project(self, uri: str | None, folder: str | None = None) -> Project | None:
        """The project of a document, or else of a folder."""
        return project_at(uri if uri is not None else folder, self.projects())

    def client_runs(self, command: str) -> bool:
        """Whether the client has declared that it runs a command itself."""
        match self.client_capabilities.experimental:
            case {"commands": {"commands": list(named)}}:
                return command in named
        return False

    @property
    def tells_diagnostics(self) -> bool:
        """Whether the client asks for diagnostics, and its user wants them."""
        text = self.client_capabilities.text_document
        return text is not None and text.diagnostic is not None and self.configuration.client.diagnostics.enabled

    def structured(self, value: dict[str, Any], kind: type[_Kind]) -> _Kind:
        """What `remarks.py` has made, as pygls takes it."""
        return self.protocol._converter.structure(value, kind)

    def in_background(self, work: Awaitable[Any]) -> None:
        """Start something that nobody waits for. A failure is logged."""

        async def guarded() -> None:
            try:
                await work
            except Exception as exc:
                _LOG.warning("Background work failed:\n%s", where_raised(exc))

        task = asyncio.ensure_future(guarded())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def refresh_diagnostics(self) -> None:
        """Ask a client that can do so to ask for all diagnostics again."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
            self.in_background(self.workspace_diagnostic_refresh_async(None))

    def warm_up(self) -> None:
        """Load models, index and symbols in the background, so that the first question does not wait for them."""

        async def after_questions() -> None:
            # Questions that have waited for the settings begin first.
            await asyncio.sleep(QUIET_SECONDS)
            # A new one ends the one before, whose index may be replaced by now.
            await self.executor.run(self._warm_up, lane="care", key="warm-up")

        self.in_background(after_questions())

    def _warm_up(self, cancelled: Cancelled) -> None:
        from adk_evidence.models.request import EvidenceRequest
        from adk_evidence.search.context import Context

        try:
            projects = self.projects()
            self._give_way(cancelled)
            with (
                self.desk.use(projects[0] if projects else None) as (service, _),
                service.session(Context(cancelled, logged=False)) as session,
            ):
                # First, as most users ask before they hover. In words, as most questions are: names are encoded
                # otherwise, as the search for symbols below is. The whole pack, whose tables no ranking needs.
                session.find(EvidenceRequest(query="how does an agent call a tool?"))
                _LOG.info("Evidence is ready")
                self._read_symbols(projects, cancelled)
                self._give_way(cancelled)
                with suppress(TargetsMissingError):
                    service.symbols.find("agent that calls tools")
                    _LOG.info("Targets are ready")
                # Otherwise, the first questions would each wait for the pages that they show.
                for _ in session.check_pages():
                    self._give_way(cancelled)
                    if cancelled():
                        return
                _LOG.info("Pages are checked")
        except EvidenceError as exc:
            _LOG.info("Not ready: %s", exc.code)
            gc.enable()  # no answer has done it

    def _read_symbols(self, projects: list[Project], cancelled: Cancelled) -> None:
        """Read what the indexes of all projects define. The indexes stay open."""
        for project in projects or (None,):
            self._give_way(cancelled)
            with self.desk.session(project) as (session, _):
                _ = session.symbols
                session.index.give_back_pages()
        _LOG.info("Symbols are ready")

    def _give_way(self, cancelled: Cancelled) -> None:
        """Wait while a question is answered: it loads what it needs, and would share the interpreter with this work."""
        while self.executor.questions.use().running and not cancelled():
            time.sleep(QUIET_SECONDS)

    def begin(self, params: types.InitializeParams) -> None:
        """Begin to serve the client that sends `initialize`."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_log_loop_failure)
        # Takes a third of a second, while the client and the server exchange what they can and what is set.
        self.in_background(self.executor.run(lambda _: import_module("adk_evidence.search.session"), lane="care"))
        if sys.platform != "win32":
            # Several editors end their servers with this signal alone.
            loop.add_signal_handler(signal.SIGTERM, self.end, 1)
        if isinstance(params.initialization_options, dict):
            # The settings of a client that cannot be asked for them: the section's content.
            self.configuration.take(params.initialization_options)
        # The process of a client in another container or on another machine cannot be seen.
        if params.process_id is not None and process_is_alive(params.process_id):
            self.in_background(self._watch(params.process_id))

    async def _watch(self, pid: int) -> None:
        """End with the client, even where another process keeps the client's end of the pipe open."""
        while process_is_alive(pid):
            await asyncio.sleep(PARENT_POLL_SECONDS)
        _LOG.warning("The client's process is gone")
        self.end(1)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what pygls cannot answer. pygls itself would tell the user, over a pipe that may be gone."""
        if isinstance(error, BrokenPipeError | ConnectionError):
            _LOG.warning("The client is gone")
            self.end(1)
        if isinstance(error, ValueError | RecursionError):
            self.protocol.refuse_unreadable()
        else:
            _LOG.warning("A message failed: %s", type(error).__name__)

    def shutdown(self) -> None:
        """Stop reading. Do not wait for the thread that reads, which may wait for the client for ever."""
        if self._stop_event is not None:
            self._stop_event.set()
        self.thread_pool.shutdown(wait=False)

    def serve_stdio(self) -> None:
        """Speak with the client over standard input and output until the client ends. Does not return.

        All other output, also that of native code and child processes, goes to standard error.
        """
        protocol_out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            self.start_io(stdin=cast("BinaryIO", sys.stdin.buffer), stdout=protocol_out)
        finally:
            self.end()

    def end(self, code: int | None = None) -> None:
        """Stop all work and end the process, whatever threads are still doing."""
        with suppress(Exception):
            self.at_end.close()
        logging.shutdown()
        asked = self.protocol._shutdown
        os._exit(code if code is not None else 0 if asked else 1)


def _language(document: TextDocument) -> str:
    if document.language_id:
        return document.language_id
    return "python" if (document.filename or "").endswith((".py", ".pyi")) else ""


def process_is_alive(pid: int) -> bool:
    """Whether a process of this machine runs."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _windows_process_is_alive(pid)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _windows_process_is_alive(pid: int) -> bool:
    # os.kill(pid, 0) would end the process there.
    synchronize, still_running = 0x00100000, 0x102
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_running)
    finally:
        kernel.CloseHandle(handle)


def _log_loop_failure(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # The message of the failure, and the task's name, may quote a document.
    _LOG.warning("The event loop met a failure: %s", type(context.get("exception")).__name__)
