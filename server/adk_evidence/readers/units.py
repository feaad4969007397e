"""Cuts the lines of a chunk into the units that a passage is made of.

A unit of a page is a paragraph with the code block that it introduces, some items of a list, or a table. A unit of code
is a signature with the first paragraph of its docstring, the rest of a docstring, a field, or a few statements. Units
follow each other and cover all lines of the chunk.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from adk_evidence.readers import breaks
from adk_evidence.readers.licences import licence_lines
from adk_evidence.readers.pages.markdown import read_markdown
from adk_evidence.readers.pages.page import Page
from adk_evidence.readers.python import (
    Definition,
    bare_string,
    blocks,
    bound_names,
    first_line,
    imports,
    last_line,
    parse,
    parse_quietly,
    string_lines,
)

# `docstring`: what stands in one behind its first paragraph. `label`: a heading, the label of a tab, the border of a
# code block, the signature of a definition or the head of a statement; what names other units. `idle`: licences,
# imports and markup that say nothing by themselves.
Role = Literal["text", "docstring", "label", "field", "idle"]
_ROLES: tuple[Role, ...] = get_args(Role)

# From this many lines on, a statement or a code block is cut into smaller units, and a list or a run of lines ends.
LONG = 14
# A few statements make a unit from this many lines on.
ENOUGH = 4

_SECTION = re.compile(r"\s*(?:Args|Arguments|Attributes|Parameters|Raises|Returns|Yields)\s*:\s*$")
_TAG_LINE = re.compile(r"\s*(?:(?:<[^<>]*>\s*)*|-{3,}\s*|\*{3,}\s*)$")
_TAGS = re.compile(r"\s*</?(?:div|span|img|p|br|a)\b.*>\s*$", re.IGNORECASE)


class Unit(NamedTuple):
    """Lines `start` to `end` of a chunk, 0-based, end exclusive, with the numbers of the units that must be shown with
    them: the headings above, the border of the code block, the signature. `names` are the fields that a unit defines,
    `binds` the names that it imports.
    """

    start: int
    end: int
    role: Role = "text"
    needs: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()

    @property
    def says(self) -> bool:
        """Whether the lines say something by themselves."""
        return self.role in ("text", "docstring", "field")

    def holds(self, lines: Iterable[int]) -> bool:
        """Whether some of the lines, counted from 0, are among these."""
        return any(self.start <= line < self.end for line in lines)


def units(lines: Sequence[str], lang: str) -> list[Unit]:
    """The units of a chunk in order, covering every line; `lang` is the language of its file."""
    if lang == "md":
        return _of_page(lines)
    if lang == "py":
        return _of_python(lines)
    return [Unit(start, end) for start, end in _runs(lines, 0, len(lines))]


def packed(found: Iterable[Unit]) -> str:
    """Units that follow each other from line 0 on, as a text that a payload keeps: cutting takes ten times as long."""
    rows = [(unit.end, _ROLES.index(unit.role), *unit[3:]) for unit in found]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def unpacked(text: str) -> list[Unit]:
    """The units that `packed` wrote."""
    found: list[Unit] = []
    start = 0
    for end, role, *others in json.loads(text):
        found.append(Unit(start, end, _ROLES[role], *map(tuple, others)))
        start = end
    return found


def _runs(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Lines up to an empty line behind enough of them, or so many that they are long."""
    first = start
    for line in range(start, end):
        size = line - first
        ends_block = line > start and not lines[line - 1].strip() and lines[line].strip()
        if size and ((ends_block and size > ENOUGH) or size >= 2 * LONG):
            yield first, line
            first = line
    if first < end:
        yield first, end


# Pages


def _of_page(lines: Sequence[str]) -> list[Unit]:
    page = read_markdown(lines)
    found: list[Unit] = []
    headings: dict[int, int] = {}
    labels: list[tuple[int, int]] = []  # indentation and unit of the labels of tabs and notes around a line
    for start, end in _blocks_of(page):
        content = lines[start].lstrip()
        indent = len(lines[start]) - len(content)
        labels = [(column, number) for column, number in labels if column < indent]
        heading = page.heading_at[start]
        above = [] if heading is None else [*page.headings[heading].path, heading]
        needs = [headings[one] for one in above if one in headings] + [number for _, number in labels]
        if start in page.label_lines:
            if heading is not None and page.headings[heading].line == start:
                headings[heading] = len(found)
                needs = needs[:0]
            else:
                labels.append((indent, len(found)))
            found.append(Unit(start, end, "label", tuple(needs)))
        elif end <= page.front_matter_end or _is_markup(lines[start:end]):
            found.append(Unit(start, end, "idle"))
        else:
            found += _block(page, start, end, tuple(needs), len(found))
    return found


