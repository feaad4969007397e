"""The file of what a model answered, in JSON Lines: of each text its hash and name, the questions, model and date.

The file only grows, so that nothing is asked twice after a crash or for another index. No text of a corpus is in it.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

# Of 8 to 28 words; the bounds are wide enough for other languages.
MIN_CHARS, MAX_CHARS = 15, 260
MAX_QUESTIONS = 6
# Controls, lone surrogates, line and paragraph ends, and hidden format characters.
_HIDDEN = frozenset({"Cc", "Cs", "Cf", "Zl", "Zp"})


def clean(question: str) -> str:
    """A question as one line without hidden characters."""
    shown = (" " if unicodedata.category(char) in _HIDDEN else char for char in question)
    return " ".join("".join(shown).split())


def _is_clean(question: str) -> str:
    if question != clean(question):
        raise ValueError("it should be one line without hidden characters")
    return question


Question = Annotated[str, Field(min_length=MIN_CHARS, max_length=MAX_CHARS), AfterValidator(_is_clean)]


class Answer(BaseModel):
    """What a model wrote for the text with a hash; no question where nobody would ask for the text."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(pattern="^[0-9a-f]{64}$")
    name: str
    questions: tuple[Question, ...] = Field(max_length=MAX_QUESTIONS)
    model: str
    date: str


class Answers:
    """The answers in the file at `path`, which need not exist; of two for one text, the first counts.

    Safe between threads. `damaged` says how many lines cannot be read; these are left out.

    Raises:
        OSError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        self._lock = threading.Lock()
        self._known: dict[str, Answer] = {}
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            if line.strip():
                self._read(line)

    @property
    def known(self) -> Mapping[str, Answer]:
        """The answers by the hash of their text."""
        return self._known

    def add(self, answers: Iterable[Answer]) -> None:
        """Keep some answers; they are on the disk when this returns."""
        added = list(answers)
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as stream:
                # A process that died may have left half a line.
                if stream.tell() and not _ends_with_newline(stream.fileno()):
                    stream.write(b"\n")
                stream.write("".join(f"{answer.model_dump_json()}\n" for answer in added).encode())
                stream.flush()
                os.fsync(stream.fileno())
            for answer in added:
                self._known.setdefault(answer.text, answer)

    def _read(self, line: bytes) -> None:
        try:
            answer = Answer.model_validate_json(line)
        except ValidationError:
            self.damaged += 1
        else:
            self._known.setdefault(answer.text, answer)


def _ends_with_newline(descriptor: int) -> bool:
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"
