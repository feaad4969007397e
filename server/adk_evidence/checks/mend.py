"""Mends a whole Python text, and says since when what it mends is so: `lint --fix` and `upgrade`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from typing import NamedTuple

from adk_evidence.api.history import path_of
from adk_evidence.checks.calls import Remark
from adk_evidence.checks.drift import LACKING, DriftChecker
from adk_evidence.checks.fixes import Edit, edited, fixes_of
from adk_evidence.checks.remarks import all_remarks
from adk_evidence.documents.document import MAX_READ_CHARS, PythonDocument

# A fix may uncover what another fix mends: an import first, then a keyword of the imported class.
MAX_ROUNDS = 8
_LINE_END = re.compile(r"\r\n|\r|\n")


class Mend(NamedTuple):
    """What was mended: the remark, which is gone, with its line (from 0) as it was then, and what was done."""

    remark: Remark
    title: str
    ages: Ages

    @property
    def since(self) -> str | None:
        """The first version for which the code was wrong, as `Ages.since` has it. To find it takes several checks."""
        return self.ages.since(self.remark)


class Mended(NamedTuple):
    """A text after its fixes, and the fixes in the order of their lines."""

    text: str
    mends: tuple[Mend, ...]


def mend(checker: DriftChecker, text: str, *, likely: bool = False) -> Mended:
    """Apply the fixes that are certain, and all that these uncover. Every other character stays as it was.

    Args:
        checker: Knows the version.
        text: A Python module with its own line ends.
        likely: Whether fixes count, too, that somebody should look at.
    """
    mends: list[Mend] = []
    for _ in range(MAX_ROUNDS if len(text) <= MAX_READ_CHARS else 0):
        document = PythonDocument(text)
        done = fixes_of(checker, document, list(all_remarks(checker, document)), likely=likely)
        if not done:
            break
        ages = Ages(checker, document)
        mends += [Mend(remark, fix.title, ages) for remark, fix in done]
        text = _edited(text, [edit for _, fix in done for edit in fix.edits])
    return Mended(text, tuple(sorted(mends, key=lambda one: one.remark.line)))


def mend_bytes(checker: DriftChecker, data: bytes, *, likely: bool = False) -> tuple[bytes, Mended] | None:
    """`mend` for the bytes of a file, in the encoding that the file names; None where they are no text in it."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        mended = mend(checker, data.decode(encoding), likely=likely)
        return mended.text.encode(encoding), mended
    except (SyntaxError, ValueError):
        return None


def _edited(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits that do not meet; lines that they add end as most lines of the text do."""
    ends = _LINE_END.findall(text)
    usual = max(dict.fromkeys(ends), key=ends.count, default="\n")
    lines = map("".join, zip(_LINE_END.split(text), [*ends, ""], strict=True))
    return edited(lines, (edit._replace(text=edit.text.replace("\n", usual)) for edit in edits), "")


class Ages:
    """Since which version the remarks on a document are so: the same check is made for earlier versions."""

    def __init__(self, checker: DriftChecker, document: PythonDocument) -> None:
        self._checker, self._document = checker, document
        each = checker.history.each
        self._each = each[: each.index(checker.api) + 1]
        self._told: dict[int, set[tuple[str, str, tuple[int, int]]]] = {}

    def since(self, remark: Remark, after: str | None = None) -> str | None:
        """The first version for which a remark is so, up to the checker's own version.

        None where it is so already for `after`, by default the oldest version that the table knows, or where the
        version before has nothing of that name, or where the remark is on another package.
        """
        if not self._checker.is_own(remark.symbol):
            return None
        versions = [api.version for api in self._each]
        low, high = versions.index(after) if after in versions else 0, len(versions) - 1
        if self._is_told(low, remark):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_told(middle, remark) else (middle, high)
        before = self._each[low]
        # Of what a version does not have at all, nothing is told, either.
        is_there = before.has(remark.symbol) if remark.kind in LACKING else before.definition(path_of(remark.symbol))
        return versions[high] if is_there else None

    def _is_told(self, number: int, remark: Remark) -> bool:
        if number not in self._told:
            told = all_remarks(DriftChecker(self._each[number]), self._document)
            self._told[number] = {(one.kind, one.symbol, one.place) for one in told}
        return (remark.kind, remark.symbol, remark.place) in self._told[number]
