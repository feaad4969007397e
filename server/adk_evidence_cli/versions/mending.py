"""What mends files, as `lint --fix`, `lint --diff` and `upgrade` show and write it."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.mend import Mend, mend_bytes
from adk_evidence.checks.remarks import CODES
from adk_evidence.errors import SourceError
from adk_evidence.files import write_private
from adk_evidence.render.sanitize import one_line, visible
from adk_evidence.settings import Settings
from adk_evidence_cli.versions.linting import Linted
from adk_evidence_console import counted, say, stderr

if TYPE_CHECKING:
    from adk_evidence.api.release import Side


@dataclass(frozen=True)
class Mended:
    """A file with the bytes that it has, those that it gets, and what was mended."""

    path: Path
    before: bytes
    after: bytes
    mends: tuple[Mend, ...]


# Gives the citation of the code that shows why something was mended; empty where that code is not on this machine.
Cite = Callable[[Mend], str]


def mend(checker: DriftChecker, files: Iterable[Path], *, likely: bool) -> Iterator[Mended]:
    """What mends Python files; nothing is written. Files that need nothing, or cannot be read, are left out.

    Args:
        checker: Knows the version.
        files: Python files.
        likely: Whether fixes count, too, that somebody should look at.
    """
    for file in files:
        try:
            before = file.read_bytes()
        except OSError:
            continue
        found = mend_bytes(checker, before, likely=likely)
        if found is not None and found[1].mends:
            yield Mended(file, before, found[0], found[1].mends)


def write(mended: Iterable[Mended]) -> None:
    """Write mended files, each in one step.

    Raises:
        SourceError: A file cannot be written; the files before it are.
    """
    for one in mended:
        try:
            # A link stays a link.
            target = one.path.resolve()
            write_private(target, one.after, target.stat().st_mode & 0o7777)
        except OSError as exc:
            raise SourceError(f"{one.path} cannot be written.", "Allow this user to write the file.") from exc


def show(mended: Iterable[Mended], cite: Cite, out: Console) -> None:
    """A line for each fix: what was done, why, and where the code is that shows that."""
    for one in mended:
        for fix in one.mends:
            where = cite(fix)
            cited = f" ({one_line(where)})" if where else ""
            since = f" This is so since {fix.since}." if fix.since else ""
            told = f"{one_line(f'{fix.title}. {fix.remark.text}{since}')}{cited} [{CODES[fix.remark.kind]}]"
            out.print(Text(f"{one_line(str(one.path))}:{fix.remark.line + 1}: {told}"), soft_wrap=True)


def as_json(mended: Iterable[Mended], cite: Cite) -> list[dict[str, Any]]:
    return [
        {"path": str(one.path), "line": fix.remark.line + 1, "code": CODES[fix.remark.kind], "title": fix.title}
        | {"text": fix.remark.text, "since": fix.since, "citation": cite(fix)}
        for one in mended
        for fix in one.mends
    ]


def citing(settings: Settings, checker: DriftChecker, python: Path | None) -> Cite:
    """Cites the code of a version where it is on this machine, be it in the environment of a project."""

    @functools.cache
    def side() -> Side | None:
        from adk_evidence.api.release import Side
        from adk_ingest.releases.wheels import release_here

        release = release_here(settings, checker.version, python)
        return Side(release, checker.api) if release is not None else None

    def cite(fix: Mend) -> str:
        from adk_evidence.api.changes import cited_in

        code = side()
        return cited_in(code, fix.remark.cited or fix.remark.symbol) if code else ""

    return cite


def show_diff(mended: Sequence[Mended], out: Console) -> None:
    """Print the unified diff of all files, as `patch -p0` takes it, and how much that is on standard error."""
    for one in mended:
        texts = (data.decode("utf-8", "replace").split("\n") for data in (one.before, one.after))
        before, after = ([f"{line}\n" for line in text[:-1]] + text[-1:] * bool(text[-1]) for text in texts)
        for line in difflib.unified_diff(before, after, str(one.path), str(one.path)):
            told = line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            out.file.write(visible(told) if out.is_terminal else told)
    say(stderr(), f"Would mend {tally(mended)}.")


def offer(checker: DriftChecker, linted: Iterable[Linted]) -> str:
    """A sentence on what --fix would mend; empty where that is nothing."""
    files = [one.path for one in linted if one.found.problems]
    certain, both = (sum(len(one.mends) for one in mend(checker, files, likely=likely)) for likely in (False, True))
    told = [*([f"{certain} by --fix"] if certain else []), *([f"{both} by --fix --unsafe"] if both > certain else [])]
    return f"Can be mended: {', '.join(told)}." if told else ""


def tally(mended: Sequence[Mended]) -> str:
    """How much was mended: `3 problems in 2 files`."""
    return f"{counted(sum(len(one.mends) for one in mended), 'problem')} in {counted(len(mended), 'file')}"
