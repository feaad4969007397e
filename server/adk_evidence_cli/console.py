"""What both command lines share: consoles, error sentences and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from adk_evidence.settings import Settings

INTERRUPTED = 130
Roots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        help="Folder below which agents may index; repeatable. [default: the working folder]",
        show_default=False,
    ),
]


def write_utf8() -> None:
    """Make output UTF-8 where it goes into a file or a pipe, and never fail for what a terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def read_stdin() -> str:
    """Everything on standard input, as UTF-8; bytes that are not are replaced."""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def stdout() -> Console:
    """The console for answers."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the process with 1; for `friendly_errors` a reader that has seen enough is no failure.
            raise BrokenPipeError

    return Output(highlight=False, soft_wrap=False)


def stderr() -> Console:
    """The console for progress and problems."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn expected failures into one sentence on stderr and an exit code that means something.

    Exit codes: 2 wrong usage or settings, 3 source, 4 model, 5 index, 6 ingestion, 7 verification, 130 interrupted.
    """
    from adk_evidence.errors import EvidenceError

    try:
        yield
    except EvidenceError as exc:
        _complain(exc.message, exc.hint)
        raise typer.Exit(exc.exit_code) from None
    except KeyboardInterrupt:
        _complain("Interrupted.", "What was finished is kept; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone; Python must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _complain(message: str, hint: str) -> None:
    from rich.text import Text

    from adk_evidence.render.sanitize import visible

    console = stderr()
    console.print(Text.assemble(("error: ", "bold red"), visible(message)), soft_wrap=True)
    if hint:
        console.print(Text.assemble(("  try: ", "bold"), visible(hint)), soft_wrap=True)


def named_path(given: str, option: str) -> str:
    """A path that the command line names.

    Raises:
        InvalidRequestError: It is empty, which would otherwise mean the working folder.
    """
    from adk_evidence.errors import InvalidRequestError

    if not given.strip():
        raise InvalidRequestError(f"The path of {option} is empty.", f"Name a path, or leave {option} out.")
    return given


def path_argument(given: str) -> Path:
    """A path of the command line, for `parser` of options; an empty one is refused."""
    if not given.strip():
        raise typer.BadParameter("the path is empty.")
    return Path(given)


def settings_from(
    profile: str | None = None, home: str | None = None, roots: Sequence[str] | None = None, **overrides: Any
) -> Settings:
    """Settings with what the command line said on top; `roots` are folders that agents may index.

    Raises:
        InvalidRequestError: A path is empty.
        SettingsError: The settings are not valid.
    """
    from adk_evidence.settings import load_settings

    if home:  # an empty variable of a script is no home
        overrides["home"] = home
    if roots:
        overrides["agents"] = {"roots": [named_path(root, "--root") for root in roots]}
    return load_settings(overrides, profile=profile)
