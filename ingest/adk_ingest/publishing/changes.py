"""How a corpus differs from the published index, and the records of its new files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from adk_evidence.embedding.base import ContextBatch, ContextualEmbedder, DenseEmbedder
from adk_evidence.errors import IngestError
from adk_evidence.models.chunk import ChunkRecord
from adk_evidence.store.manifest import CorpusEntry, FileEntry
from adk_ingest.chunking.base import SourceFile
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.publishing.manifest import CorpusRun
from adk_ingest.records.files import KeysOf, MadeFile, keys_of_texts, place
from adk_ingest.records.spool import RecordSpool
from adk_ingest.wording import named

# Where a chunker fails on one file, the file is at fault; where it fails on more than this share of the files, and on
# more than one, the chunker is.
MAX_FAILED_SHARE = 0.05


@dataclass
class Changes:
    """How one corpus differs from the published index; `said` is the corpus's entry in the run's manifest.

    `is_recited` says that the kept files are cited with another commit or ref than in the published index, or lie
    elsewhere. `take` fills the rest: `records` are the chunks of the changed files, for the length of a run, with the
    texts for the dense model, and `pages` has the texts of generated pages. Where the model sees a file's chunks
    together, `contexts` has their texts.
    """

    corpus: CorpusInput
    said: CorpusRun
    changed: list[str]
    removed: list[str]
    kept: dict[str, FileEntry]
    is_recited: bool
    records: RecordSpool = field(default_factory=RecordSpool)
    contexts: list[ContextBatch] = field(default_factory=list)
    files: dict[str, FileEntry] = field(default_factory=dict)
    dense_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sparse_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    _dropped: set[str] = field(default_factory=set)

    @classmethod
    def since(cls, old: CorpusEntry | None, corpus: CorpusInput, said: CorpusRun) -> Changes:
        """Compare a corpus with its entry in the published index; without one, every file is new."""
        kept = kept_files(old, corpus)
        files = {file.path for file in corpus.files}
        changed = [file.path for file in corpus.files if file.path not in kept]
        removed = [path for path in (old.files if old else {}) if path not in files]
        cited = (corpus.source.commit, corpus.source.ref, corpus.location)
        is_recited = old is not None and bool(kept) and (old.commit, old.ref, old.location) != cited
        said.files_changed, said.files_removed = len(changed), len(removed)
        changes = cls(corpus, said, changed, removed, kept, is_recited)
        changes._count()
        return changes

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed or self.is_recited)

    @property
    def stale(self) -> list[str]:
        """Paths of the files whose points must leave the index."""
        return [*self.removed, *self.changed]

    def to_make(self) -> list[SourceFile]:
        """The files whose records are to be made, in their order."""
        wanted = set(self.changed)
        return [file for file in self.corpus.files if file.path in wanted]

    def keys_of(self, dense: DenseEmbedder) -> KeysOf:
        """How the dense vectors of a file's texts are named; keeps the texts of a model that reads them together."""
        if not isinstance(dense, ContextualEmbedder):
            return keys_of_texts

        def keys_of(texts: Sequence[str]) -> list[str]:
            batches = dense.context_batches(texts)
            self.contexts += batches
            return [key for batch in batches for key in batch.keys]

        return keys_of

    def take(self, files: Iterable[MadeFile]) -> Iterator[None]:
        """Take what was made of the changed files, in their order; yields after each file.

        Raises:
            IngestError: The chunker fails on too many files.
        """
        failed: list[str] = []
        warned: dict[str, list[str]] = {}
        for made in files:
            if made.failure is not None:
                failed.append(f"{made.path}: {made.failure}")
                self.said.warnings.append(f"{made.path}: no chunks, {made.failure}")
                if len(failed) > max(1, MAX_FAILED_SHARE * len(self.changed)):
                    raise IngestError(
                        f"The chunker of {self.corpus.name} fails on many files, the first of them {failed[0]}.",
                        "Please report this; the index that was published before still serves.",
                    )
            self.records.add(made.pickled, made.entry.chunks)
            if made.page is not None:
                self.pages[made.path] = made.page
            self.files[made.path] = made.entry
            self.dense_keys[made.path] = made.dense_keys
            if made.sparse_keys:
                self.sparse_keys[made.path] = made.sparse_keys
            self.said.tokens += made.tokens
            self.said.chunks_without_terms += made.without_terms
            if made.parse_failed:
                self.said.parse_failures.append(made.path)
            for warning in made.warnings:
                warned.setdefault(warning, []).append(made.path)
            yield
        # One warning for all files that it is about.
        self.said.warnings += [f"{named(paths)}: {warning}" for warning, paths in warned.items()]
        self._count()

    def drop(self, record: ChunkRecord) -> None:
        """Leave out a chunk whose sparse vector is empty; a second call does nothing."""
        if record.chunk_id in self._dropped:
            return
        self._dropped.add(record.chunk_id)
        self.said.chunks_without_terms.append(place(record.path, record))
        entry = self.files[record.path]
        embedded = len(record.dense_texts) + len(record.questions)
        passages = None if entry.passages is None else entry.passages - embedded
        with_questions = entry.with_questions - bool(record.questions)
        self.files[record.path] = entry.model_copy(
            update={"chunks": entry.chunks - 1, "passages": passages, "with_questions": with_questions}
        )
        self._count()

    def entry(self) -> CorpusEntry:
        """The corpus's entry in the index's manifest once the changes are in."""
        corpus = self.corpus
        return CorpusEntry(
            kind=corpus.kind,
            repo=corpus.source.repo,
            commit=corpus.source.commit,
            ref=corpus.source.ref,
            source="api-reference" if corpus.is_generated else corpus.source.kind,
            location=corpus.location,
            site_url=corpus.site_url,
            license=corpus.source.licence,
            state=corpus.state,
            files=dict(sorted({**self.kept, **self.files}.items())),
        )

    def _count(self) -> None:
        entries = {**self.kept, **self.files}
        self.said.chunks = sum(entry.chunks for entry in entries.values())
        self.said.with_questions = sum(entry.with_questions for entry in entries.values())
        self.said.failed_files = sorted(path for path, entry in entries.items() if entry.failed)


def kept_files(old: CorpusEntry | None, corpus: CorpusInput) -> dict[str, FileEntry]:
    """The files of a corpus whose chunks an index holds as they are now; `old` is the corpus's entry there."""
    if old is None or old.state != corpus.state:
        return {}
    files = {file.path: file.file_hash for file in corpus.files}
    return {path: entry for path, entry in old.files.items() if files.get(path) == entry.sha256}
