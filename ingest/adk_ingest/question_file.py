"""The questions that were written on this machine: one file for all indexes of a home folder.

Each line has what a model answered for one text: the hash of the text, the questions, the model and the date. The file
only grows, so that nothing is asked twice after a crash, for another version or for another index. No text of a corpus
is in the file.
"""

from __future__ import annotations

import functools
import os
import threading
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from filelock import FileLock
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from adk_evidence.errors import StoreError

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
    questions: tuple[Question, ...] = Field(max_length=MAX_QUESTIONS)
    model: str
    date: str


class QuestionFile:
    """The answers in the file at `path`, which need not exist. Safe between threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._read_to = 0
        self._file: tuple[int, int] | None = None
        self.damaged = 0

    def answers(self) -> Mapping[str, tuple[str, ...]]:
        """The questions by the hash of their text, with what other processes have added. The first answer counts.

        `damaged` then says how many lines cannot be read; these are left out.

        Raises:
            StoreError: The file cannot be read.
        """
        with self._lock:
            try:
                self._read_on()
            except FileNotFoundError:
                self._begin_anew()
            except OSError as exc:
                raise StoreError.of_disk(f"The written questions {self.path} cannot be read", exc) from exc
            return self._known

    def add(self, answers: Iterable[Answer]) -> None:
        """Keep some answers; they are on the disk when this returns.

        Raises:
            StoreError: The file cannot be written.
        """
        text = "".join(f"{answer.model_dump_json()}\n" for answer in answers)
        if not text:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_name(f"{self.path.name}.lock")), self.path.open("ab+") as stream:
                # A process that died may have left half a line.
                if stream.tell() and not _ends_with_newline(stream.fileno()):
                    stream.write(b"\n")
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as exc:
            raise StoreError.of_disk(f"The written questions {self.path} cannot be kept", exc) from exc

    def _read_on(self) -> None:
        with self.path.open("rb") as stream:
            about = os.fstat(stream.fileno())
            file = (about.st_dev, about.st_ino)
            if file != self._file or about.st_size < self._read_to:
                self._begin_anew()
                self._file = file
            stream.seek(self._read_to)
            added = stream.read()
        # A line without an end is being written, or was never ended.
        whole = added[: added.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.split(b"\n"):
            if line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            answer = Answer.model_validate_json(line)
        except ValidationError:
            self.damaged += 1
        else:
            self._known.setdefault(answer.text, answer.questions)


@functools.cache
def question_file(path: Path) -> QuestionFile:
    """The one reader of a file in this process, which reads on where the file has grown."""
    return QuestionFile(path)


def _ends_with_newline(descriptor: int) -> bool:
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"
