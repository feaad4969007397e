"""What a piece of Python code has otherwise than a version of the ADK: names, calls, overrides, a missing `await`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from adk_evidence.symbols.document import MAX_READ_CHARS, PythonDocument
from adk_evidence.symbols.drift import Deviation, DriftChecker, DriftKind, without_module
from adk_evidence.symbols.history import read_call
from adk_evidence.symbols.mismatch import UseKind, uses_in
from adk_evidence.symbols.remarks import Remark, remark
from adk_evidence.tokens import estimate_tokens

ProblemKind = DriftKind | UseKind | Literal["syntax"]
# What a list of names may cost.
NAMES_TOKENS = 80
_NOTHING = "The code names nothing of google-adk that can be checked: no import, and no value whose class it says."
_LINE = re.compile(r" \(line (\d+)\)$")


@dataclass(frozen=True)
class Problem:
    """Something that a version of the ADK has otherwise, in a line of the code (from 1).

    `symbol` is a path, or a keyword as `google.adk.runners.Runner(app=)`; empty where the code does not parse.
    `instead` is the name or path that the version has, where that is sure or near enough. `text` says all this in a
    sentence.
    """

    kind: ProblemKind
    line: int
    symbol: str
    text: str
    instead: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether the code fails; deprecated names still work."""
        return self.kind != "deprecated"


@dataclass(frozen=True)
class CodeCheck:
    """The problems of a piece of code in the order of its lines.

    `confirmed` are the names of the ADK that the code shows and the version has, sorted: paths, and keywords of calls.
    What the code does not say, such as the class of a parameter without an annotation, is in neither.
    """

    version: str
    problems: tuple[Problem, ...]
    confirmed: tuple[str, ...]

    @property
    def errors(self) -> int:
        """How many of the problems make the code fail."""
        return sum(problem.is_error for problem in self.problems)

    @property
    def confirmation(self) -> str:
        """A sentence on what was checked, which ends every report."""
        if not self.confirmed:
            return f"The code names nothing that google-adk {self.version} surely has." if self.problems else _NOTHING
        fits = "The rest fits" if self.problems else "No problem was found: the code fits"
        return f"{fits} google-adk {self.version} as far as can be told without running it. {self._checked}"

    @property
    def _checked(self) -> str:
        """The names that were checked, as many as there is room for, each callable with its keywords."""
        keywords: dict[str, list[str]] = {}
        for name in self.confirmed:
            call = read_call(name)
            keywords.setdefault(without_module(call.callable if call else name), []).extend(
                [call.keyword] if call else []
            )
        written = [f"{name}({', '.join(given)})" if given else name for name, given in keywords.items()]
        return _listed("Checked:", written)


def check_code(checker: DriftChecker, text: str) -> CodeCheck:
    """Check Python code without running it.

    Code that does not parse is one problem; the statements around the broken one are checked all the same.
    """
    if len(text) > MAX_READ_CHARS:
        told = f"The code has more than {MAX_READ_CHARS:,} characters and was not read."
        return CodeCheck(checker.version, (Problem("syntax", 1, "", told),), ())
    document = PythonDocument(text)
    uses = list(uses_in(checker, document))
    named = _Named(checker)
    found = [
        *_broken(document.broken),
        *(
            named.problem(deviation, remark(checker, document, deviation, mention))
            for deviation, mention in checker.in_document(document, awaits=True)
        ),
        *(Problem(one.kind, one.line + 1, one.symbol, one.problem) for one in uses if one.problem),
    ]
    # Two calls in one line may lack the same.
    problems = sorted(dict.fromkeys(found), key=lambda one: (one.line, one.symbol, one.kind))
    confirmed = {*checker.confirmed(document), *(one.symbol for one in uses if not one.problem)}
    return CodeCheck(checker.version, tuple(problems), tuple(sorted(confirmed)))


def _broken(reason: str | None) -> Iterator[Problem]:
    if reason is not None:
        line = _LINE.search(reason)
        told = f"The code does not parse: {_LINE.sub('', reason)}."
        yield Problem("syntax", int(line[1]) if line else 1, "", told)


@dataclass
class _Named:
    """Makes problems of names that the version lacks; lists what a call takes, or a class has, once."""

    checker: DriftChecker
    listed: set[str] = field(default_factory=set)

    def problem(self, deviation: Deviation, told: Remark) -> Problem:
        # What has no short form for those who see the code is told in full.
        text = told.text or deviation.text
        if deviation.kind in ("keyword", "name") and told.replacement is None and deviation.instead is None:
            text = f"{text} {self._alternatives(deviation.symbol)}".rstrip()
        return Problem(deviation.kind, told.line + 1, deviation.symbol, text, told.replacement or deviation.instead)

    def _alternatives(self, symbol: str) -> str:
        """The keywords that a call takes, those that it requires first, or the members of a class, the likest first."""
        history, number = self.checker.history, self.checker.number
        call = read_call(symbol)
        owner, _, wrong = symbol.rpartition(".") if call is None else (call.callable, "", call.keyword)
        if owner in self.listed:
            return ""
        self.listed.add(owner)
        if call is None:
            names, required = history.members_of(number, owner), frozenset[str]()
        else:
            known = history.keywords_at(number, owner)
            names, required = (sorted(known.names), known.required) if known else ([], frozenset())
        likeness = {name: difflib.SequenceMatcher(None, wrong, name).ratio() for name in names}
        names.sort(key=lambda name: (name not in required, -likeness[name]))
        return _listed(f"`{without_module(owner)}` {'has' if call is None else 'takes'}", names)


def _listed(start: str, names: list[str]) -> str:
    for count in range(len(names), 0, -1):
        more = f" and {len(names) - count} more" if count < len(names) else ""
        text = f"{start} {', '.join(names[:count])}{more}."
        if estimate_tokens(text) <= NAMES_TOKENS:
            return text
    return ""
