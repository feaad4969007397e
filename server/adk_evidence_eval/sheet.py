"""A sheet on which a person judges what the search shows for some questions, and the report of a filled sheet.

A folder holds a page for each question with what the search shows, and `sheet.csv`, which a spreadsheet or an editor
fills in. Each further judge fills in the sheet of a copy of the folder.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.base import Frozen
from adk_evidence.render.prompt import to_prompt
from adk_evidence.render.sanitize import fenced, one_line
from adk_evidence.search.session import EvidenceService
from adk_evidence.text.tokens import estimate_tokens
from adk_evidence.validation import first_problem
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.golden import Question, Row, read_file, read_rows, write_file, written
from adk_evidence_eval.score import Comparison, Scores, compare_scores

PAGES, SHEET = "pages.jsonl", "sheet.csv"
# Stands where a list of passages is empty, since an empty cell is a grade that is not given yet.
NO_PASSAGE = "0"
_GRADES = ("useful", "misleading", "missing", "sufficient")
_COLUMNS = ("page", *_GRADES)
# Spreadsheets of several countries write a semicolon.
_SEPARATORS = ",;\t"
_MADE = "Make the folder with `adk-evidence eval sheet`."
_HINT = (
    f"The columns are {', '.join(_COLUMNS)}. Numbers of passages stand with spaces between them, {NO_PASSAGE} for "
    "none; a text with a comma stands between double quotes."
)


class Page(Row):
    """What the search shows for a question, in how many passages."""

    question: str
    query: str
    text: str
    passages: int = Field(ge=0)


class Grades(Frozen):
    """A person's grades of one page; `criteria.md` says what they mean.

    Validate with the context `{"passages": n}`, the number of passages of the page. Passages are numbered from 1.
    """

    useful: tuple[int, ...]
    misleading: tuple[int, ...]
    missing: str = ""
    sufficient: int = Field(ge=0, le=2)

    @field_validator("useful", "misleading", mode="before")
    @classmethod
    def _listed(cls, cell: str) -> list[str]:
        words = re.split(r"[\s,;]+", cell.strip(" ,;"))
        if not all(word.isdecimal() for word in words):
            raise ValueError(f"write the numbers of passages with spaces, such as 2 3, or {NO_PASSAGE} for none")
        return [] if words == [NO_PASSAGE] else words

    @field_validator("useful", "misleading")
    @classmethod
    def _shown(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        passages = (info.context or {})["passages"]
        for number in value:
            if not 1 <= number <= passages:
                raise ValueError(f"there is no passage {number}, as the page has {passages}")
        return tuple(sorted(set(value)))

    @model_validator(mode="after")
    def _consistent(self) -> Grades:
        if both := sorted(set(self.useful) & set(self.misleading)):
            raise ValueError(f"passage {both[0]} is both useful and misleading")
        if self.sufficient < 2 and not self.missing:
            raise ValueError(f"missing: say what is missing, as sufficient is {self.sufficient}")
        return self


@dataclass(frozen=True)
class Missing:
    """What a person missed in what the search shows for a question."""

    question: str
    sufficient: int
    text: str


@dataclass(frozen=True)
class Report:
    """The judgements of a sheet.

    Attributes:
        judged: How many pages are graded; only these count.
        pages: How many pages there are.
        means: The interval of each metric's mean. `relevance` is the share of the passages that are useful.
        missing: What the pages lack that do not answer the whole question.
        against: The differences to another folder, on the questions that both have.
    """

    judged: int
    pages: int
    means: Mapping[str, Interval]
    missing: Sequence[Missing]
    against: Sequence[Comparison] = ()


def make_pages(service: EvidenceService, questions: Sequence[Question], max_tokens: int) -> Iterator[Page]:
    """What the service shows for each question, as a prompt of at most `max_tokens` estimated tokens.

    An id holds a hash of the page's content, so that the sheet of another folder does not fit.
    """
    for number, question in enumerate(questions, 1):
        with service.session() as session:
            request = question.request(session)
            block = to_prompt(session.find(request), max_tokens)
        digest = hashlib.sha256(f"{question.id}\n{request.query}\n{block.text}".encode("utf-8", "replace")).hexdigest()
        yield Page(
            id=f"p{number:03}-{digest[:4]}",
            question=question.id,
            query=request.query,
            text=block.text,
            passages=block.included,
        )


def check_free(folder: Path) -> None:
    """Refuse a folder that holds something, which may be a judge's work.

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


def write_folder(folder: Path, pages: Iterable[Page]) -> None:
    """Write the pages, and a sheet that is not filled in.

    Raises:
        InvalidRequestError: The folder cannot be written.
    """
    made = list(pages)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows([page.id, *[""] * len(_GRADES)] for page in made)
    files = {f"{page.id}.md": _page_text(page) for page in made}
    files |= {SHEET: out.getvalue(), PAGES: written(made)}
    for name, text in files.items():
        write_file(folder / name, text)


