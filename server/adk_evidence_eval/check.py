"""Whether a golden set's spans still stand where it says, and where they went in a newer version of the corpora."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from adk_evidence.index.opened import source_readers
from adk_evidence.models.chunk import sha256_text
from adk_evidence.models.pack import LineSpan
from adk_evidence.readers.pages.sections import heading_key, sections
from adk_evidence.readers.syntax import definition_lines
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.text.textfile import split_lines
from adk_evidence_eval.golden import GoldenQuestion, Target

State = Literal["ok", "moved", "changed", "misnamed", "gone"]
# From corpus and path to the file's text, None where there is no such file.
TextOf = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Finding:
    """The result of checking one target.

    `ok`: the target stands there. `moved`: the same text stands at `target`'s lines now. `changed`: its symbol or
    heading stands at `target`'s lines, with another text; read them before relying on the label. `misnamed`: the lines
    are right, but not below that heading or not of that symbol. `gone`: nothing of the target is left.
    """

    question: str
    old: Target
    target: Target
    state: State
    reason: str = ""


@contextmanager
def indexed_texts(settings: Settings) -> Iterator[TextOf]:
    """A function from corpus and path to the current text of an indexed file, None where there is no such file.

    Raises:
        StoreError: There is no index.
        SourceError: From the function, where a whole corpus cannot be read.
    """
    with open_generations(settings).open_current() as lease:
        readers = source_readers(lease.manifest, lease.folder)
        yield lambda corpus, path: readers[corpus].read(path) if corpus in readers else None


def check_golden(questions: Sequence[GoldenQuestion], text_of: TextOf) -> list[Finding]:
    """Look every target up.

    Raises:
        SourceError: A corpus cannot be read.
    """
    return [
        Finding(question.id, target, *_check(target, text_of(target.corpus, target.path)))
        for question in questions
        for target in question.expected
    ]


def reanchored(questions: Sequence[GoldenQuestion], findings: Sequence[Finding]) -> list[GoldenQuestion]:
    """The set with the lines and hashes that a check found; what is gone or misnamed stays as it was."""
    remaining = iter(findings)
    return [
        question.model_copy(update={"expected": tuple(next(remaining).target for _ in question.expected)})
        for question in questions
    ]


def _check(target: Target, text: str | None) -> tuple[Target, State, str]:
    if text is None:
        return target, "gone", "The file is not there."
    lines = split_lines(text)
    length = target.end_line - target.start_line
    name = target.symbol or target.heading or "The span"

    def at(start: int, end: int) -> Target:
        changes = {"start_line": start, "end_line": end, "sha256": _hash(lines, start, end)}
        return target.model_copy(update=changes)

    inside = target.end_line <= len(lines)
    if target.sha256 is None or (inside and _hash(lines, target.start_line, target.end_line) == target.sha256):
        if inside and _is_named(target, text):
            return at(target.start_line, target.end_line), "ok", ""
        if target.sha256 is not None:
            return target, "misnamed", f"{name} is not what stands there."
    elif (start := _find(target, lines)) is not None:
        return at(start, start + length), "moved", "The same text stands at other lines."
    spans = _named_spans(target, text)
    if not spans:
        return target, "gone", f"{name} is not in the file."
    nearest = min(spans, key=lambda span: abs(span.start - target.start_line))
    return at(nearest.start, min(nearest.end, nearest.start + length)), "changed", f"{name} is there."


def _hash(lines: Sequence[str], start: int, end: int) -> str:
    return sha256_text("\n".join(lines[start - 1 : end]))


def _find(target: Target, lines: Sequence[str]) -> int | None:
    """The line, nearest to the old one, from which as many lines as the target's have its hash."""
    length = target.end_line - target.start_line + 1
    starts = sorted(range(1, len(lines) - length + 2), key=lambda start: abs(start - target.start_line))
    return next((start for start in starts if _hash(lines, start, start + length - 1) == target.sha256), None)


def _is_named(target: Target, text: str) -> bool:
    if target.symbol:
        if any(span.touches(target.start_line, target.end_line) for span in _named_spans(target, text)):
            return True
        # Attributes have no definition; the span holds `name:` or `name =`.
        attribute = re.compile(rf"\s*(?:self\.)?{re.escape(target.symbol.rpartition('.')[2])}\s*[:=]")
        return any(attribute.match(line) for line in split_lines(text)[target.start_line - 1 : target.end_line])
    if not target.heading:
        return True
    above = [section for section in sections(text) if section.lines.start <= target.end_line]
    # A heading around the span, one inside it, or one of a tab above it.
    around = [section for section in above if not section.depth and section.lines.start <= target.start_line][-1:]
    places = [section for section in above if section.depth or section.lines.start > target.start_line]
    return any(section.trail[-1:] == (heading_key(target.heading),) for section in (*around, *places))


def _named_spans(target: Target, text: str) -> list[LineSpan]:
    """Where the target's symbol or heading stands."""
    if target.symbol:
        return definition_lines(target.symbol, text)
    if target.heading:
        wanted = heading_key(target.heading)
        return [section.lines for section in sections(text) if section.trail[-1:] == (wanted,)]
    return []
