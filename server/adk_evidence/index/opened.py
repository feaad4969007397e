"""The index as retrieval sees it: a leased generation with its store and the sources that its citations point to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adk_evidence.commands import with_options
from adk_evidence.embedding.factory import fingerprint
from adk_evidence.errors import IndexMismatchError
from adk_evidence.index.encoders import as_built
from adk_evidence.index.sources import SourceReader
from adk_evidence.models.chunk import KINDS, PAYLOAD_VERSION, ChunkPayload, Kind
from adk_evidence.models.load import CacheUse
from adk_evidence.models.pack import Candidate, CorpusInfo, IndexInfo, OutlinePart
from adk_evidence.services.resilience import CacheAside
from adk_evidence.settings import Settings
from adk_evidence.store.base import EvidenceStore
from adk_evidence.store.factory import open_generations
from adk_evidence.store.factory import open_reader as open_store
from adk_evidence.store.generations import GenerationStore, LeasedGeneration, check_fingerprint
from adk_evidence.store.manifest import CorpusEntry, IndexManifest, is_samples
from adk_evidence.store.mapped import give_back_pages

if TYPE_CHECKING:
    import numpy as np

# Questions repeat their words.
KEPT_TERMS = 8192
# For each collection: some 13 MB. A request finds 60 points in each, and most of them again in its second pass.
KEPT_PAYLOADS = 2048
KEPT_OUTLINES = 512
# Some 20 kilobytes each.
KEPT_VECTORS = 1024
# The shortest beginning that stands for a commit.
SHORT_COMMIT = 7


class PointVectors(NamedTuple):
    """What a point is found by: its dense vector, or one a row for each passage, and its terms with their weights."""

    dense: np.ndarray
    terms: np.ndarray
    weights: np.ndarray


class DenseGap(NamedTuple):
    """Why an index lacks dense vectors, as a clause, and what to do about it."""

    why: str
    hint: str


def dense_gap(
    manifest: IndexManifest, generations: GenerationStore | LeasedGeneration, ingest_command: str
) -> DenseGap | None:
    """Why some chunks of an index have no dense vector yet: keywords are published before vectors. None if all have."""
    if manifest.dense == "complete":
        return None
    if generations.is_being_written():
        return DenseGap("what search by meaning needs is still being computed", "Wait for the indexing to end.")
    why = "what search by meaning needs is missing, because the indexing was stopped"
    return DenseGap(why, with_options(f"Run `{ingest_command}`: it goes on where it stopped."))


def check_readable(manifest: IndexManifest, settings: Settings) -> None:
    """Refuse an index that questions cannot be asked of.

    Any precision of the local model can be asked; see `as_built`.

    Raises:
        IndexMismatchError: Another version of the product built the index, or other models did.
    """
    if manifest.fingerprint.get("payload") != PAYLOAD_VERSION:
        raise IndexMismatchError(
            "The index was built by another version of ADK Evidence, and this version cannot read it.",
            f"Run `{settings.ingest_command}` to build it anew.",
        )
    check_fingerprint(manifest, fingerprint(as_built(settings, manifest)), command=settings.ingest_command)


class Index:
    """One generation, opened. A generation never changes, so that whatever a request reads from it belongs together."""

    def __init__(self, lease: LeasedGeneration, settings: Settings) -> None:
        self._lease = lease
        self._ingest_command = settings.ingest_command
        self.manifest: IndexManifest = lease.manifest
        try:
            check_readable(self.manifest, settings)
            self.store: EvidenceStore = open_store(lease.folder, settings)
            self.sources: Mapping[str, SourceReader] = source_readers(self.manifest, lease.folder)
        except BaseException:
            lease.release()
            raise
        # What this process has read: payloads by point id, and how rare words are by kind and term.
        self.payloads: dict[Kind, CacheAside[ChunkPayload]] = {kind: CacheAside(KEPT_PAYLOADS) for kind in KINDS}
        self.term_weights: CacheAside[float] = CacheAside(KEPT_TERMS)
        # What results are found by, by point id.
        self.point_vectors: CacheAside[PointVectors] = CacheAside(KEPT_VECTORS)
        # What the pages and classes of answers hold.
        self.outlines: CacheAside[tuple[OutlinePart, ...]] = CacheAside(KEPT_OUTLINES)
        # `CurrentIndex` is the first user, as long as this generation is the published one.
        self._users = 1
        self._lock = threading.Lock()

    def caches(self) -> tuple[CacheUse, ...]:
        """How full the caches of this index are, and how often they had what was asked for."""
        return (
            *(kept.use(f"chunks of {kind}") for kind, kept in self.payloads.items()),
            self.term_weights.use("weights of terms"),
            self.point_vectors.use("vectors of passages"),
            self.outlines.use("outlines"),
        )

    def give_back_pages(self) -> None:
        """Keep of the store's files only the parts in memory that are read from now on."""
        give_back_pages(self._lease.folder)

    @property
    def folder(self) -> Path:
        """The folder of the generation."""
        return self._lease.folder

    def dense_gap(self) -> DenseGap | None:
        return dense_gap(self.manifest, self._lease, self._ingest_command)

    @property
    def points(self) -> int:
        return sum(self.manifest.counts().values())

    @property
    def has_guides(self) -> bool:
        """Whether documentation beyond the generated API reference is indexed."""
        corpora = self.manifest.corpora.items()
        return any(c.kind == "doc" and c.source != "api-reference" and not is_samples(name) for name, c in corpora)

    def source_of(self, payload: ChunkPayload) -> SourceReader | None:
        return self.sources.get(payload.source_name)

    @property
    def has_api_reference(self) -> bool:
        """Whether pages made from docstrings are indexed."""
        return any(corpus.source == "api-reference" for corpus in self.manifest.corpora.values())

    def is_published(self, payload: ChunkPayload) -> bool:
        """Whether the pages of the corpus that a chunk came from are on a site that is known."""
        corpus = self.manifest.corpora.get(payload.source_name)
        return corpus is not None and corpus.site_url is not None

    def local_file(self, candidate: Candidate) -> Path | None:
        """Where the file of a piece of evidence lies on this machine, or None."""
        made = candidate.origin == "api-reference"
        for name, corpus in self.manifest.corpora.items():
            same = corpus.commit == candidate.ref and (corpus.source == "api-reference") == made
            if same and candidate.path in corpus.files:
                return self.file_of(name, candidate.path)
        return None

    def file_of(self, name: str, path: str) -> Path | None:
        """Where a file of a corpus lies on this machine, or None; `path` must be an indexed one."""
        corpus = self.manifest.corpora.get(name)
        if corpus is None or not path.startswith(corpus.location.path_prefix):
            return None
        root = self._lease.folder / corpus.location.root
        file = root / path.removeprefix(corpus.location.path_prefix)
        return file if file.is_file() else None

    @cached_property
    def paths(self) -> dict[Kind, tuple[str, ...]]:
        """Paths of every indexed file by kind, sorted."""
        return {kind: tuple(sorted({path for corpus in self._of(kind) for path in corpus.files})) for kind in KINDS}

    def commits_of(self, kind: Kind, name: str | None) -> tuple[str, ...]:
        """The indexed commits of a kind that a commit, the beginning of one, a tag or a branch names."""
        wanted = (name or "").strip().lower()
        found = [one for one in self._of(kind) if wanted and _is_named(one, wanted)]
        return tuple(dict.fromkeys(one.commit for one in found))

    def _of(self, kind: Kind) -> list[CorpusEntry]:
        return [corpus for corpus in self.manifest.corpora.values() if corpus.kind == kind]

    @cached_property
    def info(self) -> IndexInfo:
        """What a pack says of the index."""
        corpora = {
            name: CorpusInfo(
                repo=corpus.repo,
                commit=corpus.commit,
                ref=corpus.ref,
                source=corpus.source,
                chunks=corpus.chunks,
                content=corpus.content,
            )
            for name, corpus in sorted(self.manifest.corpora.items())
        }
        return IndexInfo(
            generation=self.manifest.generation,
            created_at=self.manifest.created_at,
            fingerprint=self.manifest.fingerprint_id,
            dense=self.manifest.dense,
            dense_model=str(self.manifest.fingerprint["dense_model"]),
            corpora=corpora,
            content=self.manifest.content,
        )

    def acquire(self) -> None:
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Count one user less; the last user closes the index."""
        with self._lock:
            self._users -= 1
            closing = self._users == 0
        if closing:
            self.store.close()
            self._lease.release()


def _is_named(corpus: CorpusEntry, wanted: str) -> bool:
    if len(wanted) >= SHORT_COMMIT and corpus.commit.lower().startswith(wanted):
        return True
    return wanted.removeprefix("v") in {
        name.lower().removeprefix("v") for name in (corpus.commit, corpus.ref) if name is not None
    }


class CurrentIndex:
    """Hands out the published index and switches to a newer one between two requests."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._generations = open_generations(settings)
        self._lock = threading.Lock()
        self._index: Index | None = None

    @contextmanager
    def pin(self) -> Iterator[Index]:
        """The index for one request; it stays open until the request ends, whatever is published meanwhile.

        Raises:
            IndexMissingError: Nothing was ingested yet.
            IndexMismatchError: The index was built with other models than the settings name.
        """
        index = self._acquire()
        try:
            yield index
        finally:
            index.release()

    def caches(self) -> tuple[CacheUse, ...]:
        """See `Index.caches`; none where no index is open."""
        with self._lock:
            return () if self._index is None else self._index.caches()

    def _acquire(self) -> Index:
        with self._lock:
            if self._index is None or self._generations.current_id() != self._index.manifest.generation:
                fresh = Index(self._generations.open_current(), self._settings)
                if self._index is not None:
                    self._index.release()
                self._index = fresh
            self._index.acquire()
            return self._index

    def close(self) -> None:
        """Release the index; a later `pin` opens it again."""
        with self._lock:
            index, self._index = self._index, None
        if index is not None:
            index.release()


def source_readers(manifest: IndexManifest, folder: Path) -> dict[str, SourceReader]:
    """The readers of an index's corpora by their names; generated pages lie in `folder`, the generation's folder."""
    return {name: SourceReader(corpus.location, folder) for name, corpus in manifest.corpora.items()}
