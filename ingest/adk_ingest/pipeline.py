"""From corpora to a published index: discover, chunk, embed, upsert, verify, publish (SPEC 3).

A run never touches the index that readers use. It builds a new generation, verifies it and publishes it by one
atomic step. Whatever stops a run, the old generation goes on serving, and the next run takes every vector that was
computed from the embedding cache.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from adk_evidence.embedding.base import (
    ContextBatch,
    ContextualEmbedder,
    Cost,
    FloatMatrix,
    PaidEmbedder,
    Pair,
    SparseEncoder,
    SparseVector,
)
from adk_evidence.embedding.cache import SPARSE_DIMENSION, CachedSparseEncoder, EmbeddingCache, sparse_key
from adk_evidence.embedding.factory import make_dense, make_sparse
from adk_evidence.errors import EvidenceError, IngestError, StoreError, VerificationError
from adk_evidence.models.chunk import KINDS, ChunkRecord, Kind, point_id, sha256_text
from adk_evidence.settings import Settings
from adk_evidence.store.base import CollectionSpec, Filter, IndexWriter, Match, NewPoint, Vector
from adk_evidence.store.factory import (
    collection_specs,
    make_publisher,
    open_generations,
    open_reader,
    open_writer,
    points_a_write,
)
from adk_evidence.store.generations import Building, Generation
from adk_evidence.store.manifest import (
    CollectionEntry,
    CorpusEntry,
    FileEntry,
    IndexManifest,
    write_manifest,
)
from adk_ingest.caches import prune_cache
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.corpora import CorpusInput, chunker_version, index_fingerprint
from adk_ingest.costs import refuse_above_the_cap
from adk_ingest.manifest import (
    CorpusRun,
    Cursor,
    FailureReport,
    RunFiles,
    RunManifest,
    RunStatus,
    SpentOn,
    Stage,
    left_out,
    new_run_id,
    now,
)
from adk_ingest.progress import Progress
from adk_ingest.records import records
from adk_ingest.spool import RecordSpool
from adk_ingest.verify import VerificationReport, verify_index

Mode = Literal["docs", "code", "all"]

# With fewer vectors to compute than this, waiting for them is shorter than building an index twice.
LEXICAL_FIRST = 400
SKIPPED_EXAMPLES = 20
# One file that a chunker fails on is the file's fault; when more than one and this share of them fail, it is ours.
MAX_FAILED_SHARE = 0.05
# What stands in for the chunks of a file that a chunker fails on.
_NOTHING = ChunkedFile([], parse_failed=True)

Gather = Callable[[RunManifest], Sequence[CorpusInput]]


class IngestCancelledError(EvidenceError):
    """Whoever started the run no longer wants it."""

    code = "cancelled"
    exit_code = 130


class BatchEmbedder(Protocol):
    """What a run asks of a dense model: vectors batch by batch, so that none is lost when it stops.

    One that is a `ContextualEmbedder` as well is asked for a file's chunks together instead.
    """

    @property
    def model(self) -> str:
        """Name of the model, the cache's key."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Batches of positions in `texts` with their vectors; every position comes once."""


@dataclass
class Changes:
    """What one corpus differs in from the published index.

    `records` are the chunks of the changed files. What the dense model sees of them is in `inputs`, by the cache keys
    of the vectors, or in `contexts`, where it sees a file's chunks together. All are filled by chunking, `records`
    for the length of a run.
    """

    corpus: CorpusInput
    changed: list[str]
    removed: list[str]
    kept: dict[str, FileEntry]
    records: RecordSpool = field(default_factory=RecordSpool)
    inputs: dict[str, str] = field(default_factory=dict)
    contexts: list[ContextBatch] = field(default_factory=list)
    tokens: int = 0
    files: dict[str, FileEntry] = field(default_factory=dict)
    without_terms: list[str] = field(default_factory=list)
    dense_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sparse_keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _dropped: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)

    @property
    def chunks(self) -> int:
        """Points of the corpus once the changes are in."""
        return sum(entry.chunks for entry in (*self.kept.values(), *self.files.values()))

    @property
    def failed_files(self) -> list[str]:
        """Paths of the files that the chunker failed on, in this run or an earlier one."""
        return sorted(path for path, entry in (*self.kept.items(), *self.files.items()) if entry.failed)

    def drop(self, record: ChunkRecord) -> None:
        """Leave out a chunk whose sparse vector turned out empty; a second call does nothing."""
        if record.chunk_id in self._dropped:
            return
        self._dropped.add(record.chunk_id)
        self.without_terms.append(_place(record.path, record))
        entry = self.files[record.path]
        passages = None if entry.passages is None else entry.passages - len(record.dense_texts)
        self.files[record.path] = entry.model_copy(update={"chunks": entry.chunks - 1, "passages": passages})


