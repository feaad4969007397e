"""Files of questions, one JSON object per line: plain ones, and golden sets with the graded spans that answer them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from adk_evidence.errors import InvalidRequestError
from adk_evidence.files import write_atomic
from adk_evidence.models.request import MAX_SYMBOLS, EvidenceRequest, TaskMode, Wordings
from adk_evidence.store.manifest import is_samples
from adk_evidence.validation import first_problem

if TYPE_CHECKING:
    from adk_evidence.search.session import Session

# What a question is: words, words for which somebody would link one page, an error's traceback, or code that is
# selected in an editor.
QuestionKind = Literal["question", "everyday", "traceback", "selection"]

_HINT = (
    'Each line is {"id": "...", "query": "...", "expected": '
    '[{"corpus", "path", "start_line", "end_line", "grade", "symbol" or "heading"}]}.'
)


class Read(BaseModel):
    """A part of a line. Keys that a subclass does not name are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Row(Read):
    """A line."""

    id: str = Field(min_length=1)


class Selection(Read):
    """Selected code of a document. `start` and `end` are line and column in characters, from 0, as editors count."""

    document: str
    language: str = "python"
    start: tuple[int, int]
    end: tuple[int, int]


class Question(Row):
    """A question of a query file: a query with other wordings of it, or the selection that the query is made of."""

    query: str = ""
    task_mode: TaskMode = "build"
    wordings: Wordings = ()
    selection: Selection | None = None

    def request(self, session: Session | None = None) -> EvidenceRequest:
        """The request that asks the question, as a surface makes the request.

        Args:
            session: Resolves the names in a selection; without a session, the names stay unresolved.

        Raises:
            ValidationError: The query is empty or too long.
            InvalidRequestError: Nothing is selected.
        """
        if self.selection is None:
            return EvidenceRequest(query=self.query, task_mode=self.task_mode, wordings=self.wordings)
        return _selection_request(self.selection, self.task_mode, session)


def _selection_request(selection: Selection, task_mode: TaskMode, session: Session | None) -> EvidenceRequest:
    """What the language server asks for a selection."""
    from adk_evidence.documents.document import PythonDocument
    from adk_evidence.symbols.query import build_query

    document = PythonDocument(selection.document)
    symbols = session.symbols if session is not None else None
    used = build_query(document, selection.language, selection.start, selection.end, symbols)
    # A request may name fewer symbols than a long selection holds.
    symbols_asked = used.symbols[:MAX_SYMBOLS]
    return EvidenceRequest(query=used.text, task_mode=task_mode, symbols=symbols_asked, own_names=used.own_names)


class Span(Read):
    """Lines of a file, 1-based and inclusive."""

    corpus: str
    path: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)

    @model_validator(mode="after")
    def _forward(self) -> Span:
        if self.end_line < self.start_line:
            raise ValueError("end_line comes before start_line")
        return self


def is_docs(corpus: str) -> bool:
    """Whether a corpus is documentation, as example programs are, also those beside code."""
    return corpus == "adk_docs" or is_samples(corpus)


class Target(Span):
    """A graded span.

    `symbol` (the qualified name that the span defines) or `heading` (the nearest one above it) and `sha256` (of its
    lines) find the span again in a later version of the file.
    """

    grade: int = Field(default=1, ge=1)
    symbol: str | None = None
    heading: str | None = None
    note: str = ""
    sha256: str | None = None


class GoldenQuestion(Question):
    """A question and what answers it; where nothing does, `answerable` is false and `note` says why.

    `last_line` is the error at the end of a traceback, so only tracebacks have `last_line`. Only everyday questions
    have `first`: the files, or folders with a slash at the end, of which the first result should be.
    """

    category: str = ""
    last_line: str | None = None
    answerable: bool = True
    note: str = ""
    expected: tuple[Target, ...] = ()
    first: tuple[str, ...] = ()

    @property
    def is_judged(self) -> bool:
        """Whether the question says what answers it."""
        return bool(self.expected or self.first)

    @property
    def kind(self) -> QuestionKind:
        if self.selection is not None:
            return "selection"
        if self.first:
            return "everyday"
        return "traceback" if self.last_line is not None else "question"

    @model_validator(mode="after")
    def _consistent(self) -> GoldenQuestion:
        if self.is_judged and not self.answerable:
            raise ValueError("it expects something, so it is answerable")
        return self


