"""`adk-evidence serve`: the servers for editors and for agents."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence_console import INTERRUPTED, CommandLine, Home, Profile, Roots, settings_from
from adk_evidence_console.pinned import Adk, Project, Python, check_pinned, detected_adk, wanted_adk

if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.settings import Settings

app = CommandLine("Serve editors and agents.")

LogLevel = Annotated[Literal["debug", "info", "warning", "error"], typer.Option(help="How much to log to stderr.")]


def lacks_sdk() -> EvidenceError:
    hint = 'Run `pip install "adk-evidence[mcp]"`.'
    return EvidenceError("The MCP SDK, which the server for agents needs, is not installed.", hint)


@app.callback()
def _root() -> None:
    """Serve editors and agents."""


@app.command()
def lsp(log_level: LogLevel = "warning") -> None:
    """Run the language server over stdin and stdout; its settings come from the client."""
    from adk_evidence_lsp.stdio import run

    run(log_level)


@app.command()
def mcp(
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            help="Serve streamable HTTP at this port of 127.0.0.1 instead of stdio; 0 chooses one. Clients must show "
            "a token.",
            min=0,
            max=65535,
        ),
    ] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="With --http: let every user of this machine in, without a token.")
    ] = False,
    allow_indexing: Annotated[
        bool, typer.Option("--allow-indexing", help="With --http: offer the tools that index and delete, too.")
    ] = False,
    adk: Adk = None,
    project: Project = None,
    python: Python = None,
    profile: Profile = None,
    home: Home = None,
    roots: Roots = None,
    log_level: LogLevel = "warning",
) -> None:
    """Run the Model Context Protocol server: evidence, symbols and sources as tools for agents.

    Answers are for the google-adk that the options name, else for the one that the project in the working folder uses.
    """
    from adk_evidence_agents.session import AgentSession

    for option, given in (("--no-auth", no_auth), ("--allow-indexing", allow_indexing)):
        if given and http is None:
            raise InvalidRequestError(f"{option} goes with --http.", f"Add --http PORT, or leave {option} out.")
    try:
        from adk_evidence_mcp.http import serve_http
        from adk_evidence_mcp.server import serve_stdio
    except ModuleNotFoundError as exc:
        raise lacks_sdk() from exc
    from adk_evidence.telemetry import log_to_stderr

    log_to_stderr(log_level)
    check_pinned(adk, project, python)

    def find_adk(settings: Settings, _: Hashable) -> ProjectAdk | None:
        if project is not None:
            # The project may not use google-adk yet.
            return wanted_adk(adk, project, python, required=False)
        return wanted_adk(adk, project, python) or detected_adk(settings)

    session = AgentSession(lambda: settings_from(profile, home, roots), find_adk)
    if http is None:
        serve_stdio(session)
        return
    try:
        serve_http(
            session,
            http,
            lambda sentence: typer.echo(sentence, err=True),
            auth=not no_auth,
            indexing=allow_indexing,
        )
    except KeyboardInterrupt:  # the way to end a server
        raise typer.Exit(INTERRUPTED) from None
