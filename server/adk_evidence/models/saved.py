"""A pack that somebody saved: the text of its JSON, which anybody may have edited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.pack import EvidencePack
from adk_evidence.validation import first_problem

# The largest packs, with a hundred results in whole texts, take some 2 MB.
MAX_PACK_BYTES = 32_000_000
_HINT = "Save a pack with `adk-evidence ask --json` or with Save Pack in the editor."
# What the language server adds to a pack.
_BESIDE = "queryUsed"


@dataclass(frozen=True)
class SavedPack:
    """A pack, and the values of the JSON that it was read from: the id was made of these values, whatever members packs
    have got since.
    """

    pack: EvidencePack
    written: Mapping[str, Any]


def parse_pack(text: str) -> SavedPack:
    """A saved pack.

    Raises:
        InvalidRequestError: The text is too large, not JSON or not a pack.
    """
    if len(text) > MAX_PACK_BYTES:
        raise InvalidRequestError(f"A pack of more than {MAX_PACK_BYTES // 1_000_000} MB is not read.", _HINT)
    try:
        written = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise InvalidRequestError("This is not JSON, so it is not a saved pack.", _HINT) from None
    if not isinstance(written, dict):
        raise InvalidRequestError("This JSON is not a saved pack.", _HINT)
    written = {name: value for name, value in written.items() if name != _BESIDE}
    try:
        # As JSON: packs have tuples where JSON has lists.
        pack = EvidencePack.model_validate_json(json.dumps(written, allow_nan=False))
    except ValidationError as exc:
        raise InvalidRequestError(f"This JSON is not a saved pack: {first_problem(exc)}.", _HINT) from None
    except ValueError:
        raise InvalidRequestError("This JSON is not a saved pack: it has a number that is none.", _HINT) from None
    return SavedPack(pack, written)
