"""What the self-supervised questions are made of on the docs side: sections with their prose, links and code."""

from __future__ import annotations

import ast
import posixpath
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from adk_evidence.readers.python import parse_quietly
from adk_evidence.readers.sections import heading_key, sections
from adk_evidence.textfile import split_lines

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)[^)]*\)")
_MARKUP = re.compile(r"`|\*\*|(?<!\w)[*_]|[*_](?!\w)|\{[^}]*\}|<[^>]+>")
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")
_NOT_PROSE = re.compile(r"^\s*(?:[#|<>!?=-]|\d+\.\s|\*\s|--8<--|$)| {4}")


@dataclass(frozen=True)
class Code:
    """A fenced block: the line of its fence, its language and its text."""

    line: int
    language: str
    text: str


@dataclass(frozen=True)
class PageSection:
    """A section down to the next heading of any level; lines are 1-based and inclusive.

    `prose` is its paragraphs without markup, by the line where each begins, `links` are targets as they are written.
    """

    path: str
    title: str
    heading: str
    anchor: str
    start: int
    end: int
    prose: tuple[tuple[int, str], ...]
    links: tuple[str, ...]
    code: tuple[Code, ...]

    def imports(self) -> tuple[tuple[str, str], ...]:
        """Module and name of what its Python code imports from the ADK."""
        found = [pair for code in self.code if code.language in ("python", "py") for pair in adk_imports(code.text)]
        return tuple(dict.fromkeys(found))


def page_sections(path: str, text: str) -> Iterator[PageSection]:
    """The sections of a page, in their order."""
    lines = split_lines(text)
    found = [section for section in sections(text) if not section.depth]
    ends = [section.lines.start - 1 for section in found[1:]] + [len(lines)]
    title = ""
    for section, end in zip(found, ends, strict=False):
        start = section.lines.start
        heading = plain(lines[start - 1].lstrip("# "))
        title = title or heading
        prose, code = _prose_and_code(lines[start:end], start + 1)
        links = tuple(link[2] for line in lines[start:end] for link in _LINK.finditer(line))
        yield PageSection(path, title, heading, section.anchor, start, end, prose, links, code)


def resolve_link(page: str, link: str) -> tuple[str, str] | None:
    """Path and anchor key of what a link within the docs points to; None for all other links."""
    address, _, fragment = link.partition("#")
    if "://" in address or address.startswith("mailto:"):
        return None
    if not address:
        return page, heading_key(fragment)
    if address.startswith("/"):
        path = f"docs{address}"
    else:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), address))
    if not path.endswith(".md"):
        path = f"{path.rstrip('/')}/index.md"
    return path, heading_key(fragment)


def adk_imports(code: str) -> list[tuple[str, str]]:
    """Module and name of each `from google.adk... import name`; none where the code does not parse."""
    tree = parse_quietly(textwrap.dedent(code))
    return [
        (node.module, alias.name)
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[:2] == ["google", "adk"]
        for alias in node.names
    ]


def plain(text: str) -> str:
    """Markdown prose on one line, without markup."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", text)).split())


def _prose_and_code(lines: list[str], first: int) -> tuple[tuple[tuple[int, str], ...], tuple[Code, ...]]:
    """The paragraphs and the closed fenced blocks of some lines, the first of which has the number `first`."""
    prose, code = list[tuple[int, str]](), list[Code]()
    paragraph, block, language, fence = list[str](), list[str](), "", ""
    for number, line in enumerate([*lines, ""], first):
        if fence:
            if line.strip().startswith(fence):
                code.append(Code(number - len(block) - 1, language, "\n".join(block)))
                fence = ""
            block.append(line)
            continue
        mark = _FENCE.match(line)
        if not mark and not _NOT_PROSE.match(line):
            paragraph.append(line)
            continue
        if paragraph:
            prose.append((number - len(paragraph), plain(" ".join(paragraph))))
        paragraph = []
        if mark:
            fence, language, block = mark[1], mark[2].lower(), []
    return tuple(prose), tuple(code)
