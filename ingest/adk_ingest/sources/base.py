"""What discovery walks: a corpus on disk, and the paths of its files in the repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adk_evidence.store.manifest import SourceLocation
from adk_ingest.corpora.known_files import KnownFiles

SourceKind = Literal["git", "snapshot", "distribution", "folder"]


@dataclass(frozen=True)
class CorpusSource:
    """A corpus whose commit is known.

    `root` is an existing folder. Files below one of the `subtrees` (relative to `root`, `""`: all of it) belong to the
    corpus; their repository paths are `path_prefix` plus their path below `root`. `committed` has the ids of what the
    commit holds by repository path; without a checkout it is None. `known` has what earlier runs found in the files.
    """

    corpus: str
    repo: str
    kind: SourceKind
    root: Path
    commit: str
    ref: str | None = None
    site_url: str | None = None
    licence: str | None = None
    path_prefix: str = ""
    subtrees: tuple[str, ...] = ("",)
    committed: Mapping[str, str] | None = field(default=None, compare=False, repr=False)
    known: KnownFiles = field(default_factory=KnownFiles, compare=False, repr=False)

    def repo_path(self, relative: str) -> str:
        return self.path_prefix + relative

    def location(self) -> SourceLocation:
        """What the index keeps, so that citations can be checked later."""
        return SourceLocation(
            kind=self.kind,
            root=self.root,
            commit=self.commit,
            path_prefix=self.path_prefix,
            subtrees=self.subtrees,
        )

    def describe(self) -> str:
        """The corpus in words, e.g. `google/adk-python at v2.13.0 (distribution)`."""
        at = self.ref if self.ref == self.commit else self.commit[:12]
        branch = f", {self.ref}" if self.ref and self.ref != self.commit else ""
        return f"{self.repo} at {at} ({self.kind}{branch})"