@dataclass
class Work:
    """What one dense model has to compute: texts by the cache keys of their vectors, or batches of a file's chunks."""

    embedder: BatchEmbedder
    kinds: tuple[Kind, ...]
    texts: dict[str, str] = field(default_factory=dict)
    contexts: list[ContextBatch] = field(default_factory=list)

    @property
    def vectors(self) -> int:
        """How many vectors that are."""
        return len(self.texts) + sum(len(batch.own) for batch in self.contexts)

    def cost(self) -> Cost:
        """What it takes of a paid service; nothing of a local model."""
        if not isinstance(self.embedder, PaidEmbedder):
            return Cost()
        return self.embedder.estimate(self.contexts or list(self.texts.values()))

    def batches(self) -> Iterator[dict[str, FloatMatrix]]:
        """Vectors by their cache keys, as they are computed."""
        if isinstance(self.embedder, ContextualEmbedder):
            for positions, found in self.embedder.iter_embed_contexts(self.contexts):
                keys = [key for position in positions for key in self.contexts[position].keys]
                yield dict(zip(keys, (row for rows in found for row in rows), strict=True))
        else:
            keys = list(self.texts)
            for positions, vectors in self.embedder.iter_embed(list(self.texts.values())):
                yield {keys[position]: vector for position, vector in zip(positions, vectors, strict=True)}


@dataclass(frozen=True)
class DryRun:
    """What a run would do; `cost` is None where no service is paid."""

    changes: list[Changes]
    vectors: int
    cost: Cost | None = None


