"""`adk-evidence lint`: checks Python code against a version of the ADK, for people and for tools."""

from __future__ import annotations

import gc
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from adk_evidence.checks import remarks
from adk_evidence.checks.code import check_code, unread
from adk_evidence.checks.corpus import files_of_folder
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.errors import SourceError
from adk_evidence.models.code import CodeCheck, CodeProblem
from adk_evidence.render.sanitize import one_line
from adk_evidence_console import counted
from adk_evidence_console.sarif import Finding, Rule

_UNREAD = "unread-code"
RULES = (
    Rule(_UNREAD, "The code, or a part of it, could not be read.", "warning"),
    *(Rule(code, text, "note" if kind == "deprecated" else "error") for kind, (code, text) in remarks.RULES.items()),
)


@dataclass(frozen=True)
class Linted:
    """A file, and what was found in it."""

    path: Path
    found: CodeCheck


def python_files(paths: Iterable[Path]) -> list[Path]:
    """The Python files that are named or lie below folders; a file that is named twice is listed once.

    A file that is named is read as Python, whatever its name.

    Raises:
        SourceError: A path is not there, or no file was named and the folders hold no Python file.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        files = [path] if path.is_file() else [file.disk for file in files_of_folder(path) if file.lang == "py"]
        for file in files:
            found.setdefault(file.resolve(), file)
    if not found:
        raise SourceError("There is no Python file to check.", "Name Python files, or folders that hold some.")
    return list(found.values())


def text_of(path: Path) -> str | None:
    """The text of a Python file; None where it cannot be read as Python."""
    try:
        # Reads the line that names another encoding than UTF-8, as Python does.
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, ValueError):
        return None


def lint(checker: DriftChecker, files: Iterable[Path]) -> list[Linted]:
    """Check Python files. A file that cannot be read is told, and is no error."""
    # Trees are many small objects, and looking for garbage among them takes a quarter of the time.
    gc.set_threshold(20_000)
    texts = ((file, text_of(file)) for file in files)
    lacking = unread(checker, "The file cannot be read as Python.")
    return [Linted(file, lacking if text is None else check_code(checker, text)) for file, text in texts]


def _problems(linted: Iterable[Linted]) -> Iterator[tuple[str, CodeProblem, str]]:
    """The problems with the paths of their files and the codes of their rules."""
    for one in linted:
        for problem in one.found.problems:
            yield str(one.path), problem, _UNREAD if problem.kind == "unread" else remarks.CODES[problem.kind]


def _confirmed(linted: Iterable[Linted]) -> set[str]:
    return {name for one in linted for name in one.found.confirmed}


def has_errors(linted: Iterable[Linted]) -> bool:
    return any(one.found.errors for one in linted)


def show_text(linted: Sequence[Linted], checker: DriftChecker, out: Console) -> None:
    """A line for each problem, as compilers write them: editors and terminals turn these into links."""
    for path, problem, code in _problems(linted):
        told = f"{one_line(path)}:{problem.line}: {one_line(problem.text)} [{code}]"
        out.print(Text(told, "" if problem.is_error else "dim"), soft_wrap=True)
    errors = sum(one.found.errors for one in linted)
    notes = sum(len(one.found.problems) for one in linted) - errors
    names = _confirmed(linted)
    beside = len(names) - (own := sum(map(checker.is_own, names)))
    others = f" and {counted(beside, 'name')} of other packages" if beside else ""
    version = f"{checker.version} and what is installed" if beside else checker.version
    counts = [counted(errors, "problem"), *([counted(notes, "note")] if notes else [])]
    fitting = f"{counted(own, 'name')} of google-adk{others} in {counted(len(linted), 'file')} fit {version}"
    out.print(Text(f"{' and '.join(counts)}; {fitting}."), soft_wrap=True)


def as_json(linted: Sequence[Linted], version: str) -> dict[str, Any]:
    problems = [{"path": path, "code": code, **problem.model_dump()} for path, problem, code in _problems(linted)]
    return {"version": version, "files": len(linted), "problems": problems, "confirmed": sorted(_confirmed(linted))}


def findings(linted: Iterable[Linted]) -> list[Finding]:
    each = _problems(linted)
    return [Finding(code, problem.text, path, problem.line, key=problem.symbol) for path, problem, code in each]
