"""Text and anchors of headings, as Python-Markdown's `toc` and `attr_list` extensions make them."""

from __future__ import annotations

import html
import re
import unicodedata

_MAX_CHARS = 500  # of a heading's source that is read; the patterns below are not linear on endless lines
_ATTRIBUTES = re.compile(r"[ ]+\{:?[ ]*([^}\n ][^}\n]*)[ ]*\}[ ]*$")
_ID = re.compile(r"(?:^|\s)#([^\s}]+)|(?:^|\s)id=[\"']?([^\s\"'}]+)")
_CODE = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_KEPT = re.compile("\x00([0-9]+)\x00")
_MARKUP = (
    (re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])"), ""),
    (re.compile(r"\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"), r"\1"),
    (re.compile(r"<(https?:[^<>\s]+)>"), r"\1"),
    (re.compile(r"<[^<>]+>"), ""),
    (re.compile(r"(?<![\w:]):[a-z][a-z0-9_+-]*:(?![\w:])"), ""),  # icons
    (re.compile(r"(\*{1,3})(?=\S)([^*]+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=\S)([^_]+?)(?<=\S)\1(?!\w)"), r"\2"),
)
_COUNTED = re.compile(r"(.*)_([0-9]{1,9})")


def parse_heading(source: str) -> tuple[str, str | None]:
    """Plain text of a heading and its explicit id, if it has one.

    Args:
        source: What stands behind the `#` marks, inline markup included.
    """
    source = source[:_MAX_CHARS].replace("\x00", "").strip()
    explicit = None
    if attributes := _ATTRIBUTES.search(source):
        found = _ID.search(attributes[1])
        explicit = (found[1] or found[2]) if found else None
        source = source[: attributes.start()]
    return _plain_text(source), explicit


def _plain_text(source: str) -> str:
    """A line without inline markup."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[match.lastindex or 0].strip())
        return f"\x00{len(kept) - 1}\x00"

    text = _ESCAPE.sub(keep, _CODE.sub(keep, source))
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = _KEPT.sub(lambda match: kept[int(match[1])], html.unescape(text))
    return " ".join(text.split())


def slugify(text: str) -> str:
    """The fragment that Python-Markdown makes of a heading's text."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_text).strip().lower())


class AnchorNames:
    """Hands out the fragments of one page: `name`, `name_1`, `name_2`, ... like Python-Markdown's `unique`.

    Args:
        taken: The page's explicit ids; they win over made ones wherever they stand.
    """

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken)
        self._next: dict[tuple[str, int], int] = {}

    def unique(self, slug: str) -> str:
        """A fragment that the page does not have yet, and now has."""
        name = slug
        if not name or name in self._taken:
            counted = _COUNTED.fullmatch(name)
            base, number = (counted[1], int(counted[2]) + 1) if counted else (name, 1)
            name = f"{base}_{self._free(base, number)}"
        self._taken.add(name)
        return name

    def _free(self, base: str, number: int) -> int:
        # Numbers that were passed once are skipped the next time: a thousand equal headings take linear time.
        passed = []
        while f"{base}_{number}" in self._taken:
            passed.append(number)
            number = self._next.get((base, number), number + 1)
        for skipped in passed:
            self._next[base, skipped] = number
        return number
