"""Whether a golden set's spans still stand where it says, and where they went in a newer version of the corpora."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from adk_evidence.models.chunk import sha256_text
from adk_evidence.models.pack import LineSpan
from adk_evidence.readers.sections import heading_key, sections
from adk_evidence.readers.syntax import definition_lines
from adk_evidence.textfile import split_lines
from adk_evidence_eval.golden import GoldenQuestion, Target

State = Literal["ok", "moved", "changed", "misnamed", "gone"]
TextOf = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Finding:
    """The result of checking one target.

    `ok`: it stands there. `moved`: the same text stands at `target`'s lines now. `changed`: its symbol or heading
    stands at `target`'s lines, with another text; read them before relying on the label. `misnamed`: the lines are
    right, but not below that heading or not of that symbol. `gone`: none of it is left.
    """

    question: str
    old: Target
    target: Target
    state: State
    reason: str = ""


def check_golden(questions: Sequence[GoldenQuestion], text_of: TextOf) -> list[Finding]:
    """Look every target up.

    Args:
        questions: The set.
        text_of: From corpus and path to the file's text, None where there is no such file.

    Raises:
        SourceError: A corpus cannot be read.
    """
    return [
        _check(question.id, target, text_of(target.corpus, target.path))
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


def _check(question: str, target: Target, text: str | None) -> Finding:
    if text is None:
        return Finding(question, target, target, "gone", "The file is not there.")
    lines = split_lines(text)
    inside = target.end_line <= len(lines)
    if target.sha256 is None or (inside and _hash(lines, target.start_line, target.end_line) == target.sha256):
        named = inside and _is_named(target, text)
        if named:
            return Finding(question, target, _at(target, lines, target.start_line, target.end_line), "ok")
        if target.sha256 is not None:
            return Finding(question, target, target, "misnamed", f"{_name(target)} is not what stands there.")
    elif (start := _find(target, lines)) is not None:
        moved = _at(target, lines, start, start + target.end_line - target.start_line)
        return Finding(question, target, moved, "moved", "The same text stands at other lines.")
    span = _by_name(target, text)
    if span is None:
        return Finding(question, target, target, "gone", f"{_name(target)} is not in the file.")
    end = min(span.end, span.start + target.end_line - target.start_line)
    return Finding(question, target, _at(target, lines, span.start, end), "changed", f"{_name(target)} is there.")


def _at(target: Target, lines: Sequence[str], start: int, end: int) -> Target:
    changes = {"start_line": start, "end_line": end, "sha256": _hash(lines, start, end)}
    return target.model_copy(update=changes)


def _hash(lines: Sequence[str], start: int, end: int) -> str:
    return sha256_text("\n".join(lines[start - 1 : end]))


def _find(target: Target, lines: Sequence[str]) -> int | None:
    """The line, nearest to the old one, from which as many lines as the target's have its hash."""
    length = target.end_line - target.start_line + 1
    starts = sorted(range(1, len(lines) - length + 2), key=lambda start: abs(start - target.start_line))
    return next((start for start in starts if _hash(lines, start, start + length - 1) == target.sha256), None)


def _is_named(target: Target, text: str) -> bool:
    if target.symbol:
        # Attributes have no definition; the span holds `name:` or `name =`.
        attribute = re.compile(rf"\s*(?:self\.)?{re.escape(target.symbol.rpartition('.')[2])}\s*[:=]")
        inside = split_lines(text)[target.start_line - 1 : target.end_line]
        defined = any(_overlap(target, span) for span in definition_lines(target.symbol, text))
        return defined or any(attribute.match(line) for line in inside)
    if not target.heading:
        return True
    wanted = heading_key(target.heading)
    above = [section for section in sections(text) if section.lines.start <= target.end_line]
    # A heading around the span, one inside it, or one of a tab above it.
    around = [section for section in above if not section.depth and section.lines.start <= target.start_line][-1:]
    places = [section for section in above if section.depth or section.lines.start > target.start_line]
    return any(section.trail[-1:] == (wanted,) for section in (*around, *places))


def _overlap(target: Target, span: LineSpan) -> bool:
    return span.start <= target.end_line and target.start_line <= span.end


def _by_name(target: Target, text: str) -> LineSpan | None:
    if target.symbol:
        spans = definition_lines(target.symbol, text)
    elif target.heading:
        wanted = heading_key(target.heading)
        spans = [section.lines for section in sections(text) if section.trail[-1:] == (wanted,)]
    else:
        return None
    return min(spans, key=lambda span: abs(span.start - target.start_line), default=None)


def _name(target: Target) -> str:
    return target.symbol or target.heading or "The span"