def _blocks_of(page: Page) -> Iterator[tuple[int, int]]:
    """First line and end of every block: labels alone, a code block with the paragraph that introduces it."""
    first = 0
    for line in range(1, len(page.lines)):
        rank = page.ranks[line]
        if rank in (breaks.NEVER, breaks.SOFT, breaks.LINE) or ((fence := page.fence_at[line]) and fence[0] < line):
            continue
        after_label = first in page.label_lines
        glued = rank == breaks.KEEP_TOGETHER and not after_label and line not in page.label_lines
        short_list = breaks.is_list_item(rank) and line - first < LONG // 2 and not after_label
        if not glued and not short_list:
            yield first, line
            first = line
    if page.lines:
        yield first, len(page.lines)


def _is_markup(block: Sequence[str]) -> bool:
    told = [line for line in block if line.strip()]
    return bool(told) and all(_TAG_LINE.match(line) or _TAGS.match(line) for line in told)


def _block(page: Page, start: int, end: int, needs: tuple[int, ...], number: int) -> list[Unit]:
    """The units of a block: itself, or the parts of a long code block, none of which is shown without its borders."""
    fence = next((page.fence_at[line] for line in range(start, end) if page.fence_at[line]), None)
    if fence is None or fence[1] - fence[0] <= 2 * LONG or fence[0] < start:
        return [Unit(start, end, "text", needs)]
    opening, closing = fence[0], min(fence[1], end) - 1
    lines = page.lines[opening + 1 : closing]
    language = page.fence_language[opening]
    if language == "python":
        inside = _of_python(lines)
    else:
        inside = [Unit(first, last) for first, last in _runs(lines, 0, len(lines))]
    # What introduces the code is shown with any part of the code, but may be shown alone.
    found = [Unit(start, opening, "text", needs)] if opening > start else []
    around = (*needs, number) if found else needs
    first = number + len(found)
    last = first + 1 + len(inside)
    found.append(Unit(opening, opening + 1, "label", (*around, last)))
    for unit in inside:
        own = tuple(first + 1 + need for need in unit.needs)
        role = "text" if unit.role == "idle" else unit.role
        start_at, end_at = unit.start + opening + 1, unit.end + opening + 1
        found.append(Unit(start_at, end_at, role, (*around, first, last, *own), unit.names, unit.binds))
    return [*found, Unit(closing, end, "label", (*around, first))]


# Python


def _of_python(lines: Sequence[str]) -> list[Unit]:
    text = "\n".join(lines)
    cuts: list[_Cut] = []
    # As `parse_lines` does, but only the lines of the cuts are moved back, not those of all nodes.
    indented = text[:1].isspace()
    tree = parse_quietly(f"if True:\n{text}" if indented else text)
    if tree is None and (inside := string_lines(text)):
        prose = [Unit(start, end, "docstring") for start, end in _runs(lines, 0, inside)]
        return [*prose, *(_behind(unit, inside, len(prose)) for unit in _of_python(lines[inside:]))]
    if tree is None:
        _cut_block(parse(text)[0].body, (), cuts, in_class=False)
    elif not indented:
        _cut_block(tree.body, (), cuts, in_class=False)
    else:
        for node in tree.body:
            body = node.body if isinstance(node, ast.If) else [node]
            _cut_block(body, (), cuts, in_class=_has_fields(body))
        for cut in cuts:
            cut.first, cut.last = cut.first - 1, cut.last - 1
    return _tiled(cuts, lines)


def _behind(unit: Unit, lines: int, units: int) -> Unit:
    """A unit of what stands behind so many lines and units."""
    needs = tuple(need + units for need in unit.needs)
    return unit._replace(start=unit.start + lines, end=unit.end + lines, needs=needs)


@dataclass
class _Cut:
    """Where a unit begins and its statement ends (1-based, inclusive), what it is, the cuts that it needs, the fields
    that it defines, and the names that it imports."""

    first: int
    last: int
    role: Role
    needs: tuple[int, ...]
    names: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()


def _cut_block(block: Sequence[ast.stmt], needs: tuple[int, ...], cuts: list[_Cut], *, in_class: bool) -> None:
    """Add the units of some statements."""
    gathered: list[ast.stmt] = []

    def flush() -> None:
        if gathered:
            cuts.append(_Cut(first_line(gathered[0]), last_line(gathered[-1]), "text", needs))
            gathered.clear()

    previous: ast.stmt | None = None
    for node in block:
        if isinstance(node, Definition):
            flush()
            _cut_definition(node, needs, cuts)
        elif _imports(node) and not needs:
            # Those in a function are statements of its body.
            flush()
            cuts.append(_Cut(node.lineno, last_line(node), "idle", needs, binds=tuple(imports(node, ""))))
        elif in_class and isinstance(node, ast.Assign | ast.AnnAssign):
            flush()
            cuts.append(_Cut(node.lineno, last_line(node), "field", needs, tuple(bound_names(node))))
        elif in_class and (value := bare_string(node)) is not None and isinstance(previous, ast.Assign | ast.AnnAssign):
            field = len(cuts) - 1
            if last_line(node) - node.lineno < LONG:
                cuts[field].last = last_line(node)
            else:
                cuts[field].last = _summary_end(node, value)
                _cut_docstring(node, value, cuts[field].last, (*needs, field), cuts)
        elif last_line(node) - node.lineno >= LONG and any(True for _ in blocks(node)):
            flush()
            _cut_compound(node, needs, cuts)
        else:
            if gathered:
                size = last_line(gathered[-1]) - first_line(gathered[0]) + 1
                apart = node.lineno - last_line(gathered[-1]) > 1
                if (apart and size >= ENOUGH) or size >= LONG:
                    flush()
            gathered.append(node)
        previous = node
    flush()


