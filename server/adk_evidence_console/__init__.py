"""What the command lines share: consoles, tables, error sentences and exit codes."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.removed import instead_of
from adk_evidence.text.textfile import decode_any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from adk_evidence.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])
Result = TypeVar("Result")
# Exit code of a program that Ctrl-C ended.
INTERRUPTED = 130
Home = Annotated[str | None, typer.Option("--home", help="Folder of the index and caches.", show_default=False)]
Profile = Annotated[str | None, typer.Option("--profile", help="Set of models and stores.", show_default=False)]
# What findings are printed for: people, programs, code scanning, or annotations of GitHub.
Form = Literal["text", "json", "sarif", "github"]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown to paste.")]
_MAX_LOG_BYTES = 1_000_000
_MIN_COLUMNS = 20
# Where no terminal tells how wide the output is: in a file, in the log of a job, for a program.
_FILE_COLUMNS = 160
# Headings of columns that hold numbers.
_NUMBERS = (
    "files",
    "changed",
    "removed",
    "chunks",
    "with questions",
    "nothing to ask",
    "missing",
    "tokens",
    "warnings",
    "MB",
)
# The home folder of the settings that were loaded last.
_home: Path | None = None


def write_utf8() -> None:
    """Make output UTF-8 where it goes into a file or a pipe, and never fail for what a terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def read_stdin() -> str:
    """Standard input by its byte-order mark, else as UTF-8; what is wrong is replaced. Empty where it is closed."""
    return "" if sys.stdin is None else decode_any(sys.stdin.buffer.read())


def stdout() -> Console:
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            # rich would exit with 1; `friendly_errors` treats a reader that has seen enough as success.
            raise BrokenPipeError

    console = Output(highlight=False, soft_wrap=False)
    streams = (sys.stdin, sys.stdout, sys.stderr)
    # With `| less`, the terminal of another stream is read on.
    is_told = "COLUMNS" in os.environ or any(stream is not None and stream.isatty() for stream in streams)
    # COLUMNS=0, which some terminals without a size set, would print nothing.
    console.width = max(console.width, _MIN_COLUMNS) if is_told else _FILE_COLUMNS
    return console


def stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print a sentence on one line; characters that a terminal would obey become visible."""
    from adk_evidence.render.sanitize import visible

    console.print(visible(text), markup=False, style=style, soft_wrap=True)


def table(*columns: str, fold: bool = False) -> Table:
    """A table without lines; columns of numbers stand at the right.

    Args:
        columns: Their headings.
        fold: Break words that are too long for a column instead of cutting them off.
    """
    from rich.table import Table

    empty = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        empty.add_column(
            column,
            justify="right" if column in _NUMBERS else "left",
            no_wrap=fold and column in _NUMBERS,
            overflow="fold" if fold else "ellipsis",
        )
    return empty


def show(result: Result, view: Callable[[Result, Console], None], *, as_json: bool) -> None:
    """Print the result of a command: by a view for people, or as one line of JSON."""
    if as_json:
        write_json(stdout(), result)
    else:
        view(result, stdout())


def write_json(console: Console, data: object) -> None:
    """Print a model, plain data or dataclasses as one line of JSON."""
    from pydantic import BaseModel

    def plain(value: Any) -> object:
        return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)

    if isinstance(data, BaseModel):
        text = data.model_dump_json()
    else:
        text = json.dumps(data, ensure_ascii=False, default=plain)
    console.file.write(text + "\n")


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn failures into a sentence on stderr and an exit code; the home folder's log has the place of unexpected ones.

    Exit codes: 2 wrong usage or settings, 3 source, 4 model, 5 index, 6 ingestion, 7 verification, 130 interrupted,
    1 anything else.
    """
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
    except OSError as exc:
        place = f"{exc.filename} cannot be used" if exc.filename else "The system refuses what this needs"
        _complain(
            f"{place}: {exc.strerror or type(exc).__name__}.", "Check the permissions, and the free space on its disk."
        )
        raise typer.Exit(1) from None
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as exc:
        log = _log_failure(exc)
        where = f"Please report this with the end of {log}." if log else "Please report this."
        _complain(f"This failed unexpectedly ({type(exc).__name__}), by a fault of the program.", where)
        raise typer.Exit(1) from None


def _refuse_removed(context: typer.Context, word: str) -> None:
    """Say what to do instead where a word behind the commands of a context was removed; exit code 2."""
    words = [word]
    above: Any = context
    while above.parent is not None:
        words.insert(0, str(above.info_name))
        above = above.parent
    if instead := instead_of(" ".join([str(above.command.name), *words])):
        with friendly_errors():
            raise InvalidRequestError(f"{word} was removed.", instead)


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for word in args:
            if word.startswith("-"):
                _refuse_removed(ctx, word.partition("=")[0])
        return super().parse_args(ctx, args)


class _Commands(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args:
            _refuse_removed(ctx, args[0])
        return super().resolve_command(ctx, args)


class CommandLine(typer.Typer):
    """An app whose commands say in a sentence what stopped them; see `friendly_errors`."""

    def __init__(self, help: str, name: str | None = None) -> None:
        super().__init__(
            name=name,
            help=help,
            cls=_Commands,
            no_args_is_help=True,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
        )

    def command(self, name: str | None = None, **options: Any) -> Callable[[Command], Command]:
        register = super().command(name, cls=_Command, **options)
        return lambda function: register(friendly_errors()(function))


def _log_failure(exc: Exception) -> Path | None:
    """Write the place of an unexpected failure into the home folder's log; None where that cannot be written."""
    from adk_evidence import __version__
    from adk_evidence.paths import Home, default_home
    from adk_evidence.text.redaction import where_raised

    try:
        log = Home(_home or default_home()).error_log
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
            log.replace(log.with_suffix(".1.log"))
        with log.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {__version__}\n{where_raised(exc)}\n")
    except (OSError, EvidenceError):
        return None
    return log


def _complain(message: str, hint: str) -> None:
    from rich.text import Text

    from adk_evidence.render.sanitize import visible

    console = stderr()
    console.print(Text.assemble(("error: ", "bold red"), visible(message)), soft_wrap=True)
    if hint:
        console.print(Text.assemble(("  try: ", "bold"), visible(hint)), soft_wrap=True)


def path_argument(given: str) -> Path:
    # An empty path would be the working folder.
    if not given.strip():
        raise typer.BadParameter("the path is empty.")
    return Path(given)


def path_option(about: str, *names: str, **more: Any) -> Any:
    """An option that takes a path; an empty path is refused."""
    return typer.Option(*names, parser=path_argument, metavar="PATH", help=about, **more)


Roots = Annotated[
    list[Path] | None,
    path_option(
        "Folder below which agents may index; repeatable. [default: the working folder]", "--root", show_default=False
    ),
]


def settings_from(
    profile: str | None = None, home: str | None = None, roots: Sequence[Path] | None = None, **overrides: Any
) -> Settings:
    """Settings with the options of the command line on top; `roots` are folders that agents may index."""
    from adk_evidence.commands import remember_options
    from adk_evidence.settings import load_settings

    remember_options(home, profile)
    if home:  # an empty variable of a script is no home
        overrides["home"] = home
    if roots:
        overrides["agents"] = {"roots": list(roots)}
    global _home
    settings = load_settings(overrides, profile=profile)
    _home = settings.paths.root
    return settings


def counted(number: int, word: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
