"""Corpus text is data: nothing in it may act on a terminal, a Markdown reader or a model."""

from __future__ import annotations

import re
import unicodedata

_MIN_FENCE = 3
_BACKTICKS = re.compile(r"`{3,}")
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~])")
_ALLOWED_CONTROLS = "\n\t"
# Format characters that change how other text is shown: bidirectional overrides, isolates and marks, invisible
# joiners and the byte-order mark. "Trojan Source", CVE-2021-42574.
_HIDDEN = frozenset(
    "\u061c\u200b\u200e\u200f\u2060\ufeff" + "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
)


def visible(text: str) -> str:
    """The text with control and hidden format characters shown as `<U+001B>` instead of obeyed."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _harmless(char) else f"<U+{ord(char):04X}>" for char in text)


def _harmless(char: str) -> bool:
    return char in _ALLOWED_CONTROLS or (unicodedata.category(char) not in ("Cc", "Cs") and char not in _HIDDEN)


def fenced(text: str, language: str = "") -> str:
    """A Markdown fence around a text that the text itself cannot close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=_MIN_FENCE - 1)
    fence = "`" * max(_MIN_FENCE, longest + 1)
    return f"{fence}{language}\n{visible(text)}\n{fence}"


def inline(text: str) -> str:
    """A text as one line of Markdown without any markup of its own."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))
