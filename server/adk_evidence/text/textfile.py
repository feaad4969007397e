"""From a file's bytes to its text: one rule for ingestion and the check of citations (SPEC 3 section 4)."""

from __future__ import annotations

import codecs
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HEAD_BYTES = 4096
MAX_REPLACED_RATIO = 0.005
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# The mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# A line as of PEP 263, Emacs or Vim, or the declaration of XML, within the first two lines.
_CODING_LINE = re.compile(rb"\A(?:[^\r\n]*\r?\n)?[^\r\n]{0,200}?coding[:=][ \t]*[\"']?([-\w.]{1,40})")
# Python knows more codecs; some of them run for long, or make of bytes what is no text.
_ENCODINGS = re.compile(r"(?:iso8859|mac|koi8|euc|big5|shift_jis|gb)[-_\w]*|cp\d+")


@dataclass(frozen=True)
class Decoded:
    """A file's text with `\\n` newlines and without a byte-order mark.

    `replaced` counts the characters that were not valid UTF-8.
    """

    text: str
    replaced: int = 0


def is_binary(head: bytes) -> bool:
    """Whether the first `HEAD_BYTES` bytes of a file show that the file is not a text."""
    return b"\x00" in head[:HEAD_BYTES] and _marked(head)[0] == "utf-8"


def decode(raw: bytes) -> Decoded | None:
    """Decode a whole file: as its byte-order mark says, as UTF-8, or as its first two lines say.

    Else as UTF-8 with replacement characters where few bytes are wrong. None where `MAX_REPLACED_RATIO` of its
    characters or more would have to be replaced, or where the file is not what its mark says.
    """
    encoding, raw = _marked(raw)
    try:
        text = raw.decode(encoding)
        return None if encoding != "utf-8" and "\0" in text else Decoded(_normalise_newlines(text))
    except UnicodeDecodeError:
        if encoding != "utf-8":
            return None
    with suppress(UnicodeDecodeError, LookupError):
        return Decoded(_normalise_newlines(raw.decode(_declared(raw))))
    text = raw.decode("utf-8", "replace")
    replaced = text.count(_REPLACEMENT) - raw.count(_REPLACEMENT.encode())
    if replaced >= MAX_REPLACED_RATIO * len(text):
        return None
    return Decoded(_normalise_newlines(text), replaced)


def decode_any(raw: bytes) -> str:
    """A text that must be read: as its byte-order mark says, else as UTF-8; what is wrong is replaced."""
    encoding, raw = _marked(raw)
    return raw.decode(encoding, "replace")


def read_small(path: Path, limit: int) -> str | None:
    """The text of a regular file of at most `limit` bytes; None where there is none, or it cannot be read."""
    try:
        info = path.stat()
        # To open a pipe would wait for ever.
        if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
            return None
        return decode_any(path.read_bytes()[:limit])
    except (OSError, ValueError):
        return None


def _marked(raw: bytes) -> tuple[str, bytes]:
    """The encoding that a byte-order mark names, UTF-8 without one, and the bytes behind the mark."""
    mark, encoding = next((known for known in _MARKS if raw.startswith(known[0])), (b"", "utf-8"))
    return encoding, raw[len(mark) :]


def _declared(raw: bytes) -> str:
    """The encoding that the first two lines name, UTF-8 where it is none of those that texts are in.

    Raises:
        LookupError: Python does not know the encoding.
    """
    found = _CODING_LINE.match(raw)
    name = codecs.lookup(found[1].decode("ascii")).name if found else "utf-8"
    return name if _ENCODINGS.fullmatch(name) else "utf-8"


def _normalise_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_lines(text: str) -> list[str]:
    """Lines as citations count them: split at `\\n` only; line n is item n - 1."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
