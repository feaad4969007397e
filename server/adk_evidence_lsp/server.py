"""The server: pygls with the protocol of wire.py, the core behind it and the features put together."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar, cast

from lsprotocol import types
from pydantic import BaseModel
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from adk_evidence import __version__
from adk_evidence.errors import EvidenceError, InvalidRequestError, TargetsMissingError
from adk_evidence.redaction import where_raised
from adk_evidence_lsp.backend import Backend, OpenService, open_service
from adk_evidence_lsp.documents import Documents
from adk_evidence_lsp.executor import Executor, Superseding
from adk_evidence_lsp.features.code_actions import CodeActionsFeature
from adk_evidence_lsp.features.commands import CommandsFeature
from adk_evidence_lsp.features.configuration import ConfigurationFeature
from adk_evidence_lsp.features.evidence import EvidenceFeature
from adk_evidence_lsp.features.hover import HoverFeature
from adk_evidence_lsp.features.ingest import INGEST_COMMAND, IngestFeature
from adk_evidence_lsp.features.render import RenderFeature
from adk_evidence_lsp.features.show import ShowFeature
from adk_evidence_lsp.features.source import SourceFeature
from adk_evidence_lsp.features.status import StatusFeature
from adk_evidence_lsp.features.symbol import SymbolFeature
from adk_evidence_lsp.features.targets import TargetsFeature
from adk_evidence_lsp.protocol import parse_params
from adk_evidence_lsp.wire import EvidenceProtocol

_LOG = logging.getLogger(__name__)

PARENT_POLL_SECONDS = 3.0

_Params = TypeVar("_Params", bound=BaseModel)
Answer = Callable[[Any], Awaitable[Any]]


class EvidenceServer(LanguageServer):
    """The language server.

    Args:
        open_service: Makes the service behind it.
        ingest_command: The program that ingests, to which the mode and options are added.
    """

    protocol: EvidenceProtocol

    def __init__(
        self, open_service: OpenService = open_service, ingest_command: Iterable[str] = INGEST_COMMAND
    ) -> None:
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
        self.superseding = Superseding()
        self.backend = Backend(open_service)
        self.documents = Documents()
        self.answers: dict[str, Answer] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self.configuration = ConfigurationFeature(self)
        EvidenceFeature(self)
        SymbolFeature(self)
        TargetsFeature(self)
        SourceFeature(self)
        RenderFeature(self)
        self.ingest = IngestFeature(self, tuple(ingest_command))
        StatusFeature(self)
        HoverFeature(self)
        CodeActionsFeature(self)
        CommandsFeature(self)
        self.show = ShowFeature(self)
        self.feature(types.INITIALIZE)(self._make_initialize())
        self.feature(types.TEXT_DOCUMENT_DID_CLOSE)(self._make_did_close())

    def on_request(self, method: str, model: type[_Params], answer: Callable[[_Params], Awaitable[Any]]) -> None:
        """Register one of the server's own requests: `answer` gets its validated parameters."""

        async def handle(params: Any) -> Any:
            parsed = parse_params(model, params)
            await self.configuration.settled()
            return await answer(parsed)

        self.answers[method] = handle
        self.feature(method)(handle)

    def client_runs(self, command: str) -> bool:
        """Whether the client has declared that it runs a command itself."""
        experimental = self.client_capabilities.experimental
        declared = experimental.get("commands") if isinstance(experimental, dict) else None
        named = declared.get("commands") if isinstance(declared, dict) else None
        return isinstance(named, list) and command in named

    def in_background(self, work: Awaitable[Any]) -> None:
        """Start something that nobody waits for; its failure is logged."""

        async def guarded() -> None:
            try:
                await work
            except Exception as exc:
                _LOG.warning("Background work failed:\n%s", where_raised(exc))

        task = asyncio.ensure_future(guarded())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def warm_up(self) -> None:
        """Load models, index and symbols, so that the first question does not wait for them."""
        await self.executor.run(lambda cancelled: self._warm_up(cancelled))

    def _warm_up(self, cancelled: Callable[[], bool]) -> None:
        from adk_evidence.models.request import EvidenceRequest

        try:
            with self.backend.use() as service:
                with service.session() as session:
                    _ = session.symbols
                    _LOG.info("Symbols are ready")
                service.rank(EvidenceRequest(query="agent"), cancelled)
                _LOG.info("Evidence is ready")
                with suppress(TargetsMissingError):
                    service.symbols.find("agent that calls tools")
                    _LOG.info("Targets are ready")
            # What was loaded stays: a full collection that walks over all of it would stop a hover for 100 ms.
            gc.collect()
            gc.freeze()
        except EvidenceError as exc:
            _LOG.info("Not ready: %s", exc.code)

    def _make_initialize(self) -> Callable[[types.InitializeParams], None]:
        def initialize(params: types.InitializeParams) -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(_log_loop_failure)
            if sys.platform != "win32":
                # Several editors end their servers so, without a word before.
                loop.add_signal_handler(signal.SIGTERM, self.end, 1)
            self.configuration.take_initialization_options(params.initialization_options)
            # Of a client in another container or on another machine nothing can be seen.
            if params.process_id is not None and process_is_alive(params.process_id):
                self.in_background(self._watch(params.process_id))

        return initialize

    def _make_did_close(self) -> Callable[[types.DidCloseTextDocumentParams], None]:
        def did_close(params: types.DidCloseTextDocumentParams) -> None:
            self.documents.forget(params.text_document.uri)

        return did_close

    async def _watch(self, pid: int) -> None:
        """End with the client, also where something else keeps its end of the pipe open."""
        while process_is_alive(pid):
            await asyncio.sleep(PARENT_POLL_SECONDS)
        _LOG.warning("The client's process is gone")
        self.end(1)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what pygls cannot answer. It would show it to the user, over a pipe that may be gone."""
        if isinstance(error, BrokenPipeError | ConnectionError):
            _LOG.warning("The client is gone")
            self.end(1)
        if isinstance(error, ValueError | RecursionError):
            self.protocol.refuse_unreadable()
        else:
            _LOG.warning("A message failed: %s", type(error).__name__)

    def shutdown(self) -> None:
        """Stop reading. The thread that reads may wait for the client for ever: nobody waits for it."""
        if self._stop_event is not None:
            self._stop_event.set()
        self.thread_pool.shutdown(wait=False)

    def serve_stdio(self) -> None:
        """Speak with the client over standard input and output until it ends. Does not return.

        What else is written to standard output, also by native code and child processes, goes to standard error.
        """
        protocol_out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            self.start_io(stdin=cast("BinaryIO", sys.stdin.buffer), stdout=protocol_out)
        finally:
            self.end()

    def serve_tcp(self, host: str, port: int) -> None:
        """Speak with the first client that connects until it ends. Does not return.

        Args:
            host: Address to listen at.
            port: 0 lets the system choose; the log says which.
        """
        try:
            with suppress(KeyboardInterrupt, SystemExit, asyncio.CancelledError):
                asyncio.run(self._serve_connection(host, port))
        except InvalidRequestError as exc:
            sys.stderr.write(f"error: {exc.message}\n  try: {exc.hint}\n")
            self.end(exc.exit_code)
        finally:
            self.end()

    async def _serve_connection(self, host: str, port: int) -> None:
        from threading import Event

        self._stop_event = Event()
        connection: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        connection = asyncio.get_running_loop().create_future()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if connection.done():
                writer.close()
            else:
                connection.set_result((reader, writer))

        try:
            listener = await asyncio.start_server(connected, host, port)
        # A name that no machine has, a port that is taken, a name that is none.
        except (OSError, ValueError) as exc:
            reason = getattr(exc, "strerror", None) or "it is no address"
            message = f"The server cannot listen at {host!r} port {port}: {reason}."
            raise InvalidRequestError(message, "Choose another --host or --port.") from exc
        address = listener.sockets[0].getsockname()
        _LOG.warning("Listening at %s port %s", address[0], address[1])
        reader, writer = await connection
        listener.close()
        self.protocol.set_writer(writer)
        await run_async(self._stop_event, reader, self.protocol, error_handler=self.report_server_error)

    def end(self, code: int | None = None) -> None:
        """Stop all work and end the process, whatever threads are still doing."""
        self.ingest.kill()
        self.executor.stop()
        self.show.clear()
        with suppress(Exception):
            self.backend.close()
        logging.shutdown()
        asked = self.protocol._shutdown
        os._exit(code if code is not None else 0 if asked else 1)


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


def configure_logging(level: str) -> None:
    """Log to standard error.

    Args:
        level: `debug`, `info`, `warning` or `error`.
    """
    logging.basicConfig(
        stream=sys.stderr, level=level.upper(), format="%(levelname)s %(name)s: %(message)s", force=True
    )
    # It logs the bodies of messages, at every level.
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
