"""manifest.json of a generation: what it holds, where the files came from and which models built it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError, computed_field

from adk_evidence.errors import StoreError
from adk_evidence.files import write_atomic
from adk_evidence.models.chunk import Kind
from adk_evidence.settings import StoreKind
from adk_evidence.store.base import CollectionSpec

MANIFEST = "manifest.json"
# The beginning of a digest that takes the place of a commit.
NO_COMMIT = "tree-"
# The end of the name of a corpus of example programs.
_SAMPLES = "-samples"
# The end of the name of a corpus of uncommitted files.
_UNCOMMITTED = "-uncommitted"


class SourceLocation(BaseModel, frozen=True):
    """Where the files of an indexed corpus lie; an index keeps it so that citations can be checked.

    `root` is absolute, or relative to the index generation's own folder. A file's repository path is
    `path_prefix` plus its path below `root`. Only what lies below one of the `subtrees` (`""`: the root
    itself) belongs to the corpus.
    """

    kind: Literal["git", "snapshot", "distribution", "folder", "pages"]
    root: Path
    commit: str
    path_prefix: str = ""
    subtrees: tuple[str, ...] = ("",)


class FileEntry(BaseModel, frozen=True):
    """An indexed file: sha256 of its decoded text, and how many chunks it gave, with how many dense vectors.

    Of a page that includes other files, `sha256` covers these, too, and `own_sha256` the text of the page alone.
    `content` is a digest of what is indexed of the file.
    """

    sha256: str
    own_sha256: str | None = None
    chunks: int
    passages: int | None = Field(default=None, description="Dense vectors of the chunks; None: one for each.")
    failed: bool = Field(default=False, description="Whether the chunker failed, so that the index lacks the file.")
    with_questions: int = Field(default=0, description="Chunks that have questions written beforehand.")
    content: str

    @property
    def vectors(self) -> int:
        """Number of dense vectors of the chunks."""
        return self.chunks if self.passages is None else self.passages


class CorpusEntry(BaseModel, frozen=True):
    """One corpus of the index.

    `location` says where its files lie, for checking citations. `state` is a hash of everything besides the files that
    the chunks' payloads depend on. The keys of `files` are paths within the repository.
    """

    kind: Kind
    repo: str
    commit: str
    ref: str | None = None
    source: Literal["git", "snapshot", "distribution", "folder", "api-reference"]
    location: SourceLocation
    site_url: str | None = None
    license: str | None = None
    state: str = ""
    files: dict[str, FileEntry]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def chunks(self) -> int:
        return sum(file.chunks for file in self.files.values())

    @property
    def with_questions(self) -> int:
        return sum(file.with_questions for file in self.files.values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def content(self) -> str:
        """Hex sha256 of what is indexed of the corpus: equal for equal content, wherever and whenever it was built."""
        files = {path: file.content for path, file in sorted(self.files.items())}
        return _digest([self.kind, self.repo, self.commit, self.site_url, files])

    def failed_files(self) -> list[str]:
        """Paths of the files that the chunker failed on, of which the index holds nothing."""
        return [path for path, file in self.files.items() if file.failed]


class CollectionEntry(BaseModel, frozen=True):
    """One collection: sizes of its dense vectors, IDF of its sparse vectors, number of its points.

    Points have several vectors for each of the dense names in `multi`. `replaced` counts the points that were taken out
    of the collection since it was begun: in the embedded store, their room is not used again.
    """

    dense: dict[str, int]
    sparse: dict[str, bool]
    multi: frozenset[str] = frozenset()
    points: int
    replaced: int = 0

    @classmethod
    def of(cls, spec: CollectionSpec, points: int, replaced: int = 0) -> CollectionEntry:
        return cls(dense=dict(spec.dense), sparse=dict(spec.sparse), multi=spec.multi, points=points, replaced=replaced)

    def spec(self, name: str) -> CollectionSpec:
        """The collection in the form in which a store opens or creates it."""
        return CollectionSpec(name, self.dense, self.sparse, self.multi)


class IndexManifest(BaseModel, frozen=True):
    """What one generation holds. Written once, before the generation is published.

    `placement` is what a server was told of shards and replicas when it created the collections.
    """

    format: Literal[1] = 1
    generation: str
    created_at: str
    run_id: str
    fingerprint: dict[str, str | int]
    store: StoreKind = "edge"
    placement: dict[str, int] = Field(default_factory=dict)
    dense: Literal["complete", "pending"]
    collections: dict[str, CollectionEntry]
    corpora: dict[str, CorpusEntry]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def fingerprint_id(self) -> str:
        """Hex sha256 of the fingerprint's canonical JSON."""
        return _digest(self.fingerprint)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def content(self) -> str:
        """Hex sha256 of what all corpora hold, by which two indexes can be compared."""
        return _digest({name: corpus.content for name, corpus in self.corpora.items()})

    def specs(self) -> list[CollectionSpec]:
        """The collections in the form in which a store opens or creates them."""
        return [entry.spec(name) for name, entry in self.collections.items()]

    def dense_vectors(self) -> int:
        """Number of dense vectors of all chunks; 0 while they are not complete."""
        if self.dense == "pending":
            return 0
        return sum(file.vectors for corpus in self.corpora.values() for file in corpus.files.values())

    def placed_otherwise(self, wanted: Mapping[str, int]) -> str:
        """How the collections are spread over a server's nodes where that is not as wanted; else nothing."""
        found = {name: self.placement.get(name, 1) for name in wanted}
        return " and ".join(
            f"{name} is {found[name]} where the settings say {number}"
            for name, number in wanted.items()
            if found[name] != number
        )

    def counts(self) -> dict[str, int]:
        return {name: entry.points for name, entry in self.collections.items()}


def _digest(value: object) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def samples_name(corpus: str) -> str:
    """The name of the corpus of the example programs that lie beside a corpus."""
    return f"{corpus}{_SAMPLES}"


def is_samples(name: str) -> bool:
    return name.removesuffix(_UNCOMMITTED).endswith(_SAMPLES)


def uncommitted_name(corpus: str) -> str:
    """The name of the corpus of those files of a checkout that differ from its commit."""
    return corpus + _UNCOMMITTED


def is_uncommitted(corpus: str) -> bool:
    return corpus.endswith(_UNCOMMITTED)


def checkout_name(corpus: str) -> str:
    """The name of the corpus proper of a checkout, from that name or the name of its uncommitted files."""
    return corpus.removesuffix(_UNCOMMITTED)


def read_manifest(folder: Path) -> IndexManifest:
    """The manifest of a generation's folder.

    Raises:
        StoreError: There is no manifest, or its format is another one.
    """
    path = folder / MANIFEST
    try:
        info = path.stat()
        return _manifest(path, info.st_mtime_ns, info.st_size, info.st_ino)
    except (OSError, ValidationError) as exc:
        raise StoreError(
            f"The manifest of index generation {folder.name} cannot be read.", "Run `adk-ingest all`."
        ) from exc


# A run and a server ask many times for the same ones, and a large one takes a tenth of a second.
@lru_cache(maxsize=64)
def _manifest(path: Path, mtime_ns: int, size: int, inode: int) -> IndexManifest:
    # The parameters after the path only let the cache notice another file.
    return IndexManifest.model_validate_json(path.read_bytes())


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Write a generation's manifest in one step, durably.

    Raises:
        OSError: The file cannot be written.
    """
    write_atomic(folder / MANIFEST, manifest.model_dump_json(indent=1).encode())