def _cut_definition(node: Definition, needs: tuple[int, ...], cuts: list[_Cut]) -> None:
    body = list(node.body)
    head = len(cuts)
    first_of_body = body[0].lineno if body else last_line(node)
    cut = _Cut(first_line(node), max(first_line(node), first_of_body - 1), "label", needs)
    cuts.append(cut)
    inner = (*needs, head)
    if body and (value := bare_string(body[0])) is not None:
        docstring = body.pop(0)
        cut.last = _summary_end(docstring, value)
        if cut.last < last_line(docstring) - 1:
            _cut_docstring(docstring, value, cut.last, inner, cuts)
        else:
            cut.last = last_line(docstring)
    if body and first_line(body[0]) <= cut.last:
        cut.last = last_line(node)  # `def f(): ...` on one line
        return
    _cut_block(body, inner, cuts, in_class=isinstance(node, ast.ClassDef))


def _summary_end(node: ast.stmt, value: str) -> int:
    """The line at which the first paragraph of a docstring ends."""
    summary = value.lstrip("\n").split("\n\n", 1)[0]
    blank = len(value) - len(value.lstrip("\n"))
    return min(last_line(node), node.lineno + blank + summary.rstrip().count("\n"))


def _cut_docstring(node: ast.stmt, value: str, after: int, needs: tuple[int, ...], cuts: list[_Cut]) -> None:
    """Add the paragraphs of a docstring behind line `after`; long ones, such as `Args:`, by their entries."""
    lines = value.split("\n")
    start = after - node.lineno + 1  # of the docstring's lines
    while start < len(lines):
        end = start
        while end < len(lines) and not lines[end].strip():
            end += 1
        body = end
        while end < len(lines) and lines[end].strip():
            end += 1
        if body >= len(lines) and cuts[-1].needs == needs:
            cuts[-1].last = last_line(node)
            return
        own = needs
        if end - body >= LONG // 2 and body + 1 < end and _SECTION.match(lines[body]):
            cuts.append(_Cut(node.lineno + start, node.lineno + body, "label", needs))
            own = (*needs, len(cuts) - 1)
            margin = len(lines[body + 1]) - len(lines[body + 1].lstrip())
            start = body + 1
            for line in range(start + 1, end):
                if len(lines[line]) - len(lines[line].lstrip()) <= margin and line - start >= ENOUGH:
                    cuts.append(_Cut(node.lineno + start, node.lineno + line - 1, "docstring", own))
                    start = line
        cuts.append(_Cut(node.lineno + start, node.lineno + end - 1, "docstring", own))
        start = end
    cuts[-1].last = max(cuts[-1].last, last_line(node))


def _cut_compound(node: ast.stmt, needs: tuple[int, ...], cuts: list[_Cut]) -> None:
    inside = [block for block in blocks(node) if block]
    head = len(cuts)
    cuts.append(_Cut(node.lineno, max(node.lineno, first_line(inside[0][0]) - 1), "label", needs))
    for block in inside:
        _cut_block(block, (*needs, head), cuts, in_class=False)


def _has_fields(block: Sequence[ast.stmt]) -> bool:
    """Whether some statements without what stands around them are of a class: declared fields with docstrings."""
    return any(
        isinstance(one, ast.AnnAssign) and bare_string(next_one) is not None for one, next_one in pairwise(block)
    )


def _imports(node: ast.stmt) -> bool:
    """Whether a statement only imports, if need be under a condition such as `TYPE_CHECKING`."""
    if isinstance(node, ast.If):
        return all(_imports(one) for one in (*node.body, *node.orelse))
    return isinstance(node, ast.Import | ast.ImportFrom)


def _tiled(cuts: Sequence[_Cut], lines: Sequence[str]) -> list[Unit]:
    """Units without gaps: comments belong to what they stand above, and a licence is a unit by itself."""
    place = licence_lines(lines)
    found = [Unit(0, place, "idle")] if place else []
    numbers: list[int] = []  # the unit of each cut
    for cut in cuts:
        end = min(cut.last, len(lines))
        numbers.append(len(found))
        if end > place:
            needs = tuple(numbers[need] for need in cut.needs)
            found.append(Unit(place, end, cut.role, needs, cut.names, cut.binds))
            place = end
        else:
            numbers[-1] = max(0, len(found) - 1)
    if place < len(lines):
        if found and not any(line.strip() for line in lines[place:]):
            last = found.pop()
            found.append(last._replace(end=len(lines)))
        else:
            found += [Unit(first, last) for first, last in _runs(lines, place, len(lines))]
    return found
