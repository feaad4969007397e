"""Blind pairs in a folder: what two systems show for the same questions, in random order and without their names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.base import Frozen
from adk_evidence.render.sanitize import fenced
from adk_evidence.tokens import estimate_tokens
from adk_evidence.validation import first_problem
from adk_evidence_eval.golden import Question, Row, read_rows
from adk_evidence_eval.judging.criteria import NO_PASSAGE, PREFERRED, SIDES, SideName, criteria
from adk_evidence_eval.judging.systems import Shown, marked_passages

PAIRS, KEY, BLANK = "pairs.jsonl", "key.json", "sheet.csv"
_MADE = "Make the folder with `adk-evidence eval judge make`."


class Side(Frozen):
    """A text and the number of its passages."""

    text: str
    passages: int = Field(ge=0)

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


class Pair(Row):
    """What two systems show for a question."""

    question: str
    a: Side
    b: Side

    def side(self, name: SideName) -> Side:
        return self.a if name == "A" else self.b

    @property
    def same(self) -> bool:
        """Whether both systems show the same, so that a judge needs to read but one."""
        return self.a == self.b

    @property
    def sides(self) -> tuple[SideName, ...]:
        """The sides that a judge grades."""
        return SIDES[:1] if self.same else SIDES


class Entry(Frozen):
    """Which question a pair is of, and which of its sides is the first system's."""

    question: str
    first: SideName


class Key(Frozen):
    """What a judge must not know: the systems' names, first and second, what they are, and whose each side is."""

    seed: int
    max_tokens: int
    systems: tuple[str, str]
    made_of: tuple[str, str]
    pairs: Mapping[str, Entry]


def make_pairs(
    questions: Sequence[Question], first: Sequence[Shown], second: Sequence[Shown], seed: int
) -> list[tuple[Pair, Entry]]:
    """Pairs in the order of the questions, whose answers stand in the same order.

    A hash of seed and question decides which side is the first system's, so it is the same on every machine. An id
    holds a hash of the pair's content: the sheet of another folder does not fit.
    """
    made = []
    for number, (question, *shown) in enumerate(zip(questions, first, second, strict=True), 1):
        swapped = hashlib.sha256(f"{seed}\n{question.id}".encode("utf-8", "replace")).digest()[0] % 2
        if swapped:
            shown.reverse()
        a, b = (Side(text=one.text, passages=one.passages or 0) for one in shown)
        # A selection is asked about in the words that the editor makes of it.
        asked = question.query or question.request().query
        content = json.dumps([question.id, asked, a.text, b.text])
        name = f"p{number:03}-{hashlib.sha256(content.encode()).hexdigest()[:4]}"
        made.append((Pair(id=name, question=asked, a=a, b=b), Entry(question=question.id, first=SIDES[swapped])))
    return made


def write_folder(folder: Path, pairs: Sequence[Pair], key: Key, sheet: str) -> None:
    """Write the pairs for people and for programs, a sheet that is not filled in, and the key.

    Raises:
        InvalidRequestError: The folder holds something already, which may be a judge's work, or cannot be written.
    """
    check_free(folder)
    files = {f"{pair.id}.md": pair_page(pair) for pair in pairs}
    files |= {
        BLANK: sheet,
        PAIRS: "".join(pair.model_dump_json() + "\n" for pair in pairs),
        # Last: a folder without a key is not complete.
        KEY: key.model_dump_json(indent=2) + "\n",
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as exc:
        message = f"The pairs cannot be written to {folder}: {exc.strerror or exc}."
        raise InvalidRequestError(message, "Name another folder with --out.") from exc


def check_free(folder: Path) -> None:
    """Refuse a folder that holds something, so that nothing is asked in vain and nothing is overwritten.

    Raises:
        InvalidRequestError: The folder is not empty, or it is a file.
    """
    try:
        used = folder.exists() and any(folder.iterdir())
    except OSError as exc:
        message = f"{folder} cannot be used: {exc.strerror or exc}."
        raise InvalidRequestError(message, "Name another folder with --out.") from exc
    if used:
        raise InvalidRequestError(f"{folder} is not empty.", "Name a new folder with --out.")


def read_pairs(folder: Path) -> dict[str, Pair]:
    """The pairs of a folder by their ids.

    Raises:
        InvalidRequestError: The folder does not hold pairs.
    """
    return read_rows(folder / PAIRS, Pair, _MADE)


def read_key(folder: Path, pairs: Mapping[str, Pair]) -> Key:
    """The key to the pairs of a folder.

    Raises:
        InvalidRequestError: There is no key, it is not valid, or it belongs to other pairs.
    """
    path = folder / KEY
    try:
        key = Key.model_validate_json(path.read_bytes())
    except OSError as exc:
        raise InvalidRequestError(f"{path} cannot be read: {exc.strerror or exc}.", _MADE) from exc
    except ValidationError as exc:
        raise InvalidRequestError(f"{path} is not valid: {first_problem(exc)}.", _MADE) from exc
    if set(key.pairs) != set(pairs):
        raise InvalidRequestError(f"{path} is not the key to the pairs in {folder / PAIRS}.", _MADE)
    return key


def pair_page(pair: Pair) -> str:
    """A pair as a person reads it; what the systems show is quoted, so that nothing in it passes for the page."""
    parts = [f"# {pair.id}", "## Question", fenced(pair.question, "text")]
    if pair.same:
        parts += [f"## Sides A and B: the same text, {_passages(pair.a)}", fenced(pair.a.text, "text")]
        todo = f"Both sides show the same. Fill in the row of side A in `{BLANK}`, without `preferred`."
    else:
        for name in SIDES:
            side = pair.side(name)
            parts.append(f"## Side {name}: {_passages(side)}")
            if name == "B" and (both := _on_both(pair)):
                parts.append(f"Passages of side B that you have read as passages of side A (B = A): {both}.")
            parts.append(fenced(side.text, "text"))
        todo = f"Fill in these two rows of `{BLANK}`, and `preferred` in one of them."
    cells = "| | | | | |"
    form = ["| pair | side | useful | misleading | missing | sufficient | preferred |", "| --- " * 7 + "|"]
    form += [f"| {pair.id} | {name} {cells}" for name in pair.sides]
    how = f"Write the numbers of passages with spaces between them, such as `2 3`, and `{NO_PASSAGE}` for none."
    parts += ["## Answer form", f"{todo} {how}", "\n".join(form), "## Criteria", criteria(), PREFERRED]
    return "\n\n".join(parts) + "\n"


def _on_both(pair: Pair) -> str:
    """The passages that both sides show, so that nobody has to read them twice."""
    first, second = marked_passages(pair.a.text), marked_passages(pair.b.text)
    shared = [(number, first.index(text) + 1) for number, text in enumerate(second, 1) if text in first]
    return ", ".join(f"{number} = {earlier}" for number, earlier in shared)


def _passages(side: Side) -> str:
    return f"{side.passages} passage{'' if side.passages == 1 else 's'}"
