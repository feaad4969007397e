"""A codebase that has an index of its own: its folder, and how its files are chosen and cut."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from adk_evidence.globs import Globs
from adk_evidence.index.names import IndexName
from adk_evidence.models.chunk import Kind

DEFAULT_CHUNK_TOKENS = 1000
DEFAULT_OVERLAP_TOKENS = 200


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


class Codebase(BaseModel):
    """A codebase that has an index, and how its files are chosen and cut."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: IndexName = Field(description="Name of the index.")
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
        """The name of the documentation or of the code: of the corpus, and of the collection in the store."""
        return f"{self.name}-documentation" if kind == "doc" else f"{self.name}-codebase"
