"""Makes the command line of a module here that is run with `python -m`."""

from __future__ import annotations

from collections.abc import Callable

import typer

from adk_evidence_console import friendly_errors


def tool(function: Callable[..., None]) -> typer.Typer:
    """A command line with the function's options, which ends with a sentence where an error stops it."""
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(friendly_errors()(function))
    return app
