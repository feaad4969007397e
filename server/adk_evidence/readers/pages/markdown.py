"""Reads the structure of a Markdown page as mkdocs-material understands it.

Tabs and admonitions nest by indentation in Python-Markdown and not in CommonMark, so a CommonMark parser would take
half of such a page for indented code. One pass reads a page in time linear in its size; no content makes it fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from adk_evidence.languages import TAB_NAMES, common_name
from adk_evidence.readers import breaks
from adk_evidence.readers.pages.headings import parse_heading
from adk_evidence.readers.pages.page import Heading, Page

_ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(.*)$")
_TAB = re.compile(r"===[+!]{0,2}[ \t]+(?:\"([^\"]*)\"|'([^']*)')")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]*[\w\"'-]")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
# What a line begins with that may open a code block or raw HTML.
_VERBATIM_MARKS = ("`", "~", "<")
_RAW_ENDS = {"<!--": "-->", "<pre": "</pre>", "<script": "</script>", "<style": "</style>"}
_RAW_START = re.compile("<!--|<pre\\b|<script\\b|<style\\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"')*_\]]*[ \t]*$")
_LANGUAGE = re.compile(r"[a-z][a-z0-9+#-]{0,19}")
_LABEL_LANGUAGE = re.compile(r"([a-z][a-z0-9+#]*)(?=$|[ \t]*[-(/:,–]|[ \t]+v?[0-9])")  # noqa: RUF001
_LABEL_OTHER = re.compile(r"[/,][ \t]*([a-z][a-z0-9+#]*)")
_BRACED_LANGUAGE = re.compile(r"\{[ \t]*\.([\w+#-]+)")
_MAX_FRONT_MATTER_LINES = 200
_MAX_FRONT_MATTER_CHARS = 20_000

_NO_LANGUAGE = {"text", "txt", "none", "plaintext", "plain", "output", "mermaid"}


def language_of(name: str) -> str | None:
    """The common name of a code block's language; None where it is not a language."""
    name = common_name(name.strip().lower())
    return name if name not in _NO_LANGUAGE and _LANGUAGE.fullmatch(name) else None


def tab_language(label: str) -> str | None:
    """The common name of the language that a tab's label begins with; None where it names none or several."""
    # "Python", "Python - adk CLI", "Go (v2)"; but not "Go to the console" and not "Java / Kotlin".
    label = label.strip().lower()
    match = _LABEL_LANGUAGE.match(label)
    name = common_name(match[1]) if match else None
    if name not in TAB_NAMES:
        return None
    others = {common_name(other) for other in _LABEL_OTHER.findall(label)} & TAB_NAMES
    return name if others <= {name} else None


def tab_labels(lines: Iterable[str]) -> Iterator[str]:
    """The labels of what looks like a tab in some lines; reading the page would tell code blocks apart."""
    for line in lines:
        if match := _TAB.match(line.lstrip(" \t")):
            yield match[1] or match[2] or ""


def read_markdown(lines: Sequence[str]) -> Page:
    return _Reader(lines).read()


class CodeBlock(NamedTuple):
    """A code block between fences: its lines with both fences, from 0, and its language as `language_of` gives it."""

    first: int
    end: int
    language: str | None


def code_blocks(lines: Sequence[str]) -> dict[int, CodeBlock]:
    """The code blocks of a page by their first lines, as `read_markdown` finds them, in a fifth of its time."""
    return _Reader(lines).code_blocks()


@dataclass
class _Container:
    indent: int
    content_indent: int
    language: str | None = None
    note: int | None = None


