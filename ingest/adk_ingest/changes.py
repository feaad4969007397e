"""How a corpus differs from the published index, and the records of its new files."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from adk_evidence.embedding.base import ContextBatch, ContextualEmbedder, DenseEmbedder, SparseEncoder
from adk_evidence.errors import IngestError
from adk_evidence.models.chunk import ChunkRecord, sha256_text
from adk_evidence.store.generations import Generation
from adk_evidence.store.manifest import CorpusEntry, FileEntry
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.corpora import CorpusInput
from adk_ingest.credentials import holds_credential
from adk_ingest.manifest import CorpusRun
from adk_ingest.new_questions import File
from adk_ingest.records import records
from adk_ingest.spool import RecordSpool
from adk_ingest.wording import named

# Where a chunker fails on one file, the file is at fault; where it fails on more than this share of the files, and on
# more than one, the chunker is.
MAX_FAILED_SHARE = 0.05
# What stands in for the chunks of a file that a chunker fails on.
_NOTHING = ChunkedFile([], parse_failed=True)


@dataclass
class Changes:
    """How one corpus differs from the published index; `said` is the corpus's entry in the run's manifest.

    `chunk` fills the rest. `records` are the chunks of the changed files, for the length of a run. The texts for the
    dense model are in `inputs`, by the cache keys of their vectors, or in `contexts`, where the model sees a file's
    chunks together.
    """

    corpus: CorpusInput
    said: CorpusRun
    changed: list[str]
    removed: list[str]
    kept: dict[str, FileEntry]
    records: RecordSpool = field(default_factory=RecordSpool)
    inputs: dict[str, str] = field(default_factory=dict)
    contexts: list[ContextBatch] = field(default_factory=list)
    files: dict[str, FileEntry] = field(default_factory=dict)
    dense_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sparse_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _dropped: set[str] = field(default_factory=set)

    @classmethod
    def since(
        cls, published: Generation | None, corpus: CorpusInput, said: CorpusRun, renewed: Collection[File] = ()
    ) -> Changes:
        """Compare a corpus with the published index; without an index, every file is new.

        Files in `renewed` count as changed, though their texts did not change.
        """
        old = published.manifest.corpora.get(corpus.name) if published else None
        known = dict(old.files) if old is not None and old.state == corpus.state else {}
        files = {file.path: file.file_hash for file in corpus.files}
        kept = {
            path: entry
            for path, entry in known.items()
            if files.get(path) == entry.sha256 and (corpus.name, path) not in renewed
        }
        changed = [path for path in files if path not in kept]
        removed = [path for path in (old.files if old else {}) if path not in files]
        changes = cls(corpus, said, changed, removed, kept)
        said.files_changed, said.files_removed = len(changed), len(removed)
        changes._count()
        return changes

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)

    @property
    def stale(self) -> list[str]:
        """Paths of the files whose points must leave the index."""
        return [*self.removed, *self.changed]

    def chunk(self, dense: DenseEmbedder, sparse: SparseEncoder) -> Iterator[None]:
        """Make the records of the changed files; yields after each file.

        Chunks without a word that `sparse` knows get no record.

        Raises:
            IngestError: The chunker fails on too many files.
        """
        wanted = set(self.changed)
        failed: list[str] = []
        warned: dict[str, list[str]] = {}
        for file in self.corpus.files:
            if file.path not in wanted:
                continue
            try:
                file = _as_it_is(file)
                chunked = self.corpus.chunk(file)
            except Exception as exc:
                failed.append(f"{file.path}: {type(exc).__name__}: {exc}")
                chunked = _NOTHING
                self.said.warnings.append(f"{file.path}: no chunks, {type(exc).__name__}: {exc}")
                if len(failed) > max(1, MAX_FAILED_SHARE * len(wanted)):
                    raise IngestError(
                        f"The chunker of {self.corpus.name} fails on many files, the first of them {failed[0]}.",
                        "Please report this; the index that was published before still serves.",
                    ) from exc
            self._take(file, chunked, dense, sparse)
            for warning in chunked.warnings:
                warned.setdefault(warning, []).append(file.path)
            yield
        # One warning for all files that it is about.
        self.said.warnings += [f"{named(paths)}: {warning}" for warning, paths in warned.items()]
        self._count()

    def _take(self, file: SourceFile, chunked: ChunkedFile, dense: DenseEmbedder, sparse: SparseEncoder) -> None:
        def without_terms(raw: RawChunk, lexical: str) -> bool:
            if sparse.has_terms(lexical):
                return False
            self.said.chunks_without_terms.append(_place(file.path, raw))
            return True

        made = self._with_dense_keys(list(records(file, chunked, self.corpus, without_terms)), dense)
        self.records.add(made)
        self.dense_keys[file.path] = tuple(
            key for record in made for key in (*record.dense_keys, *record.question_keys)
        )
        if not sparse.exact_terms:
            self.sparse_keys[file.path] = tuple(sha256_text(record.lexical_text) for record in made)
        passages = sum(len(record.dense_texts) + len(record.questions) for record in made)
        self.files[file.path] = FileEntry(
            sha256=file.file_hash,
            chunks=len(made),
            passages=passages,
            failed=chunked is _NOTHING,
            with_questions=sum(bool(record.questions) for record in made),
            content=_content(made),
        )
        self.said.tokens += sum(record.text_tokens for record in made)
        if chunked.parse_failed:
            self.said.parse_failures.append(file.path)

    def _with_dense_keys(self, made: Sequence[ChunkRecord], dense: DenseEmbedder) -> list[ChunkRecord]:
        """One file's records with the cache keys of their dense vectors, whose inputs are kept."""
        texts = [text for record in made for text in record.dense_texts]
        if isinstance(dense, ContextualEmbedder):
            batches = dense.context_batches(texts)
            self.contexts += batches
            keys = [key for batch in batches for key in batch.keys]
        else:
            keys = [sha256_text(text) for text in texts]
            self.inputs.update(zip(keys, texts, strict=True))
        questions = {text: sha256_text(text) for record in made for text in record.questions}
        self.inputs.update((key, text) for text, key in questions.items())
        following = iter(keys)
        return [
            record.model_copy(
                update={
                    "dense_keys": tuple(itertools.islice(following, len(record.dense_texts))),
                    "question_keys": tuple(questions[text] for text in record.questions),
                }
            )
            for record in made
        ]

    def drop(self, record: ChunkRecord) -> None:
        """Leave out a chunk whose sparse vector is empty; a second call does nothing."""
        if record.chunk_id in self._dropped:
            return
        self._dropped.add(record.chunk_id)
        self.said.chunks_without_terms.append(_place(record.path, record))
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
            source=corpus.source.kind if corpus.pages is None else "api-reference",
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


def _as_it_is(file: SourceFile) -> SourceFile:
    """A file with its text, which chunkers ask for more than once.

    Where the file changed since the run looked at it, its hash is that of the text which is indexed, so that the next
    run compares with that. A text that has got a credential meanwhile is not indexed.
    """
    text = file.text
    is_other = file.known is not None and sha256_text(text) != file.known.facts.digest
    if is_other and holds_credential(text):
        text = ""
    return replace(file, own_text=text, file_hash=sha256_text(text) if is_other else file.file_hash)


def _content(made: Sequence[ChunkRecord]) -> str:
    """A digest of what is cited and what is searched of a file: its chunks, and the texts behind their vectors."""
    parts = (
        part
        for record in made
        for part in (
            record.chunk_id,
            record.source_hash,
            sha256_text(record.lexical_text),
            *record.dense_keys,
            *record.question_keys,
        )
    )
    # Half of a sha256 is enough, and a manifest may list ten thousand files.
    return sha256_text("\0".join(parts))[:32]


def _place(path: str, chunk: RawChunk | ChunkRecord) -> str:
    return f"{path}:{chunk.start_line}-{chunk.end_line}"
