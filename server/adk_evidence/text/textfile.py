"""From a file's bytes to its text: one rule for ingestion and the check of citations (SPEC 3 section 4)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

HEAD_BYTES = 4096
MAX_REPLACED_RATIO = 0.005
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Decoded:
    """A file's text with `\\n` newlines and without a byte-order mark.

    `replaced` counts the characters that were not valid UTF-8.
    """

    text: str
    replaced: int = 0


def is_binary(head: bytes) -> bool:
    """Whether the first `HEAD_BYTES` bytes of a file show that the file is not a text."""
    return b"\x00" in head[:HEAD_BYTES]


def decode(raw: bytes) -> Decoded | None:
    """Decode a whole file as UTF-8, with replacement characters where few bytes are wrong.

    None where `MAX_REPLACED_RATIO` of its characters or more would have to be replaced.
    """
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return Decoded(_normalise_newlines(raw.decode("utf-8")))
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    replaced = text.count(_REPLACEMENT) - raw.count(_REPLACEMENT.encode())
    if replaced >= MAX_REPLACED_RATIO * len(text):
        return None
    return Decoded(_normalise_newlines(text), replaced)


def _normalise_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_lines(text: str) -> list[str]:
    """Lines as citations count them: split at `\\n` only; line n is item n - 1."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