class _Verbatim(NamedTuple):
    """A block whose lines are no Markdown: the line behind it, and what its opening fence says; None of raw HTML."""

    end: int
    info: str | None = None


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._page = Page(lines, "md")
        self._containers: list[_Container] = []
        self._siblings: list[str] = []  # the kind of the last block at each depth
        self._stack: list[int] = []  # open headings
        self._before = "start"  # what stands before the current line: its kind
        self._introduced_depth: int | None = None  # where a paragraph that ends with a colon stands
        self._unclosed_fences: dict[tuple[str, int], tuple[int, int]] = {}  # by character and indentation
        self._no_raw_end: set[str] = set()

    def read(self) -> Page:
        line = self._read_front_matter()
        while line < len(self._lines):
            end = self._read_line(line)
            language = next((box.language for box in reversed(self._containers) if box.language), None)
            notes = tuple(box.note for box in self._containers if box.note is not None)
            for number in range(line, end):
                self._page.note_at[number] = notes
                self._page.heading_at[number] = self._stack[-1] if self._stack else None
                self._page.tab_language[number] = language
            line = end
        self._page.title = self._title()
        return self._page

    def _title(self) -> str | None:
        title = self._page.metadata.get("title")
        if isinstance(title, str) and title.strip():
            return title.strip()
        return next((heading.text for heading in self._page.headings if heading.level == 1 and heading.text), None)

    def code_blocks(self) -> dict[int, CodeBlock]:
        found: dict[int, CodeBlock] = {}
        line = 0
        # Whether this is front matter need not be known where no block could begin inside.
        if any(text.lstrip(" \t").startswith(_VERBATIM_MARKS) for text in self._lines[: self._front_matter_mark()]):
            line = self._read_front_matter()
        while line < len(self._lines):
            content = self._lines[line].lstrip(" \t")
            block = self._verbatim(line, content) if content.startswith(_VERBATIM_MARKS) else None
            if block is None:
                line += 1
                continue
            if block.info is not None:
                found[line] = CodeBlock(line, block.end, _fence_language(block.info))
            line = block.end
        return found

    def _front_matter_mark(self) -> int:
        """The line that would end the front matter; 0 where a page has none."""
        if not self._lines or self._lines[0].rstrip() != "---":
            return 0
        lines = range(1, min(len(self._lines), _MAX_FRONT_MATTER_LINES))
        return next((line for line in lines if self._lines[line].rstrip() in ("---", "...")), 0)

    def _read_front_matter(self) -> int:
        end = self._front_matter_mark()
        if not end:
            return 0
        source = "\n".join(self._lines[1:end])
        if len(source) > _MAX_FRONT_MATTER_CHARS:
            return 0
        try:
            # The base loader makes only strings, lists and mappings, whatever the tags say; it merges nothing.
            data = yaml.load(source, Loader=yaml.BaseLoader)  # noqa: S506
        except (yaml.YAMLError, RecursionError):
            self._page.warnings.append("The front matter is not valid YAML.")
            return 0
        if not isinstance(data, dict):
            return 0
        self._page.metadata = {str(key): value for key, value in data.items() if _is_flat(value)}
        self._page.front_matter_end = end + 1
        for line in range(end + 1):
            self._page.ranks[line] = breaks.LINE
        self._before = "heading"  # the page's first block stays with it
        return end + 1

    def _read_line(self, line: int) -> int:
        """Read the block or the line that begins here; returns the line behind it."""
        text = self._lines[line]
        content = text.lstrip(" \t")
        if not content.strip():
            if self._before != "start":
                self._before = {"paragraph": "blank", "item": "blank"}.get(self._before, self._before)
            return line + 1
        indent = _indent(text)
        continues = self._before in ("paragraph", "item")
        first = content[0]

        if first in _VERBATIM_MARKS and (block := self._verbatim(line, content)):
            if block.info is None:
                self._begin_block(line, indent, "raw")
                self._mark_verbatim(line, block.end)
            else:
                self._read_fence(line, block.end, indent, block.info, glued=continues)
            return block.end
        if first == "#" and (heading := _ATX.match(content)) and self._may_be_heading(indent):
            self._read_heading(line, indent, len(heading[1]), heading[2] or "")
            return line + 1
        if first == "=" and (tab := _TAB.match(content)):
            self._begin_block(line, indent, "tab")
            self._page.tab_lines.add(line)
            self._containers.append(_Container(indent, indent + 4, tab_language(tab[1] or tab[2] or "")))
            self._end_label(line)
            return line + 1
        if first in "!?" and _ADMONITION.match(content):
            self._begin_block(line, indent, "admonition")
            self._containers.append(_Container(indent, indent + 4, note=line))
            self._end_label(line)
            return line + 1
        if (item := _ITEM.match(content)) and not _RULE.match(content) and self._may_be_heading(indent):
            self._begin_block(line, indent, "list")
            self._containers.append(_Container(indent, indent + item.end()))
            if heading := _ATX.match(content[item.end() :]):
                self._read_heading(line, indent + item.end(), len(heading[1]), heading[2] or "")
            else:
                self._end_paragraph_line(content, "item")
            return line + 1
        if not continues:
            if self._is_setext(line, indent):
                level = 1 if self._lines[line + 1].lstrip().startswith("=") else 2
                self._read_heading(line, indent, level, content)
                self._page.label_lines.add(line + 1)
                self._page.ranks[line + 1] = breaks.KEEP_TOGETHER
                return line + 2
            self._begin_block(line, indent, "paragraph")
        else:
            ended = _SENTENCE_END.search(self._lines[line - 1][-20:])
            self._page.ranks[line] = breaks.SOFT if ended else breaks.LINE
        self._end_paragraph_line(content, "paragraph")
        return line + 1

    # Containers

    def _leave(self, indent: int) -> None:
        """Close the containers that a block at this indentation is not part of, and the headings in them."""
        while self._containers and self._containers[-1].indent >= indent:
            self._containers.pop()
        depth = len(self._containers)
        while self._stack and self._page.headings[self._stack[-1]].depth > depth:
            self._stack.pop()

    def _may_be_heading(self, indent: int) -> bool:
        """Whether a mark at this indentation counts, as it would not in indented code."""
        for box in reversed(self._containers):
            if box.indent < indent:
                return indent <= box.content_indent + 3
        return indent <= 3

    # Blocks

    def _begin_block(self, line: int, indent: int, kind: str) -> None:
        self._leave(indent)
        depth = len(self._containers)
        last = self._siblings[depth] if depth < len(self._siblings) else None
        del self._siblings[depth:]
        self._siblings.append(kind)
        introduced = self._introduced_depth is not None and depth >= self._introduced_depth
        if self._before in ("heading", "label") or introduced:
            rank = breaks.KEEP_TOGETHER
        elif last == "tab":
            rank = breaks.tab_item(depth)
        elif last == "list" and kind == "list":
            rank = breaks.list_item(depth)
        else:
            rank = breaks.block(depth)
        self._page.ranks[line] = rank
        self._introduced_depth = None
        self._before = kind

    def _end_paragraph_line(self, content: str, kind: str) -> None:
        self._before = kind
        introduces = content.rstrip(" \t*_").endswith(":")
        self._introduced_depth = len(self._containers) if introduces else None

    def _end_label(self, line: int) -> None:
        self._before = "label"
        self._page.label_lines.add(line)

    def _read_heading(self, line: int, indent: int, level: int, source: str) -> None:
        self._leave(indent)
        depth = len(self._containers)
        del self._siblings[depth:]
        headings = self._page.headings
        while self._stack and headings[self._stack[-1]].depth == depth and headings[self._stack[-1]].level >= level:
            self._stack.pop()
        text, explicit = parse_heading(_CLOSING_HASHES.sub("", source[:2000]))
        headings.append(Heading(line, level, text, explicit, depth, tuple(self._stack)))
        self._stack.append(len(headings) - 1)
        self._page.label_lines.add(line)
        if self._before in ("heading", "label") or self._page.ranks[line] == breaks.KEEP_TOGETHER:
            rank = breaks.KEEP_TOGETHER  # a heading without text of its own goes with the next one
        elif depth:
            rank = breaks.nested_heading(depth, level)
        else:
            rank = level
        self._page.ranks[line] = rank
        self._introduced_depth = None
        self._before = "heading"

    def _is_setext(self, line: int, indent: int) -> bool:
        if line + 1 >= len(self._lines) or not self._may_be_heading(indent):
            return False
        return bool(_SETEXT.match(self._lines[line + 1])) and not self._lines[line].lstrip().startswith(("|", ">", "<"))

    # Code blocks and raw HTML

    def _verbatim(self, line: int, content: str) -> _Verbatim | None:
        """The code block or the raw HTML that begins here, if one does."""
        if content[0] == "<":
            start = _RAW_START.match(content)
            end = self._raw_end(line, start[0].lower()) if start else None
            return _Verbatim(end) if end else None
        fence = _FENCE.match(content)
        end = self._fence_end(line, _indent(self._lines[line]), fence) if fence else None
        return _Verbatim(end, fence[2]) if fence and end else None

    def _fence_end(self, line: int, indent: int, fence: re.Match[str]) -> int | None:
        """The line behind a code block, or None where it is never closed and so is not a code block."""
        char, length = fence[1][0], len(fence[1])
        if char == "`" and "`" in fence[2]:
            return None
        until, shortest = self._unclosed_fences.get((char, indent), (0, 0))
        if line < until and length >= shortest:
            return None  # an earlier search found no end there; without this, hostile pages take quadratic time
        for number in range(line + 1, len(self._lines)):
            content = self._lines[number].strip()
            if not content:
                continue
            depth = _indent(self._lines[number])
            is_mark = content[0] == char and len(content) >= length and content.count(char) == len(content)
            if is_mark and indent <= depth <= indent + 3:
                return number + 1
            if depth < indent:
                break
        else:
            number = len(self._lines)
        self._unclosed_fences[char, indent] = (number, length)
        self._page.warnings.append(f"The code block of line {line + 1} is never closed.")
        return None

    def _read_fence(self, line: int, end: int, indent: int, info: str, *, glued: bool) -> None:
        self._begin_block(line, indent, "fence")
        if glued:
            self._page.ranks[line] = breaks.KEEP_TOGETHER
        self._mark_verbatim(line, end)
        language = _fence_language(info)
        for number in range(line, end):
            self._page.fence_at[number] = (line, end)
            self._page.fence_language[number] = language

    def _raw_end(self, line: int, start: str) -> int | None:
        end_mark = _RAW_ENDS[start]
        if end_mark in self._no_raw_end:
            return None
        for number in range(line, len(self._lines)):
            if end_mark in self._lines[number].lower():
                return number + 1
        self._no_raw_end.add(end_mark)
        return None

    def _mark_verbatim(self, line: int, end: int) -> None:
        for number in range(line + 1, end):
            if self._lines[number].strip():
                blank_before = not self._lines[number - 1].strip()
                self._page.ranks[number] = breaks.SOFT if blank_before and number < end - 1 else breaks.LINE


def _fence_language(info: str) -> str | None:
    """The language of a code block by what stands behind its opening fence."""
    braced = _BRACED_LANGUAGE.match(info)
    return language_of(braced[1] if braced else (info.split() or [""])[0])


def _indent(line: str) -> int:
    spaces = line[: len(line) - len(line.lstrip(" \t"))]
    return len(spaces.expandtabs(4)) if spaces else 0


def _is_flat(value: object) -> bool:
    # Nested values are dropped: YAML aliases can make a few lines into gigabytes.
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
