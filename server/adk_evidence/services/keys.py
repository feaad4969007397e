"""Keys of services come from the environment alone."""

from __future__ import annotations

import os


def key_from(*variables: str) -> tuple[str, str]:
    """The first variable that holds a key, and the key; the first variable and an empty text where none does."""
    found = ((name, os.environ.get(name, "").strip()) for name in variables)
    return next((pair for pair in found if pair[1]), (variables[0], ""))