class Ingestion:
    """Runs ingestions into one home folder.

    Args:
        settings: Validated settings.
        progress: Told what happens.
        dense: Dense embedder, or one for docs and one for code, for tests.
        sparse: Sparse encoder, for tests.
        cancelled: Asked between batches; when it says yes the run stops with what was embedded kept.
    """

    def __init__(
        self,
        settings: Settings,
        progress: Progress,
        *,
        dense: BatchEmbedder | Pair[BatchEmbedder] | None = None,
        sparse: SparseEncoder | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._settings = settings
        self._progress = progress
        self._cancelled = cancelled or (lambda: False)
        made = dense or make_dense(settings, report=progress.note, check=self._stop_if_cancelled)
        self._dense: Pair[BatchEmbedder] = Pair.of(made)
        self._cache = EmbeddingCache(settings.paths.embedding_cache)
        encoder = sparse or make_sparse(settings, report=progress.note)
        self._encoder = encoder
        # Counting words is faster than looking vectors up.
        self._sparse = encoder if encoder.exact_terms else CachedSparseEncoder(encoder, self._cache)
        self._generations = open_generations(settings)
        self._publisher = make_publisher(settings)
        self._runs = RunFiles(settings.paths.runs)
        # This run's vectors by their cache keys: the cache may be slow, full or lost.
        self._vectors: dict[Kind, dict[str, FloatMatrix]] = {"doc": {}, "code": {}}
        self._fingerprint = index_fingerprint(settings)

    def run(self, mode: Mode, gather: Gather) -> RunManifest:
        """Bring the index up to date with the corpora and publish it.

        Corpora that are not given stay as they are in the published index.

        Args:
            mode: What the user asked for.
            gather: Finds the corpora; it gets the run's manifest to leave notices in.

        Returns:
            The run's manifest, which was saved before anything else happened (SPEC 3 section 4.1).

        Raises:
            IngestError: The run failed; a failure report says where.
            VerificationError: The built index did not hold what was produced; it was not published.
            StoreError: Another process is ingesting into the same folder.
            IngestCancelledError: `cancelled` said yes.
            EvidenceError: A corpus or a model cannot be had.
        """
        run_id = new_run_id()
        with self._generations.writing(run_id):
            run = self._start(run_id, mode)
            try:
                self._run(run, gather)
            # BaseException: a panic of a native library is no Exception.
            except BaseException as exc:
                self._fail(run, exc)
                if isinstance(exc, (EvidenceError, KeyboardInterrupt, SystemExit)):
                    raise
                raise IngestError(
                    f"Ingestion stopped at the stage {_stage_of(run)}: {type(exc).__name__}: {exc}.",
                    f"The failure report {run_id}.failure.json has the details; what was published still serves.",
                ) from exc
            finally:
                self._close()
        # Other processes may write by now: then the next run prunes.
        with suppress(StoreError):
            prune_cache(self._settings, self._settings.embedding.cache_max_bytes)
        return run

    def _start(self, run_id: str, mode: Mode) -> RunManifest:
        run = RunManifest(
            run_id=run_id,
            pid=os.getpid(),
            status="running",
            started_at=now(),
            mode=mode,
            profile=self._settings.profile,
            config=_config(self._settings),
            chunker_version=chunker_version(),
            dense_model="; ".join(embedder.model for embedder in self._dense.each),
            sparse_model=self._sparse.model,
        )
        run.resumed_from = self._runs.mark_interrupted(run)
        self._runs.save(run)
        self._runs.remove_old()
        return run

    def plan(self, mode: Mode, corpora: Sequence[CorpusInput]) -> DryRun:
        """What a run would do, chunked but not embedded: the changes, the vectors to compute and their cost.

        Raises:
            IngestError: The run would be refused.
        """
        try:
            changes = self._compare(self._base(mode, corpora, self._generations.current()), corpora)
            with _spools(changes):
                for change in changes:
                    self._chunk(change)
            missing = self._missing(changes)
            return DryRun(changes, sum(work.vectors for work in missing), self._cost(missing))
        finally:
            self._close()

    def _run(self, run: RunManifest, gather: Gather) -> None:
        with self._stage(run, "discover"):
            corpora = gather(run)
            run.corpora = {corpus.name: _describe(corpus) for corpus in corpora}
            self._publisher.prepare()
            current = self._generations.current()
            base = self._base(run.mode, corpora, current)
            changes = self._compare(base, corpora)
        for change in changes:
            described = run.corpora[change.corpus.name]
            described.files_changed, described.files_removed = len(change.changed), len(change.removed)
            described.chunks = change.chunks
            described.failed_files = change.failed_files
        self._stop_if_cancelled()
        if base is not None and not any(changes):
            run.generation = base.id
            self._finish(run, "unchanged")
            return
        with _spools(changes):
            self._update(run, current, base, changes)

    def _update(
        self, run: RunManifest, current: Generation | None, base: Generation | None, changes: Sequence[Changes]
    ) -> None:
        files = sum(len(change.changed) for change in changes)
        with self._stage(run, "chunk", files, "files"), _rare_garbage_collection():
            for change in changes:
                self._chunk(change, run.corpora[change.corpus.name])
                if change:
                    run.corpora[change.corpus.name].warnings += change.corpus.check()
        if base is None and not any(len(change.records) for change in changes):
            raise IngestError("No chunk came out of any corpus.", "Check the corpus folders and the include globs.")
        missing = self._missing(changes)
        to_compute = sum(work.vectors for work in missing)
        run.vectors_from_cache = sum(len(vectors) for vectors in self._each_kinds_vectors())
        refuse_above_the_cap(self._cost(missing), self._dense.each, "narrow the corpora")
        if current is None and to_compute >= LEXICAL_FIRST:
            # Nothing serves yet: keywords can answer long before the last vector is there.
            lexical = self._build(run, None, changes, with_dense=False)
            run.lexical_generation = lexical.id
            self._progress.note("Keyword search is ready; semantic vectors follow.")
        self._embed(run, missing)
        generation = self._build(run, base, changes, with_dense=True)
        if cut := getattr(self._encoder, "cut_texts", 0):
            run.notices.append(f"The sparse model read only the beginning of {cut} long texts (long_text: cut).")
        run.generation = generation.id
        failed = any(corpus.failed_files for corpus in run.corpora.values())
        self._finish(run, "incomplete" if failed else "complete")
        # The new index serves by now: old ones that stay a while longer are no failure.
        with suppress(StoreError, OSError):
            self._generations.collect_garbage(self._settings.store.keep_generations)
            self._publisher.collect_garbage()

    def _base(self, mode: Mode, corpora: Sequence[CorpusInput], current: Generation | None) -> Generation | None:
        """The published generation, if a new one can be made of it by changing some files' points.

        Raises:
            IngestError: It cannot, and the corpora at hand are not all that it holds.
        """
        if current is None:
            return None
        manifest = current.manifest
        complete = manifest.dense == "complete"
        usable = complete and manifest.fingerprint == self._fingerprint and manifest.store == self._settings.store.kind
        if usable and self._publisher.holds(current.folder, manifest):
            return current
        lost = sorted(set(current.manifest.corpora) - {corpus.name for corpus in corpora})
        if not lost:
            return None
        if usable:
            why = "is no longer complete on the server"
        elif complete:
            why = "was built with other models, settings or versions"
        else:
            why = "lacks its dense vectors yet"
        if mode != "all":
            raise IngestError(
                f"The published index {why}, so one corpus alone cannot be brought up to date.",
                f"Run `{self._settings.ingest_command}`.",
            )
        self._progress.note(f"The published index {why}; it is built anew without {', '.join(lost)}.")
        return None

    def _compare(self, base: Generation | None, corpora: Sequence[CorpusInput]) -> list[Changes]:
        changes = []
        for corpus in corpora:
            old = base.manifest.corpora.get(corpus.name) if base else None
            known = dict(old.files) if old is not None and old.state == corpus.state else {}
            files = {file.path: file.file_hash for file in corpus.files}
            kept = {path: entry for path, entry in known.items() if files.get(path) == entry.sha256}
            changed = [path for path in files if path not in kept]
            removed = [path for path in (old.files if old else {}) if path not in files]
            changes.append(Changes(corpus, changed, removed, kept))
        return changes

    def _chunk(self, change: Changes, described: CorpusRun | None = None) -> None:
        wanted = set(change.changed)
        failed: list[str] = []
        for file in change.corpus.files:
            if file.path not in wanted:
                continue
            try:
                chunked = change.corpus.chunk(file)
            except Exception as exc:
                failed.append(f"{file.path}: {type(exc).__name__}: {exc}")
                chunked = _NOTHING
                if described is not None:
                    described.warnings.append(f"{file.path}: no chunks, {type(exc).__name__}: {exc}")
                if len(failed) > max(1, MAX_FAILED_SHARE * len(wanted)):
                    raise IngestError(
                        f"The chunker of {change.corpus.name} fails on many files, the first of them {failed[0]}.",
                        "Please report this; the index that was published before still serves.",
                    ) from exc
            made = list(records(file, chunked, change.corpus.context, self._leaves_out(file, change)))
            made = self._with_dense_keys(made, change)
            change.records.add(made)
            change.dense_keys[file.path] = tuple(key for record in made for key in record.dense_keys)
            if not self._encoder.exact_terms:
                change.sparse_keys[file.path] = tuple(sha256_text(record.lexical_text) for record in made)
            change.tokens += sum(record.text_tokens for record in made)
            passages = sum(len(record.dense_texts) for record in made)
            change.files[file.path] = FileEntry(
                sha256=file.file_hash, chunks=len(made), passages=passages, failed=chunked is _NOTHING
            )
            if described is not None:
                self._progress.advance()
                described.warnings += [f"{file.path}: {warning}" for warning in chunked.warnings]
                if chunked.parse_failed:
                    described.parse_failures.append(file.path)
                self._stop_if_cancelled()
        if described is not None:
            described.chunks = change.chunks
            described.tokens = change.tokens
            described.failed_files = change.failed_files
            described.chunks_without_terms = change.without_terms

    def _leaves_out(self, file: SourceFile, change: Changes) -> Callable[[RawChunk, str], bool]:
        """Says which chunks cannot have a sparse vector, and notes where they are."""

        def without_terms(raw: RawChunk, lexical: str) -> bool:
            if self._encoder.has_terms(lexical):
                return False
            change.without_terms.append(_place(file.path, raw))
            return True

        return without_terms

    def _with_dense_keys(self, made: Sequence[ChunkRecord], change: Changes) -> list[ChunkRecord]:
        """One file's records with the cache keys of their dense vectors, whose inputs the change keeps."""
        texts = [text for record in made for text in record.dense_texts]
        embedder = self._dense[change.corpus.kind]
        if isinstance(embedder, ContextualEmbedder):
            batches = embedder.context_batches(texts)
            change.contexts += batches
            keys = [key for batch in batches for key in batch.keys]
        else:
            keys = [sha256_text(text) for text in texts]
            change.inputs.update(zip(keys, texts, strict=True))
        following = iter(keys)
        return [
            record.model_copy(update={"dense_keys": tuple(itertools.islice(following, len(record.dense_texts)))})
            for record in made
        ]

    def _missing(self, changes: Sequence[Changes]) -> list[Work]:
        """What each dense model has to compute that has no vector yet."""
        found = []
        groups: list[tuple[Kind, ...]] = [KINDS] if self._dense.shared else [(kind,) for kind in KINDS]
        for kinds in groups:
            work = Work(self._dense[kinds[0]], kinds)
            own = [change for change in changes if change.corpus.kind in kinds]
            inputs = {key: text for change in own for key, text in change.inputs.items()}
            # Files with the same text have the same batches.
            contexts = {tuple(batch.keys): batch for change in own for batch in change.contexts}
            wanted = [*inputs, *(key for keys in contexts for key in keys)]
            known = self._cache.get_many(work.embedder.model, work.embedder.dimension, wanted)
            for kind in kinds:
                self._vectors[kind] = known
            work.texts = {key: text for key, text in inputs.items() if key not in known}
            work.contexts = [batch for keys, batch in contexts.items() if not all(key in known for key in keys)]
            found.append(work)
        return found

    def _each_kinds_vectors(self) -> list[dict[str, FloatMatrix]]:
        return [self._vectors["doc"]] if self._dense.shared else list(self._vectors.values())

    def _cost(self, missing: Sequence[Work]) -> Cost | None:
        if not any(isinstance(embedder, PaidEmbedder) for embedder in self._dense.each):
            return None
        return sum((work.cost() for work in missing), Cost())

    def _embed(self, run: RunManifest, missing: Sequence[Work]) -> None:
        total = sum(work.vectors for work in missing)
        if not total:
            return
        batch = 0
        with self._stage(run, "embed", total, "vectors"):
            for work in missing:
                try:
                    for found in work.batches() if work.vectors else ():
                        self._cache.put_many(work.embedder.model, work.embedder.dimension, found)
                        self._vectors[work.kinds[0]].update(found)
                        batch += 1
                        run.vectors_embedded += len(found)
                        run.cursor = Cursor(stage="embed", batch=batch, done=run.vectors_embedded, total=total)
                        self._progress.advance(len(found))
                        self._stop_if_cancelled()
                finally:
                    # What was paid for is told of runs that fail, too.
                    if isinstance(work.embedder, PaidEmbedder):
                        spent = work.embedder.spent()
                        run.spent[work.embedder.model] = SpentOn(
                            requests=spent.requests, tokens=spent.tokens, usd=round(spent.usd, 4)
                        )

    def _build(
        self, run: RunManifest, base: Generation | None, changes: Sequence[Changes], *, with_dense: bool
    ) -> Generation:
        dimensions: dict[Kind, int] = {"doc": self._dense.doc.dimension, "code": self._dense.code.dimension}
        specs = collection_specs(self._settings, dimension=dimensions, idf=self._sparse.requires_idf)
        total = sum(len(change.records) for change in changes)
        self._reach(run, "upsert", total, "points")
        with self._timed(run, "upsert"):
            building = self._generations.begin(run.run_id, copy_current=base is not None)
        with building:
            self._write(run, building, changes, specs, with_dense=with_dense)
            manifest = self._manifest(building, run, base, changes, specs, with_dense=with_dense)
            # Readers learn the collections' shapes from it, the one that verifies among them.
            write_manifest(building.folder, manifest)
            self._verify(run, building, manifest)
            with self._stage(run, "publish"):
                before = self._generations.current()
                self._publisher.publish(building.folder)
                try:
                    generation = self._generations.publish(building, manifest)
                except StoreError:
                    # Others find the old index again; where that fails too, the next run sets it right.
                    with suppress(StoreError):
                        if before is not None:
                            self._publisher.publish(before.folder)
                    raise
                self._note_needs(generation, base, changes)
                return generation

    def _note_needs(self, generation: Generation, base: Generation | None, changes: Sequence[Changes]) -> None:
        """Tell the cache which vectors a generation was made of, so that they are not pruned."""
        needed: dict[tuple[str, int], dict[str, tuple[str, ...]]] = {}
        gone = []
        for change in changes:
            name, kind = change.corpus.name, change.corpus.kind
            gone += [_item(name, path) for path in (*change.removed, *change.changed)]
            dense = self._dense[kind]
            of_dense = needed.setdefault((dense.model, dense.dimension), {})
            of_dense |= {_item(name, path): keys for path, keys in change.dense_keys.items()}
            of_sparse = needed.setdefault((sparse_key(self._encoder.model, kind), SPARSE_DIMENSION), {})
            of_sparse |= {_item(name, path): keys for path, keys in change.sparse_keys.items()}
        self._cache.need(generation.folder, needed, base=base.folder if base else None, gone=gone)

    def _write(
        self,
        run: RunManifest,
        building: Building,
        changes: Sequence[Changes],
        specs: Sequence[CollectionSpec],
        *,
        with_dense: bool,
    ) -> None:
        with self._timed(run, "upsert"):
            for change in changes:
                _write_pages(building.folder, change)
            writer = open_writer(building.folder, specs, self._settings)
        try:
            with self._timed(run, "upsert"):
                self._delete_stale(writer, changes)
            self._upsert(run, writer, changes, with_dense=with_dense)
            with self._timed(run, "upsert"):
                writer.flush()
        finally:
            writer.close()

    def _delete_stale(self, writer: IndexWriter, changes: Sequence[Changes]) -> None:
        store = self._settings.store
        for change in changes:
            stale = tuple(dict.fromkeys([*change.removed, *change.changed]))
            if stale:
                context = change.corpus.context
                old = Filter(
                    must=(Match("path", stale), Match("origin", (context.origin,)), Match("corpus", (context.corpus,)))
                )
                writer.delete(store.collection(change.corpus.kind), old)

    def _upsert(self, run: RunManifest, writer: IndexWriter, changes: Sequence[Changes], *, with_dense: bool) -> None:
        total = sum(len(change.records) for change in changes)
        number = done = 0
        for change in changes:
            corpus = change.corpus
            run.points_uploaded[corpus.name] = 0
            for batch in change.records.batches(points_a_write(self._settings)):
                with self._timed(run, "sparse"):
                    run.cursor = Cursor(stage="sparse", batch=number, done=done, total=total)
                    sparse = self._sparse.encode_documents([record.lexical_text for record in batch], corpus.kind)
                with self._timed(run, "upsert"):
                    run.cursor = Cursor(stage="upsert", batch=number, done=done, total=total)
                    for record in (record for record, lexical in zip(batch, sparse, strict=True) if not lexical):
                        change.drop(record)
                    points = self._points(batch, sparse, corpus.kind, with_dense=with_dense)
                    written = writer.upsert(self._settings.store.collection(corpus.kind), points)
                number, done = number + 1, done + len(batch)
                run.cursor = Cursor(stage="upsert", batch=number, done=done, total=total)
                run.points_uploaded[corpus.name] += written
                self._progress.advance(len(batch))
                self._stop_if_cancelled()
            described = run.corpora[corpus.name]
            described.chunks, described.chunks_without_terms = change.chunks, change.without_terms

    def _points(
        self, batch: Sequence[ChunkRecord], sparse: Sequence[SparseVector], kind: Kind, *, with_dense: bool
    ) -> Iterator[NewPoint]:
        store = self._settings.store
        for record, lexical in zip(batch, sparse, strict=True):
            if not lexical:
                continue
            vectors: dict[str, Vector] = {store.sparse_vector: lexical}
            if with_dense:
                dense = [self._vectors[kind][key] for key in record.dense_keys]
                if self._settings.embedding.dense.multi:
                    vectors[store.dense_vector(kind)] = [row.tolist() for row in dense]
                    # What the chunk is about as a whole; a store makes it of length 1 itself.
                    vectors[store.mean_vector(kind)] = np.mean(dense, axis=0).tolist()
                else:
                    vectors[store.dense_vector(kind)] = dense[0].tolist()
            yield NewPoint(point_id(record.chunk_id), vectors, record.payload().model_dump(mode="json"))

    def _verify(self, run: RunManifest, building: Building, manifest: IndexManifest) -> VerificationReport:
        with self._stage(run, "verify"):
            reader = open_reader(building.folder, self._settings)
            try:
                report = verify_index(reader, manifest, self._settings.store)
            finally:
                reader.close()
        run.qdrant_counts = report.counts
        if not report.ok:
            run.errors += report.problems
            raise VerificationError(
                f"The built index was not published: {report.problems[0]}", "Run the same command again."
            )
        return report

    def _manifest(
        self,
        building: Building,
        run: RunManifest,
        base: Generation | None,
        changes: Sequence[Changes],
        specs: Sequence[CollectionSpec],
        *,
        with_dense: bool,
    ) -> IndexManifest:
        corpora: dict[str, CorpusEntry] = dict(base.manifest.corpora) if base else {}
        for change in changes:
            corpora[change.corpus.name] = _entry(change)
        corpora = {name: corpus for name, corpus in corpora.items() if corpus.files}
        points: dict[str, int] = {}
        for corpus in corpora.values():
            collection = self._settings.store.collection(corpus.kind)
            points[collection] = points.get(collection, 0) + corpus.chunks
        return IndexManifest(
            generation=building.id,
            created_at=now(),
            run_id=run.run_id,
            fingerprint=self._fingerprint,
            store=self._settings.store.kind,
            dense="complete" if with_dense else "pending",
            collections={
                spec.name: CollectionEntry(
                    dense=dict(spec.dense), sparse=dict(spec.sparse), multi=spec.multi, points=points.get(spec.name, 0)
                )
                for spec in specs
            },
            corpora=corpora,
        )

    def _reach(self, run: RunManifest, stage: Stage, total: int | None = None, unit: str = "") -> None:
        """A stage begins, and whoever watches learns of it: from now on the manifest on disk names it."""
        run.cursor = Cursor(stage=stage, total=total)
        self._runs.save(run)
        self._progress.stage(stage, total, unit)

    @contextmanager
    def _stage(self, run: RunManifest, stage: Stage, total: int | None = None, unit: str = "") -> Iterator[None]:
        self._reach(run, stage, total, unit)
        with self._timed(run, stage):
            yield
        self._runs.save(run)

    @contextmanager
    def _timed(self, run: RunManifest, stage: Stage) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            run.seconds[stage] = round(run.seconds.get(stage, 0.0) + time.perf_counter() - begin, 3)

    def _finish(self, run: RunManifest, status: Literal["complete", "incomplete", "unchanged"]) -> None:
        run.cursor = None
        for name, corpus in run.corpora.items():
            run.notices += left_out(name, corpus.failed_files, corpus.chunks_without_terms)
        self._end(run, status)

    def _end(self, run: RunManifest, status: RunStatus) -> None:
        run.status = status
        run.finished_at = now()
        run.peak_rss_mb = peak_rss_mb()
        self._runs.save(run)

    def _fail(self, run: RunManifest, exc: BaseException) -> None:
        """Say on disk what happened; where that fails as well, the first error is the one to hear of."""
        message = exc.message if isinstance(exc, EvidenceError) else f"{type(exc).__name__}: {exc}".rstrip(": ")
        run.errors.append(message)
        with suppress(StoreError):
            self._runs.save_failure(
                FailureReport(
                    run_id=run.run_id,
                    failed_at=now(),
                    stage=_stage_of(run),
                    cursor=run.cursor,
                    error=message,
                    hint=exc.hint if isinstance(exc, EvidenceError) else "",
                    failed_files=[path for corpus in run.corpora.values() for path in corpus.parse_failures],
                )
            )
            stopped = isinstance(exc, (KeyboardInterrupt, IngestCancelledError))
            self._end(run, "interrupted" if stopped else "failed")

    def _close(self) -> None:
        self._cache.close()
        for embedder in self._dense.each:
            if isinstance(embedder, PaidEmbedder):
                embedder.close()

    def _stop_if_cancelled(self) -> None:
        if self._cancelled():
            raise IngestCancelledError(
                "The ingestion was cancelled.", "Finished vectors are kept; the same command goes on from there."
            )


def _place(path: str, chunk: RawChunk | ChunkRecord) -> str:
    return f"{path}:{chunk.start_line}-{chunk.end_line}"


def _item(corpus: str, path: str) -> str:
    return f"{corpus}/{path}"


def _stage_of(run: RunManifest) -> Stage:
    return run.cursor.stage if run.cursor else "discover"


@contextmanager
def _spools(changes: Sequence[Changes]) -> Iterator[None]:
    """Let go of the records when the run is over, however it ends."""
    with ExitStack() as spools:
        for change in changes:
            spools.enter_context(change.records)
        yield


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Look for cyclic garbage less often: syntax trees are many small objects that go by themselves.

    Measured: 15 % of the time of chunking, without more memory.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(10_000, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def peak_rss_mb() -> float | None:
    """The largest resident memory of this process so far, or None where the platform does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def _describe(corpus: CorpusInput) -> CorpusRun:
    source = corpus.source
    return CorpusRun(
        repo=source.repo,
        commit=source.commit,
        ref=source.ref,
        source=source.kind,
        root=str(source.root),
        dirty=source.dirty,
        include_globs=corpus.globs.include,
        exclude_globs=corpus.globs.exclude,
        files=len(corpus.files),
        skipped={reason: len(paths) for reason, paths in corpus.skipped.items()},
        skipped_examples={reason: sorted(paths)[:SKIPPED_EXAMPLES] for reason, paths in corpus.skipped.items()},
        decode_warnings=list(corpus.decode_warnings),
    )


def _write_pages(folder: Path, change: Changes) -> None:
    """Keep a corpus's generated pages in the index: citations are checked against them."""
    pages = change.corpus.pages
    if pages is None:
        return
    root = folder / change.corpus.location.root
    for path in (*change.removed, *change.changed):
        target = root / path
        if path in pages:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(pages[path], encoding="utf-8", errors="replace", newline="\n")
        else:
            target.unlink(missing_ok=True)


def _config(settings: Settings) -> dict[str, Any]:
    """The settings that decided what a run wrote, with the corpora of this very index."""
    config = settings.model_dump(mode="json", include={"ingestion", "embedding", "store"})
    corpora = settings.corpora.values()
    config["ingestion"]["corpora"] = {corpus.corpus: corpus.model_dump(mode="json") for corpus in corpora}
    return config


def _entry(change: Changes) -> CorpusEntry:
    corpus = change.corpus
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
        files=dict(sorted({**change.kept, **change.files}.items())),
    )