RowT = TypeVar("RowT", bound=Row)


def read_rows(
    path: Path, model: type[RowT], hint: str, check: Callable[[RowT], object] = lambda row: None
) -> dict[str, RowT]:
    """Read rows with unique ids.

    Args:
        path: The file, in UTF-8; blank lines do not count.
        model: What a line must be.
        hint: What a line looks like, for the error.
        check: Raises `ValidationError` for a row that cannot be used.

    Returns:
        The rows by their ids.

    Raises:
        InvalidRequestError: The file cannot be read or has no rows, or a line is not valid.
    """
    rows: dict[str, RowT] = {}
    for number, line in enumerate(read_file(path, hint).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = model.model_validate_json(line)
            check(row)
        except (ValidationError, InvalidRequestError) as exc:
            problem = f"{first_problem(exc)}" if isinstance(exc, ValidationError) else exc.message.rstrip(".")
            raise InvalidRequestError(f"Line {number} of {path} is not valid: {problem}.", hint) from exc
        if row.id in rows:
            raise InvalidRequestError(f"Line {number} of {path} has the id of an earlier line, {row.id!r}.", hint)
        rows[row.id] = row
    if not rows:
        raise InvalidRequestError(f"{path} has no lines.", hint)
    return rows


def read_file(path: Path, hint: str, encoding: str = "utf-8") -> str:
    """The text of a file.

    Raises:
        InvalidRequestError: The file cannot be read.
    """
    try:
        return path.read_text(encoding=encoding)
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise InvalidRequestError(f"{path} cannot be read: {reason}.", hint) from exc


def write_file(path: Path, text: str) -> None:
    """Write a file, also in a new folder. It replaces an older one in one step.

    Raises:
        InvalidRequestError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode("utf-8"))
    except OSError as exc:
        raise InvalidRequestError(f"{path} cannot be written: {exc.strerror or exc}.", "Name another place.") from exc


def written(rows: Iterable[Row]) -> str:
    """Rows as JSON lines."""
    return "".join(row.model_dump_json(exclude_none=True) + "\n" for row in rows)


def read_queries(path: Path) -> list[Question]:
    """Read questions that will be asked; see `read_rows`."""
    return list(read_rows(path, Question, 'Each line is {"id": "...", "query": "..."}.', Question.request).values())


def read_golden(path: Path, *, ask: bool = False, spans: bool = True) -> dict[str, GoldenQuestion]:
    """Questions by id; see `read_rows`.

    Args:
        path: JSON lines.
        ask: Whether the questions will be asked, so that each must be one that can be.
        spans: Whether some question must say what is expected.

    Raises:
        InvalidRequestError: The file is not valid, or no question says what is expected.
    """
    questions = read_rows(path, GoldenQuestion, _HINT, lambda question: question.request() if ask else None)
    if spans and not any(question.is_judged for question in questions.values()):
        raise InvalidRequestError(f"No question of {path} says what is expected.", _HINT)
    return questions


def set_names(paths: Sequence[Path]) -> list[str]:
    """A name for each golden set: that of its file, or the whole path where several files are called so.

    Raises:
        InvalidRequestError: A file is given twice.
    """
    full = [path.absolute() for path in paths]
    if twice := next((path for path in full if full.count(path) > 1), None):
        raise InvalidRequestError(f"The golden set {twice} is given twice.", "Give each file once.")
    stems = [path.stem for path in paths]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths, strict=True)]


def golden_lines(questions: Iterable[GoldenQuestion]) -> str:
    """A golden set as its file holds it, without defaults but for mode, `answerable` and grade."""
    order = (
        *("id", "query", "last_line", "selection", "category", "task_mode", "answerable"),
        *("note", "expected", "first"),
    )
    lines = []
    for question in questions:
        data = question.model_dump(mode="json", exclude_defaults=True)
        data |= {"task_mode": question.task_mode, "answerable": question.answerable}
        data["expected"] = [
            {**target.model_dump(mode="json", exclude_defaults=True), "grade": target.grade}
            for target in question.expected
        ]
        lines.append(json.dumps({key: data[key] for key in order if key in data}, ensure_ascii=False) + "\n")
    return "".join(lines)
