"""Whether a text holds what the user pasted: a message, a sentence or a line of code, with gaps for what varies.

A message differs from the literal that makes the message in its variable parts, and pasted text differs from its source
in line breaks, quotes and markup. So texts are compared by their words alone: how many words of the phrase stand in the
text in runs, the runs in the order of the phrase and near each other.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from adk_evidence.models.chunk import ChunkPayload

# A longer phrase is known by its first words.
MAX_WORDS = 64
# The f of f"..." and the n of "\n" are no words of a literal.
_WORD = re.compile(r"\\[nrt]|\b[rbfu]{1,2}(?=[\"'])|(\w+)")
# How many characters a gap between two runs may have: values, placeholders, code between two literals.
_GAP = 240
# How far two sums of the same weights may differ.
_ROUNDING = 1e-9
# How many statements of a chunk are compared with a message, and how many lines one may have.
_RAISES = 32
_RAISE_LINES = 6
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


def raising_line(payload: ChunkPayload, message: Phrase) -> list[int]:
    """The line of a chunk of code with the `raise` whose text is most like a message, if any is like it at all."""
    if payload.kind != "code" or not message.words or not payload.has_lines:
        return []
    body = payload.body.split("\n")
    raising = [number for number, line in enumerate(body) if line.lstrip().startswith("raise ")][:_RAISES]
    rows = {number: row_of("\n".join(body[number : number + _RAISE_LINES])) for number in raising}
    shares = {number: message.covered(row, 2, 1) for number, row in rows.items()}
    best = max(shares, key=lambda number: shares[number], default=None)
    return [] if best is None or not shares[best] else [payload.start_line + best]


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
