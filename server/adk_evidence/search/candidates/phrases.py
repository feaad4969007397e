"""Whether a text holds what the user pasted: a message, a sentence or a line of code, with gaps for what varies.

A message differs from the literal that makes the message in its variable parts, and pasted text differs from its source
in line breaks, quotes and markup. So texts are compared by their words alone: how many words of the phrase stand in the
text in runs, the runs in the order of the phrase and near each other. The other way round, code holds a message where
the fixed words of one of its literals stand in the message.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from adk_evidence.models.chunk import ChunkPayload

# A longer phrase is known by its first words.
MAX_WORDS = 64
# The f of f"..." and the n of "\n" are no words of a literal.
_WORD = re.compile(r"\\[nrt]|\b[rbfu]{1,2}(?=[\"'])|(\w+)")
# How many characters a gap between two runs may have: values, placeholders, code between two literals.
_GAP = 240
# How far two sums of the same weights may differ.
_ROUNDING = 1e-9
# How many statements of a chunk are compared with a message, how many lines one without an end has, and how much of the
# message it has.
_RAISES = 32
_RAISE_LINES = 6
_RAISED = 0.4
# The same where the statement names another type.
_RAISED_AS = 0.85
_RAISE = re.compile(r"\s*raise\s(?:\w+\.)*(\w+)")
# A literal that makes a message has so many fixed words. They are half of the message, or begin within so many
# characters for each: a short literal may stand by chance in what the user says behind the message.
_FIXED = 3
_BEGIN = 10
# A string of code, or a comment, whose quotes are none; a string of three quotes may have lines.
_LITERAL = re.compile(
    r"#[^\n]*|\"{3}((?:[^\"\\]|\\.|\"(?!\"\"))*)\"{3}|'{3}((?:[^'\\]|\\.|'(?!''))*)'{3}"
    r"|\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'",
    re.DOTALL,
)
# What may stand between two strings that are one.
_ADJACENT = re.compile(r"\s*\+?\s*[rbfu]{0,2}", re.IGNORECASE)
# What a value takes the place of.
_PLACEHOLDER = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|%(?:\(\w+\))?[-.\d]*[sdrifx]\b")
# At how many places of the longest run the words beside the run are looked for.
_OCCURRENCES = 6


@dataclass(frozen=True)
class Phrase:
    """The words of a phrase, and what each weighs.

    The words of one token weigh as much as a token of one word: `gemini-2.5-flash` is one value and no four words.
    """

    words: tuple[str, ...]
    weights: tuple[float, ...]

    @functools.cached_property
    def weight(self) -> float:
        """What all words weigh."""
        return math.fsum(self.weights)

    @classmethod
    def of(cls, text: str) -> Phrase:
        words: list[str] = []
        weights: list[float] = []
        for token in text.lower().split():
            found = _words(token)
            words += found
            weights += [1 / max(1, len(found))] * len(found)
        return cls(tuple(words[:MAX_WORDS]), tuple(weights[:MAX_WORDS]))

    def may_be_covered(self, text: str, share: float) -> bool:
        """Whether so much of the weight stands anywhere in a text, which is in lower case.

        Where not, `covered` gives less than `share`, and takes far longer.
        """
        may_lack = (1 - share) * self.weight + _ROUNDING
        for word, weight in zip(self.words, self.weights, strict=True):
            if word not in text:
                may_lack -= weight
                if may_lack < 0:
                    return False
        return True

    def covered(self, row: str, shortest: int, shortest_beside: int) -> float:
        """The weight of the words that stand in a text in runs, as a share of the weight of all, 0 to 1.

        Args:
            row: The words of the text; see `row_of`.
            shortest: How many words the longest run must have.
            shortest_beside: How many words the other runs must have, which stand near the longest one.
        """
        start, length, place = _longest(self.words, row, 0, len(row), shortest)
        if not length:
            return 0.0
        run = f" {' '.join(self.words[start : start + length])} "
        best = 0.0
        for _ in range(_OCCURRENCES):
            beside = _beside(self.words, row, (0, len(row)), (start, length, place), shortest_beside)
            runs = [(start, start + length), *beside]
            best = max(best, math.fsum(math.fsum(self.weights[begin:end]) for begin, end in runs))
            place = row.find(run, place + 1)
            if place < 0:
                break
        return best / self.weight


# The same chunks are near the top for many questions.
@functools.lru_cache(maxsize=512)
def row_of(text: str) -> str:
    """The words of a text, each between two spaces."""
    return f" {' '.join(_words(text.lower()))} "


class Raising(NamedTuple):
    """A line that raises an error, and how much of the error's message stands there, 0 to 1."""

    share: float
    line: int


