"""Checks a piece of Python code against a version of the ADK: names, calls, overrides, a missing `await`."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Collection
from typing import Literal

from adk_evidence.api.history import VersionApi, read_call
from adk_evidence.checks.calls import Remark
from adk_evidence.checks.drift import LACKING, MAX_LACKING_NAMES, DriftChecker
from adk_evidence.checks.remarks import is_ignored, reviewed
from adk_evidence.documents.document import MAX_READ_CHARS, PythonDocument, split_document
from adk_evidence.models.code import CodeCheck, CodeProblem
from adk_evidence.readers.pages.snippets import snippets_of
from adk_evidence.text.identifiers import listed, without_module
from adk_evidence.text.tokens import listed_within

# Nobody reads more.
MAX_PROBLEMS = 500
# What a list of names may cost.
NAMES_TOKENS = 80
_NOTHING = "The code names nothing of google-adk that can be checked: no import, and no value whose class it says."
_LINE = re.compile(r" \(line (\d+|None)\)$")
_WHY = {
    "MemoryError": "it is nested too deeply",
    "RecursionError": "it is nested too deeply",
    "UnicodeEncodeError": "it holds half of a character",
}


def check_code(checker: DriftChecker, text: str, lang: Literal["py", "md"] = "py") -> CodeCheck:
    """Check Python code without running it.

    The statements around a broken one are checked all the same. Of the names that the version lacks, the first
    `MAX_LACKING_NAMES` are told, and `MAX_PROBLEMS` problems at most.

    Args:
        checker: Knows the version.
        text: A module, or with `md` a Markdown text, whose blocks of Python are read as one module. People shorten the
            code of texts: there, a block that does not parse is no problem, and a call with a comment may lack
            arguments.
        lang: What the text is.
    """
    if len(text) > MAX_READ_CHARS:
        return unread(checker, f"The code has more than {MAX_READ_CHARS:,} characters and was not read.")
    text = text.removeprefix("\ufeff")
    document = PythonDocument(text if lang == "py" else _python_of(text))
    found = [_broken(document.broken)] if lang == "py" and document.broken is not None else []
    checkers, confirmed, lacking = list[DriftChecker](), set[str](), set[str]()
    # What a call takes, or a class has, is listed once.
    shown = set[tuple[str, bool]]()
    for each, code in checker.checks_of(document):
        remarks, has = reviewed(each, code, shortened=lang == "md")
        found += [_problem(each.api, one, shown) for one in remarks]
        checkers.append(each)
        confirmed |= has
        lacking |= {one.symbol for one in remarks if one.kind in LACKING}
    told = [one for one in found if one.kind == "unread" or not is_ignored(document.lines[one.line - 1], one.kind)]
    # Two calls in one line may lack the same.
    problems = sorted(dict.fromkeys(told), key=lambda one: one.line)
    is_cut = len(lacking) >= MAX_LACKING_NAMES or len(problems) > MAX_PROBLEMS
    return CodeCheck(
        version=checker.version,
        problems=tuple(problems[:MAX_PROBLEMS]),
        confirmed=tuple(sorted(confirmed)),
        summary=_summary(checkers or [checker], confirmed, problems, len(found) - len(told), is_cut=is_cut),
    )


def unread(checker: DriftChecker, told: str) -> CodeCheck:
    """The report on code that was not read; `told` says why, in a sentence."""
    return CodeCheck(version=checker.version, problems=(_unread(1, told),), confirmed=(), summary=told)


def _python_of(page: str) -> str:
    """The Python of a Markdown text, each line at its place."""
    lines = split_document(page)
    kept = [""] * len(lines)
    for snippet in snippets_of(lines, "md"):
        for number, line in enumerate(snippet.text.split("\n"), snippet.line):
            kept[number] = line
    return "\n".join(kept)


def _summary(
    used: list[DriftChecker],
    confirmed: Collection[str],
    problems: Collection[CodeProblem],
    ignored: int,
    *,
    is_cut: bool,
) -> str:
    left_out = f"Comments in the code leave out problems: {ignored}. " if ignored else ""
    if is_cut:
        return f"Only the first problems are told. {left_out}{_checked(confirmed)}".rstrip()
    if not confirmed:
        names = " or ".join(one.history.table.distribution for one in used)
        nothing_else = f"Nothing else of {names} in the code can be checked."
        return f"{left_out}{nothing_else}" if problems or ignored else _NOTHING
    if any(problem.kind == "unread" for problem in problems):
        fits = "The rest of what could be read fits"
    else:
        fits = "The rest fits" if problems or ignored else "No problem was found: the code fits"
    labels = [one.label for one in used if any(map(one.is_own, confirmed))]
    checked = f"as far as can be told without running it. {_checked(confirmed)}"
    return f"{left_out}{fits} {listed(labels)} {checked}".rstrip()


def _checked(confirmed: Collection[str]) -> str:
    """The names that were checked, as many as there is room for, each callable with its keywords."""
    keywords: dict[str, list[str]] = {}
    for name in sorted(confirmed):
        call = read_call(name)
        own = keywords.setdefault(without_module(call.callable if call else name), [])
        own += [call.keyword] if call else []
    written = [f"{name}({', '.join(given)})" if given else name for name, given in keywords.items()]
    return listed_within(written, NAMES_TOKENS, "Checked: ", ".")


def _unread(line: int, told: str) -> CodeProblem:
    return CodeProblem(kind="unread", line=line, symbol="", text=told)


def _broken(reason: str) -> CodeProblem:
    line = _LINE.search(reason)
    why = _WHY.get(reason, _LINE.sub("", reason))
    # A newer Python may read what this one does not.
    told = f"Python {sys.version_info[0]}.{sys.version_info[1]}, which checks the code, cannot read it: {why}."
    return _unread(int(line[1]) if line and line[1].isdigit() else 1, told)


def _problem(api: VersionApi, told: Remark, shown: set[tuple[str, bool]]) -> CodeProblem:
    """A remark as a problem; `shown` gets the callables and classes of which the problem lists what they have."""
    instead, text = told.replacement or told.instead, told.text
    if told.kind in ("keyword", "name") and instead is None:
        text = f"{text} {_alternatives(api, told.symbol, shown)}".rstrip()
    return CodeProblem(kind=told.kind, line=told.line + 1, symbol=told.symbol, text=text, instead=instead)


def _alternatives(api: VersionApi, symbol: str, shown: set[tuple[str, bool]]) -> str:
    """The keywords that a call takes, those that it requires first, or the members of a class, the likest first."""
    call = read_call(symbol)
    owner, _, wrong = symbol.rpartition(".") if call is None else (call.callable, "", call.keyword)
    if (owner, call is None) in shown:
        return ""
    shown.add((owner, call is None))
    if call is None:
        names, required = api.members_of(owner), frozenset[str]()
    else:
        known = api.keywords(owner)
        names, required = (list(known.shown), known.required) if known else ([], frozenset())
    likeness = {name: difflib.SequenceMatcher(None, wrong, name).ratio() for name in names}
    names.sort(key=lambda name: (name not in required, -likeness[name]))
    return listed_within(names, NAMES_TOKENS, f"`{without_module(owner)}` {'has' if call is None else 'takes'} ", ".")
