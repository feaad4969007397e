"""A codebase with an index: the name of the index, the folder, and how the files are chosen and cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import Kind
from adk_evidence.text.globs import Globs

# The name of the main index, which holds the ADK.
MAIN = "adk"
MAX_NAME_CHARS = 64
DEFAULT_CHUNK_TOKENS = 1000
DEFAULT_OVERLAP_TOKENS = 200

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
# Windows gives these names to devices, with any extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


def checked_name(name: str) -> str:
    """The name, if a codebase's index may have it; else `ValueError`."""
    if name == MAIN:
        raise ValueError(f"{MAIN!r} is the main index")
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS or name.endswith(".") or _DEVICES.fullmatch(name):
        raise ValueError(
            f"a name has 1 to {MAX_NAME_CHARS} lower-case letters, digits, '.', '_' and '-', begins with a letter or "
            "digit, and is not the name of a device"
        )
    return name


def name_for(folder: Path) -> str:
    """A name for the index of a folder, made of the folder's name; empty where that has nothing to make one of."""
    return re.sub(r"[^a-z0-9._-]+", "-", folder.name.lower()).strip("._-")[:MAX_NAME_CHARS].rstrip(".")


def _absolute(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("it must be an absolute path")
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError("its name is not valid Unicode") from None
    return path


def _checked_globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    try:
        Globs(globs)
    except ValueError as exc:
        raise ValueError(f"a glob is not valid: {exc}") from None
    return globs


_Globs = Annotated[tuple[str, ...], AfterValidator(_checked_globs)]


class Codebase(Frozen):
    """A codebase that has an index, and how its files are chosen and cut."""

    name: Annotated[str, AfterValidator(checked_name)] = Field(description="Name of the index.")
    path: Annotated[Path, AfterValidator(_absolute)] = Field(description="Absolute path of the codebase's folder.")
    file_patterns: _Globs = Field(default=(), description="Gitignore-style globs of its files; empty: all text files.")
    exclude_patterns: _Globs = Field(default=(), description="Globs of what to leave out; `!` takes one back.")
    chunk_tokens: int = Field(default=DEFAULT_CHUNK_TOKENS, ge=64, le=8000, description="Largest size of a chunk.")
    overlap_tokens: int = Field(
        default=DEFAULT_OVERLAP_TOKENS, ge=0, description="What a chunk repeats of the one before it, if it was cut."
    )

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> Codebase:
        if self.overlap_tokens >= self.chunk_tokens:
            raise ValueError("overlap_tokens must be smaller than chunk_tokens")
        return self

    def corpus(self, kind: Kind) -> str:
        """The name of a kind's corpus, and of its collection in the store."""
        return f"{self.name}-documentation" if kind == "doc" else f"{self.name}-codebase"