def _page_text(page: Page) -> str:
    """A page as a person reads it; what the search shows is quoted, so that nothing in it passes for the page."""
    shown = f"{page.passages} passage{'' if page.passages == 1 else 's'}"
    how = (
        f"Fill in the row of this page in `{SHEET}`. Write the numbers of passages with spaces between them, such as "
        f"`2 3`, and `{NO_PASSAGE}` for none."
    )
    criteria = resources.files(__package__).joinpath("criteria.md").read_text(encoding="utf-8").strip()
    parts = [f"# {page.id}", "## Question", fenced(page.query, "text"), f"## {shown}", fenced(page.text, "text")]
    return "\n\n".join([*parts, "## What to fill in", how, criteria]) + "\n"


def read_report(folder: Path, against: Path | None = None) -> Report:
    """The report of a folder, and its differences to another folder with the same questions.

    Raises:
        InvalidRequestError: A folder holds no sheet, its sheet is not valid, or no page is graded.
    """
    judged, pages = _read(folder)
    scores = {page.question: _scores(page, grades) for page, grades in judged}
    missing = [
        Missing(page.question, grades.sufficient, one_line(grades.missing))
        for page, grades in judged
        if grades.sufficient < 2
    ]
    metrics = dict.fromkeys(metric for row in scores.values() for metric in row)
    means = {name: mean_interval([row[name] for row in scores.values() if name in row]) for name in metrics}
    compared: Sequence[Comparison] = ()
    if against is not None:
        before = {page.question: _scores(page, grades) for page, grades in _read(against)[0]}
        compared = compare_scores(before, scores)
        if not compared:
            message = f"No question is judged both in {folder} and in {against}."
            raise InvalidRequestError(message, "Compare sheets of the same questions.")
    return Report(len(judged), pages, means, missing, compared)


def _read(folder: Path) -> tuple[list[tuple[Page, Grades]], int]:
    """The pages of a folder that are judged, with their grades, and how many pages there are."""
    pages = read_rows(folder / PAGES, Page, _MADE)
    path = folder / SHEET
    graded: dict[str, Grades] = {}
    for number, row in _rows(path):
        where = f"Line {number} of {path}"
        page = pages.get(row["page"])
        if page is None:
            message = f"{where} is of the page {row['page']!r}, which this folder does not have."
            raise InvalidRequestError(message, f"Use the sheet that lies beside the pages. {_HINT}")
        if page.id in graded:
            raise InvalidRequestError(f"{where} grades {page.id} a second time.", "Delete one of the lines.")
        if any(row[column] for column in _GRADES):
            # An empty cell is a missing grade, except that nothing may be missing from a text.
            values: dict[str, Any] = {name: row[name] for name in _GRADES if row[name] or name == "missing"}
            try:
                graded[page.id] = Grades.model_validate(values, context={"passages": page.passages})
            except ValidationError as exc:
                raise InvalidRequestError(f"{where} is not valid: {first_problem(exc)}.", _HINT) from exc
    if not graded:
        raise InvalidRequestError(f"{path} has no grade yet.", f"Read the pages, and fill in {SHEET}.")
    return [(page, graded[name]) for name, page in pages.items() if name in graded], len(pages)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows by column with the number of the line on which each ends; blank rows are left out."""
    # Spreadsheets write a byte order mark.
    text = read_file(path, "Save the sheet as CSV in UTF-8.", "utf-8-sig")
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = [column.strip() for column in next(reader, [])]
        if sorted(columns) != sorted(_COLUMNS):
            raise InvalidRequestError(f"The first line of {path} does not name the columns of a sheet.", _HINT)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(columns):
                message = f"Line {reader.line_num} of {path} has {len(cells)} cells for {len(columns)} columns."
                raise InvalidRequestError(message, _HINT)
            cells += [""] * (len(columns) - len(cells))
            yield reader.line_num, {name: cell.strip() for name, cell in zip(columns, cells, strict=True)}
    except csv.Error as exc:
        raise InvalidRequestError(f"Line {reader.line_num} of {path} is not valid CSV: {exc}.", _HINT) from exc


def _scores(page: Page, grades: Grades) -> Scores:
    found = {
        "fully_sufficient": float(grades.sufficient == 2),
        "sufficient": float(grades.sufficient),
        "first_useful_mrr": 1 / grades.useful[0] if grades.useful else 0.0,
        "misleading": float(len(grades.misleading)),
        "passages": float(page.passages),
        "tokens": float(estimate_tokens(page.text)),
    }
    # A question for which nothing is shown says nothing of the relevance of results.
    return {"relevance": len(grades.useful) / page.passages, **found} if page.passages else found