def raising_line(payload: ChunkPayload, message: Phrase, error: str) -> Raising | None:
    """The line of a chunk of code that raises an error with this message, as far as its literals make that; else None.

    `error` is the name of the type, "" where nobody knows it. An error without a message is known by its type.
    """
    if payload.kind != "code" or not payload.has_lines:
        return None
    body = payload.body.split("\n")
    raising = [(number, match[1]) for number, line in enumerate(body) if (match := _RAISE.match(line))]
    found = []
    # Of a longer message, the last words are not known.
    text = " ".join(message.words) if len(message.words) < MAX_WORDS else ""
    for number, name in raising[:_RAISES]:
        if not message.words:
            if name == error:
                found.append((0.0, True, -number))
            continue
        statement = _statement(body[number:])
        share = message.covered(row_of(statement), 2, 1)
        # A type of another name may stand above the error's own, or inside it.
        least = _RAISED_AS if error and name != error and name[:1].isupper() else _RAISED
        if share >= least and not raises_other(body[number:], text):
            found.append((share, name == error, -number))
    best = max(found, default=None)
    return Raising(best[0], payload.start_line - best[2]) if best else None


def raises_other(lines: Sequence[str], message: str) -> bool:
    """Whether the first of some lines begins to raise another message than this, by the literals of the statement."""
    if not message or not _RAISE.match(lines[0]):
        return False
    statement = _statement(lines)
    return bool(_literals(statement)) and holding_line(statement, message) is None


def raise_in(lines: Sequence[str], spans: Iterable[range]) -> int | None:
    """The first of some places of lines, from 0, where a `raise` begins that has no message of its own."""
    for at in (at for span in spans for at in span if 0 <= at < len(lines)):
        if _RAISE.match(lines[at]) and not _literals(_statement(lines[at:])):
            return at
    return None


def _statement(lines: Sequence[str]) -> str:
    """The statement that the first of some lines begins; `_RAISE_LINES` lines where its end is not among them."""
    margin = len(lines[0]) - len(lines[0].lstrip())
    ends = (number for number, line in enumerate(lines[1:], 1) if len(line) - len(line.lstrip()) <= margin)
    return "\n".join(lines[: next(ends, _RAISE_LINES)])


def holding_line(body: str, message: str) -> int | None:
    """The line of some code, from 0, with the first literal that makes a message; None where no literal does."""
    row = row_of(message)
    half = len(message.split()) / 2
    for line, size, parts in _literals(body):
        places = [place := row.find(parts[0])]
        for part, following in pairwise(parts):
            # A value is at least a word.
            end = place + len(part)
            places.append(place := row.find(following, end, end + _GAP + len(following)))
        if min(places) >= 0 and (places[0] <= _BEGIN * size or size >= half):
            return line
    return None


@functools.lru_cache(maxsize=512)
def _literals(code: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """The strings of some code, each as its first line, from 0, how many words it has, and these between its values.

    Adjacent strings are one.
    """
    found: list[tuple[int, str]] = []
    end: int | None = None
    for match in _LITERAL.finditer(code):
        if match.lastindex is None:
            continue
        text = match[match.lastindex]
        if end is not None and _ADJACENT.fullmatch(code, end, match.start()):
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((match.start(), text))
        end = match.end()
    literals = []
    for place, text in found:
        parts = _PLACEHOLDER.split(text)
        # `gemini-2.5-flash` is one value and no four words.
        size = sum(bool(_words(token)) for part in parts for token in part.lower().split())
        if size >= _FIXED:
            rows = tuple(row for part in parts if (row := row_of(part)).strip())
            literals.append((code.count("\n", 0, place), size, rows))
    return tuple(literals)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word]


def _beside(
    words: Sequence[str], row: str, part: tuple[int, int], run: tuple[int, int, int], shortest: int
) -> list[tuple[int, int]]:
    """The runs before and after a run of words, each as its first word and the word after its last."""
    start, length, place = run
    begin, end = part
    after = place + len(" ".join(words[start : start + length])) + 1
    found = []
    for first, last, left, right in (
        (0, start, max(begin, place - _GAP), place + 1),
        (start + length, len(words), after, min(end, after + _GAP)),
    ):
        one, size, at = _longest(words[first:last], row, left, right, shortest)
        if size:
            found.append((first + one, first + one + size))
            inner = _beside(words[first:last], row, (left, right), (one, size, at), shortest)
            found += [(first + low, first + high) for low, high in inner]
    return found


def _longest(words: Sequence[str], row: str, begin: int, end: int, shortest: int) -> tuple[int, int, int]:
    """The first of the longest runs of words that a part of a row holds: its first word, its length and its place."""
    best, length, at = 0, 0, 0
    for start in range(len(words)):
        longer = max(length + 1, shortest)
        while start + longer <= len(words):
            place = row.find(f" {' '.join(words[start : start + longer])} ", begin, end)
            if place < 0:
                break
            best, length, at, longer = start, longer, place, longer + 1
    return best, length, at
