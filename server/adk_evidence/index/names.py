"""The names of indexes: the main index of the ADK, and one for each codebase."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

MAIN = "adk"
MAX_NAME_CHARS = 64

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
# Windows gives these names to devices, with any extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


def checked_name(name: str) -> str:
    """The name, if a codebase's index may have it.

    Raises:
        ValueError: It may not.
    """
    if name == MAIN:
        raise ValueError(f"{MAIN!r} is the main index")
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS or name.endswith(".") or _DEVICES.fullmatch(name):
        raise ValueError(
            f"a name has 1 to {MAX_NAME_CHARS} lower-case letters, digits, '.', '_' and '-', begins with a letter or "
            "digit, and is no name of a device"
        )
    return name


IndexName = Annotated[str, AfterValidator(checked_name)]
