"""`adk-evidence lint`: checks Python code against a version of the ADK, for people and for tools."""

from __future__ import annotations

import gc
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from adk_evidence.checks.code import check_code, unread
from adk_evidence.checks.corpus import files_of_folder
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.remarks import CODES
from adk_evidence.errors import SourceError
from adk_evidence.models.code import CodeCheck, CodeProblem
from adk_evidence.render.sanitize import one_line
from adk_evidence_console import counted
from adk_evidence_console.sarif import Finding, Rule

_UNREAD = "unread-code"
RULES = (
    Rule(_UNREAD, "The code, or a part of it, could not be read.", "warning"),
    Rule(CODES["import"], "The code imports what the checked version does not have."),
    Rule(CODES["name"], "The code uses an attribute that the checked version does not have."),
    Rule(CODES["keyword"], "A call has a keyword that the checked version does not take."),
    Rule(CODES["argument"], "A call lacks an argument that the checked version requires."),
    Rule(CODES["extra"], "A call gives arguments by position that the checked version does not take so."),
    Rule(CODES["override"], "A method does not fit the method that it overrides."),
    Rule(CODES["callback"], "An agent cannot call a callback: its parameters do not fit."),
    Rule(CODES["method"], "The code asks whether a method is true, and does not call the method."),
    Rule(CODES["await"], "A call of an asynchronous function lacks `await` or `async for`."),
    Rule(CODES["deprecated"], "The code uses what the checked version calls deprecated.", "note"),
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


def lint(checker: DriftChecker, files: Iterable[Path]) -> list[Linted]:
    """Check Python files. A file that cannot be read is told, and is no error."""
    # Trees are many small objects, and looking for garbage among them takes a quarter of the time.
    gc.set_threshold(20_000)
    return [Linted(file, _check(checker, file)) for file in files]


def _check(checker: DriftChecker, path: Path) -> CodeCheck:
    try:
        # Reads the line that names another encoding than UTF-8, as Python does.
        with tokenize.open(path) as file:
            text = file.read()
    except (OSError, SyntaxError, ValueError):
        return unread(checker, "The file cannot be read as Python.")
    return check_code(checker, text)


def has_errors(linted: Iterable[Linted]) -> bool:
    return any(one.found.errors for one in linted)


def show_text(linted: Sequence[Linted], checker: DriftChecker, out: Console) -> None:
    """A line for each problem, as compilers write them: editors and terminals turn these into links."""
    for one in linted:
        for problem in one.found.problems:
            style = "" if problem.is_error else "dim"
            told = f"{one_line(str(one.path))}:{problem.line}: {one_line(problem.text)} [{_code(problem)}]"
            out.print(Text(told, style), soft_wrap=True)
    errors = sum(one.found.errors for one in linted)
    notes = sum(len(one.found.problems) for one in linted) - errors
    names = {name for one in linted for name in one.found.confirmed}
    beside = len(names) - (own := sum(map(checker.is_own, names)))
    others = f" and {counted(beside, 'name')} of other packages" if beside else ""
    version = f"{checker.version} and what is installed" if beside else checker.version
    counts = [counted(errors, "problem"), *([counted(notes, "note")] if notes else [])]
    fitting = f"{counted(own, 'name')} of google-adk{others} in {counted(len(linted), 'file')} fit {version}"
    out.print(Text(f"{' and '.join(counts)}; {fitting}."), soft_wrap=True)


def as_json(linted: Sequence[Linted], version: str) -> dict[str, Any]:
    each = [(str(one.path), problem) for one in linted for problem in one.found.problems]
    problems = [{"path": path, "code": _code(problem), **problem.model_dump()} for path, problem in each]
    confirmed = sorted({name for one in linted for name in one.found.confirmed})
    return {"version": version, "files": len(linted), "problems": problems, "confirmed": confirmed}


def findings(linted: Iterable[Linted]) -> list[Finding]:
    return [
        Finding(_code(problem), problem.text, str(one.path), problem.line, key=problem.symbol)
        for one in linted
        for problem in one.found.problems
    ]


def _code(problem: CodeProblem) -> str:
    return _UNREAD if problem.kind == "unread" else CODES[problem.kind]
