"""How many tokens Voyage's models see in a text, without reaching the model hub."""

from __future__ import annotations

import functools
from typing import Any

from adk_evidence.embedding.base import encodable
from adk_evidence.tokens import estimate_tokens

# Limits are kept with this room, as an estimate may be too low.
SAFETY = 1.1
# What the service puts before a text, by the documentation of `input_type`; it counts.
PROMPTS = {
    "document": "Represent the document for retrieval: ",
    "query": "Represent the query for retrieving supporting documents: ",
}


def count_tokens(text: str, model: str) -> int:
    """Tokens of a text: counted where the model's tokeniser is in the hub's cache, else estimated."""
    tokenizer = _tokenizer(model)
    if tokenizer is None:
        return estimate_tokens(text)
    return len(tokenizer.encode(encodable(text), add_special_tokens=False))


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
