"""Sheets: one judge's grades of the pairs of a folder, as CSV that a spreadsheet or an editor fills in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.files import write_atomic
from adk_evidence.validation import first_problem
from adk_evidence_eval.judging.criteria import NO_PASSAGE, PREFERENCES, Grades, Preference, SideName
from adk_evidence_eval.judging.pairs import BLANK, Pair

_GRADES = ("useful", "misleading", "missing", "sufficient")
_COLUMNS = ("pair", "side", *_GRADES, "preferred")
# Spreadsheets of several countries write a semicolon.
_SEPARATORS = ",;\t"
_PREFIX = "sheet-"
_HINT = (
    f"The columns are {', '.join(_COLUMNS)}. Numbers of passages stand with spaces between them, {NO_PASSAGE} for "
    "none; a text with a comma stands between double quotes."
)


@dataclass
class Sheet:
    """What a judge said so far: grades by pair and side, and which side of a pair is preferred."""

    grades: dict[tuple[str, SideName], Grades] = field(default_factory=dict)
    preferred: dict[str, Preference] = field(default_factory=dict)

    def complete(self, pair: Pair) -> bool:
        """Whether all of a pair that is to be graded is graded; a preference may be missing."""
        return all((pair.id, name) in self.grades for name in pair.sides)


def sheet_path(folder: Path, judge: str) -> Path:
    """The sheet of a judge. Characters of the name that not every file system takes become a hyphen."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", judge).strip("-.") or "judge"
    return folder / f"{_PREFIX}{name}.csv"


def sheets(folder: Path) -> dict[str, Path]:
    """The sheets of a folder by judge: `sheet-anna.csv` is of `anna`, and `sheet.csv` of `sheet`."""
    found = {path.stem.removeprefix(_PREFIX): path for path in sorted(folder.glob(f"{_PREFIX}*.csv"))}
    own = folder / BLANK
    return {own.stem: own, **found} if own.exists() else found


def sheet_text(pairs: Iterable[Pair], sheet: Sheet) -> str:
    """A sheet as its file holds it; what the judge did not say stays empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for pair in pairs:
        for name in pair.sides:
            preferred = sheet.preferred.get(pair.id, "") if name == pair.sides[-1] else ""
            writer.writerow([pair.id, name, *_cells(sheet.grades.get((pair.id, name))), preferred])
    return out.getvalue()


def write_sheet(path: Path, pairs: Iterable[Pair], sheet: Sheet) -> None:
    """Replace a sheet in one step.

    Raises:
        InvalidRequestError: The file cannot be written.
    """
    try:
        write_atomic(path, sheet_text(pairs, sheet).encode("utf-8", "replace"))
    except OSError as exc:
        message = f"The sheet {path} cannot be written: {exc.strerror or exc}."
        raise InvalidRequestError(message, "Close programs that use the file, and check the folder.") from exc


def read_sheet(path: Path, pairs: Mapping[str, Pair]) -> Sheet:
    """Read a sheet; a row without any grade is not judged yet.

    Raises:
        InvalidRequestError: The file cannot be read, belongs to other pairs, or a row is not valid or not whole.
    """
    sheet = Sheet()
    seen: set[tuple[str, str]] = set()
    for number, row in _rows(path):
        name = row["pair"]
        pair = pairs.get(name)
        where = f"Line {number} of {path}"
        if pair is None:
            message = f"{where} is of the pair {name!r}, which this folder does not have."
            raise InvalidRequestError(message, f"Use the sheet that lies beside the pairs. {_HINT}")
        side = next((one for one in pair.sides if one == row["side"].upper()), None)
        if side is None:
            message = f"{where} has the side {row['side']!r}, and {name} has {' and '.join(pair.sides)}."
            raise InvalidRequestError(message, _HINT)
        if (name, side) in seen:
            raise InvalidRequestError(
                f"{where} grades side {side} of {name} a second time.", "Delete one of the lines."
            )
        seen.add((name, side))
        where = f"{where}, {name} side {side}, is not valid"
        if row["preferred"]:
            _prefer(sheet, pair, row["preferred"], where)
        if any(row[column] for column in _GRADES):
            sheet.grades[name, side] = _graded(row, pair.side(side).passages, where)
    return sheet


def _rows(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    """The rows by column with the number of the line on which each ends; blank rows are left out."""
    try:
        # Spreadsheets write a byte order mark.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise InvalidRequestError(f"{path} cannot be read: {reason}.", "Save the sheet as CSV in UTF-8.") from exc
    heading = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=heading.count)
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


def _prefer(sheet: Sheet, pair: Pair, said: str, where: str) -> None:
    found = next((name for name in PREFERENCES if name.lower() == said.lower()), None)
    if found is None:
        raise InvalidRequestError(f"{where}: preferred should be A, B or same.", _HINT)
    if sheet.preferred.setdefault(pair.id, found) != found:
        raise InvalidRequestError(f"{where}: preferred differs from the other row of the pair.", "Keep one of them.")


def _graded(row: Mapping[str, str], passages: int, where: str) -> Grades:
    # An empty cell is a missing grade, except that nothing may be missing from a text.
    values = {column: row[column] for column in _GRADES if row[column] or column == "missing"}
    try:
        return Grades.model_validate(values, context={"passages": passages})
    except ValidationError as exc:
        raise InvalidRequestError(f"{where}: {first_problem(exc)}.", _HINT) from exc


def _cells(grades: Grades | None) -> Sequence[str]:
    if grades is None:
        return [""] * len(_GRADES)
    useful, misleading = (" ".join(map(str, passages)) or NO_PASSAGE for passages in (grades.useful, grades.misleading))
    return [useful, misleading, grades.missing, str(grades.sufficient)]
