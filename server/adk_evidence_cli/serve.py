"""`adk-evidence serve`: the servers for editors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

app = typer.Typer(help="Serve editors.", no_args_is_help=True, rich_markup_mode=None)

DEFAULT_PORT = 4389


class LogLevel(StrEnum):
    """How much is logged to standard error."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


@app.callback()
def _root() -> None:
    """Serve editors."""


@app.command()
def lsp(
    tcp: Annotated[bool, typer.Option("--tcp", help="Wait for one client on TCP instead of stdin and stdout.")] = False,
    host: Annotated[str, typer.Option(help="Address of --tcp; others than this machine may read the corpora.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port of --tcp; 0 chooses one.", min=0, max=65535)] = DEFAULT_PORT,
    log_level: Annotated[LogLevel, typer.Option(help="How much to log to stderr.")] = LogLevel.warning,
) -> None:
    """Run the language server; its settings come from the client."""
    from adk_evidence_lsp.server import EvidenceServer, configure_logging

    configure_logging(log_level.value)
    server = EvidenceServer()
    if tcp:
        server.serve_tcp(host, port)
    else:
        server.serve_stdio()
