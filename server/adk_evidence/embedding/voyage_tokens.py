"""How many tokens Voyage's models see in a text; the model hub is never asked."""

from __future__ import annotations

import functools
import re
from typing import Any

from adk_evidence.embedding.base import encodable
from adk_evidence.text.tokens import estimate_tokens

# Limits are kept with this room, as even the careful count may be too low.
SAFETY = 1.1
# How the models' tokenisers may split what no language model has learned as words: digits one by one, with the space
# before a number, signs one by one, letters in short pieces.
_CAREFUL = re.compile(r"[A-Z]?[a-z]{1,5}|[A-Z]{1,5}|[0-9]| (?=[0-9])|\s{2,}|[^\S ]|[!-/:-@\[-`{-~]")
_DIGITS = re.compile(r" (?=[0-9])|[0-9]")
_NUMBERS = re.compile(r"[0-9]+")
# Long runs of letters and digits without spaces, e.g. hexadecimal or base64: some of their tokens are one character.
_RUN = re.compile(r"[A-Za-z0-9+/=]{20,}")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
# What the service puts before a text, by the documentation of `input_type`; it counts.
PROMPTS = {
    "document": "Represent the document for retrieval: ",
    "query": "Represent the query for retrieving supporting documents: ",
}


def count_tokens(text: str, model: str) -> int:
    """Tokens of a text, for prices: counted where the model's tokeniser is in the hub's cache, else estimated."""
    tokenizer = _tokenizer(model)
    if tokenizer is None:
        # The models' tokenisers split numbers into digits, which the common estimate counts in threes.
        in_threes = sum((len(number) + 2) // 3 for number in _NUMBERS.findall(text))
        return estimate_tokens(text) - in_threes + len(_DIGITS.findall(text))
    return len(tokenizer.encode(encodable(text), add_special_tokens=False))


def most_tokens(text: str, model: str) -> int:
    """Tokens of a text, for limits: as of `count_tokens`, but an estimate is on the high side for any content.

    No tokeniser of these models makes more tokens than bytes. So characters beyond ASCII, and runs that are not words,
    count as their bytes.
    """
    if _tokenizer(model) is not None:
        return count_tokens(text, model)
    tokens = len(_CAREFUL.findall(text))
    if not text.isascii():
        tokens += sum(len(run.encode("utf-8", "replace")) for run in _BEYOND_ASCII.findall(text))
    opaque = [run for run in _RUN.findall(text) if run.isalpha() or _DIGITS.search(run)]
    return tokens + sum(len(run) - len(_CAREFUL.findall(run)) for run in opaque)


def prompt_tokens(input_type: str, model: str) -> int:
    """Tokens that the service adds to each text of this input type."""
    return count_tokens(PROMPTS[input_type], model)


def counter(model: str) -> str:
    """How tokens are counted: `tokenizer` or `estimate`."""
    return "estimate" if _tokenizer(model) is None else "tokenizer"


@functools.cache
def _tokenizer(model: str) -> Any:
    """The model's tokeniser from the hub's cache, or None: fetching it may block for half a minute."""
    try:
        from huggingface_hub import try_to_load_from_cache
        from tokenizers import Tokenizer

        path = try_to_load_from_cache(f"voyageai/{model}", "tokenizer.json")
        if not isinstance(path, str):
            return None
        tokenizer = Tokenizer.from_file(path)
    # A cache that another program left half-written is as good as none.
    except Exception:
        return None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
