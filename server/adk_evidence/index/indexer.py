"""What surfaces learn of ingestion, which the core does not import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from adk_evidence.errors import SourceError

# Takes what is done, the total if it is known, and a sentence. Any thread may call it.
Progress = Callable[[float, float | None, str], None]


@dataclass(frozen=True)
class IndexReport:
    """What a run left in one named index.

    `files`, `chunks` and `vectors` count the whole index, `changed_files` and `removed_files` only this run. `skipped`
    has the path and the reason of each file that the patterns ask for and the index lacks. `status` is `unchanged` when
    there was nothing to do, and `partial` when an error kept files out.
    """

    name: str
    files: int
    chunks: int
    vectors: int
    size_bytes: int
    seconds: float
    changed_files: int
    removed_files: int
    skipped: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    status: Literal["success", "partial", "unchanged"]


@dataclass(frozen=True)
class Survey:
    """What the sources of an index hold now.

    `files` has the hashes of the files that an update would index, as the index's manifest has them, by repository and
    path. `left_out` has the reason and the path of what it would leave out; paths of folders end with `/`. `unread`
    says by repository why its sources could not be looked at; then `files` has none or not all of its files.
    """

    files: Mapping[tuple[str, str], str]
    left_out: tuple[tuple[str, str], ...]
    unread: Mapping[str, SourceError] = field(default_factory=dict)
