"""What the self-supervised questions are made of on the docs side: sections with their prose, links and code."""

from __future__ import annotations

import ast
import posixpath
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from adk_evidence.readers.sections import heading_key, sections
from adk_evidence.textfile import split_lines

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)[^)]*\)")
_MARKUP = re.compile(r"`|\*\*|(?<!\w)[*_]|[*_](?!\w)|\{[^}]*\}|<[^>]+>")
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")
_NOT_PROSE = re.compile(r"^\s*(?:[#|<>!?=-]|\d+\.\s|\*\s|--8<--|$)")


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
    title = ""
    for number, section in enumerate(found):
        start = section.lines.start
        end = found[number + 1].lines.start - 1 if number + 1 < len(found) else len(lines)
        heading = plain(lines[start - 1].lstrip("# "))
        title = title or heading
        own = lines[start:end]
        yield PageSection(
            path=path,
            title=title,
            heading=heading,
            anchor=section.anchor,
            start=start,
            end=end,
            prose=tuple(_prose(own, start + 1)),
            links=tuple(link[2] for line in own for link in _LINK.finditer(line)),
            code=tuple(_code(own, start + 1)),
        )


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
    try:
        tree = ast.parse(textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[:2] == ["google", "adk"]
        for alias in node.names
    ]


def plain(text: str) -> str:
    """Markdown prose on one line, without markup."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", text)).split())


def _code(lines: list[str], first: int) -> Iterator[Code]:
    fence, language, begun, block = "", "", 0, list[str]()
    for number, line in enumerate(lines, first):
        mark = _FENCE.match(line)
        if not fence and mark:
            fence, language, begun, block = mark[1], mark[2].lower(), number, []
        elif fence and line.strip().startswith(fence):
            yield Code(begun, language, "\n".join(block))
            fence = ""
        elif fence:
            block.append(line)


def _prose(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    fence, begun, paragraph = "", 0, list[str]()
    for number, line in enumerate([*lines, ""], first):
        mark = _FENCE.match(line)
        if fence or mark or _NOT_PROSE.match(line) or line.startswith("    "):
            if paragraph:
                yield begun, plain(" ".join(paragraph))
            paragraph = []
            if fence and line.strip().startswith(fence):
                fence = ""
            elif mark and not fence:
                fence = mark[1]
            continue
        begun = begun if paragraph else number
        paragraph.append(line)
