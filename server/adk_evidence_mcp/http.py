"""Streamable HTTP on this machine: the port, and the token that a client must show."""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from adk_evidence.errors import EvidenceError, SettingsError
from adk_evidence.files import write_private
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.server import make_server

LOOPBACK = "127.0.0.1"
VARIABLE = "ADK_EVIDENCE_MCP_TOKEN"
MIN_TOKEN_CHARS = 16
# A client that keeps its stream open must not keep the server from ending.
SHUTDOWN_SECONDS = 3
OPEN_TO_ALL = "WARNING: --no-auth lets every user and program of this machine call the tools and read what is indexed."
_TOKEN_BYTES = 32
# The tokens that the header can carry (RFC 6750, section 2.1).
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


class PortError(EvidenceError):
    """A port cannot be served."""

    code = "port_unavailable"
    exit_code = 2


def serve_http(
    session: AgentSession,
    port: int,
    tell: Callable[[str], None],
    *,
    auth: bool = True,
    indexing: bool = False,
) -> None:
    """Serve streamable HTTP at `/mcp` on the loopback address until the process is stopped.

    Args:
        session: Opens the indexes; closed at the end.
        port: 0 to 65535; 0 chooses one.
        tell: Gets the address, and how clients identify themselves, once the port is taken.
        auth: Require a bearer token: the value of `VARIABLE`, else a new token in a file that only its owner can read.
        indexing: See `make_server`.
    """
    try:
        with _listening(port) as listener:
            at = listener.getsockname()[1]
            with _token(session, at) if auth else nullcontext((None, OPEN_TO_ALL)) as (token, advice):
                app = _app(make_server(session, indexing=indexing), token)
                server = uvicorn.Server(
                    uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=SHUTDOWN_SECONDS)
                )
                # uvicorn raises the signal again at its end; the default handler would leave the token's file behind.
                signal.signal(signal.SIGTERM, _end)
                # A closed terminal sends SIGHUP; a process under `nohup` ignores the signal already.
                if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
                    signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
                tell(f"Serving at http://{LOOPBACK}:{at}/mcp")
                tell(advice)
                anyio.run(lambda: server.serve(sockets=[listener]))
    finally:
        session.close()


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


class _OneToken:
    """Accepts one token."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        if not secrets.compare_digest(token.encode(), self._token):
            return None
        return AccessToken(token="", client_id="owner", scopes=[])


def _app(server: Server[dict[str, Any]], token: str | None) -> Starlette:
    # A name of the loopback address also makes the SDK refuse other hosts and origins (DNS rebinding).
    if token is None:
        return server.streamable_http_app(host=LOOPBACK)
    verifier = _OneToken(token)
    app = server.streamable_http_app(host=LOOPBACK, token_verifier=verifier)
    app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    return app


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if os.name == "posix":
            # Lets us take a port whose last connections are still closing; on Windows we would share a used port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()
        except OSError as exc:
            reason = (exc.strerror or str(exc)).lower()
            raise PortError(
                f"The port {port} of {LOOPBACK} cannot be served: {reason}.",
                "Choose another port with --http, or end the program that uses this one.",
            ) from exc
        yield listener


@contextmanager
def _token(session: AgentSession, port: int) -> Iterator[tuple[str, str]]:
    """The token, and a sentence that says where the token is; a file that holds the token is removed at the end."""
    header = 'Clients must send the header "Authorization: Bearer TOKEN".'
    # Scripts set empty variables.
    if chosen := os.environ.get(VARIABLE):
        if len(chosen) < MIN_TOKEN_CHARS or not _TOKEN.fullmatch(chosen):
            raise SettingsError(
                f"The token in {VARIABLE} is not valid.",
                f"Use at least {MIN_TOKEN_CHARS} letters, digits and the characters - . _ ~ + /.",
            )
        yield chosen, f"{header} The token is the value of {VARIABLE}."
        return
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    file = session.settings.paths.mcp_token(port)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file, token.encode())
    except OSError as exc:
        raise SettingsError(
            f"The file of the token, {file}, cannot be written: {exc.strerror or exc}.",
            f"Check the permissions of the folder, or set {VARIABLE}.",
        ) from exc
    try:
        yield (
            token,
            f"{header} The token is in {file}, which only you can read. Each start makes a new token; set "
            f"{VARIABLE} to choose one that stays.",
        )
    finally:
        file.unlink(missing_ok=True)
