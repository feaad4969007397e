"""An offline estimate of how many tokens a language model sees in a text.

No tokeniser of a hosted model can be had without a network, so this counts what byte-pair encoders split:
words in pieces of up to seven letters, digits in threes, runs of punctuation in pairs, line breaks with their
indentation, other characters as two. Measured: 3.8 characters a token on the ADK's documentation, 3.7 on its
Python source, where such encoders usually reach 4 to 4.5 and 3.3 to 3.8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# What the estimate gives on source code; for sizes that are asked for in tokens and kept in characters.
CHARS_PER_TOKEN = 3.7

# Where a text may be cut. A single space belongs to the word after it; longer whitespace is one token.
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\s+|[!-/:-@\[-`{-~]+|[^\x00-\x7f]")
# The same pieces, each cut into its tokens, so that counting is one pass without Python code for every piece.
# A capital that follows a capital belongs to their run; a single space costs nothing. What is tried first, small
# letters, is what texts have most of. Alternatives that begin with one character of a set are passed over fast.
_TOKEN = re.compile(
    r" ?(?:[a-z][a-z]{0,6}|[A-Z](?:(?<![A-Z][A-Z])[a-z]{1,6}|[A-Z]{0,6})|[!-/:-@\[-`{-~][!-/:-@\[-`{-~]?"
    r"|[0-9][0-9]{0,2}|\s(?:\s+|(?<! ))|[^\x00-\x7f])"
)
_OTHER = re.compile(r"[^\x00-\x7f\s]")


def estimate_tokens(text: str) -> int:
    """Estimated number of tokens; 0 for an empty text. Deterministic and linear in the text's length."""
    others = 0 if text.isascii() else len(_OTHER.findall(text))
    # What lies between tokens is mostly nothing, so that splitting makes fewer texts than finding all.
    return len(_TOKEN.split(text)) - 1 + others


def listed_within(names: Sequence[str], limit: int, start: str, end: str = "") -> str:
    """A sentence of as many names as `limit` tokens hold, and how many more there are; "" where not one fits.

    The sentence stands between `start` and `end`.
    """
    for count in range(len(names), 0, -1):
        more = f" and {len(names) - count} more" if count < len(names) else ""
        text = f"{start}{', '.join(names[:count])}{more}{end}"
        if estimate_tokens(text) <= limit:
            return text
    return ""


def truncate_tokens(text: str, limit: int) -> str:
    """The longest beginning of a text that is estimated at `limit` tokens or fewer, cut between pieces."""
    total = 0
    for piece in _PIECE.finditer(text):
        total += estimate_tokens(piece.group())
        if total > limit:
            return text[: piece.start()]
    return text
