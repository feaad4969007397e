"""From corpora to a published index: discover, chunk, embed, upsert, verify, publish (SPEC 3).

A run never touches the index that readers use. It builds a new generation, verifies it and publishes it by one
atomic step. Whatever stops a run, the old generation goes on serving, and the next run takes every vector that was
computed from the embedding cache.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adk_evidence.embedding.base import (
    Cost,
    DenseEmbedder,
    FloatMatrix,
    PaidEmbedder,
    Pair,
    SparseEncoder,
    SparseVector,
)
from adk_evidence.embedding.cache import SPARSE_DIMENSION, CachedSparseEncoder, EmbeddingCache, sparse_key
from adk_evidence.embedding.factory import make_dense, make_sparse
from adk_evidence.embedding.shipped import shipped_vectors
from adk_evidence.errors import IngestError, StoreError
from adk_evidence.index.encoders import as_kept, with_precision
from adk_evidence.models.chunk import ChunkRecord, Kind, point_id
from adk_evidence.settings import Settings
from adk_evidence.store.base import CollectionSpec, Filter, IndexWriter, Match, NewPoint, Vector
from adk_evidence.store.factory import (
    collection_specs,
    make_publisher,
    open_generations,
    open_writer,
    points_a_write,
)
from adk_evidence.store.generations import Building, Generation
from adk_evidence.store.manifest import CollectionEntry, IndexManifest
from adk_ingest.chunking.chunkers import chunker_version, index_fingerprint
from adk_ingest.corpora.corpus import PAGES_FOLDER, CorpusInput
from adk_ingest.progress import Progress
from adk_ingest.publishing.bases import Base, without_waste
from adk_ingest.publishing.changes import Changes
from adk_ingest.publishing.manifest import (
    CorpusRun,
    Cursor,
    IngestCancelledError,
    Mode,
    RunLog,
    RunManifest,
    SpentOn,
    new_run_id,
    now,
)
from adk_ingest.publishing.publish import publish_verified
from adk_ingest.records.processes import making, processors
from adk_ingest.vectors.caches import prune_cache
from adk_ingest.vectors.compute import Vectors
from adk_ingest.vectors.costs import cap_of, refuse_above_the_cap

if TYPE_CHECKING:
    from adk_evidence.services.eventloop import Cancelled

# With fewer vectors to compute than this, or fewer for each chunk, waiting for them is shorter than building an index
# twice.
LEXICAL_FIRST = 400
# A new index that lacks more vectors than this gets static ones, where the settings leave that open: an hour of two
# cores in int8.
STATIC_ABOVE = 200_000
LEXICAL_FIRST_SHARE = 0.9
SKIPPED_EXAMPLES = 20


@dataclass(frozen=True)
class DryRun:
    """What a run would do; `cost` and `cap` are None where no service is paid."""

    changes: list[Changes]
    vectors: int
    cost: Cost | None = None
    cap: float | None = None
    is_static: bool = False


class Ingestion:
    """One run of ingestion into one home folder; `dense` and `sparse` are for tests.

    The run asks `cancelled` between batches; when the answer is yes, it stops and keeps what was embedded.
    """

    def __init__(
        self,
        settings: Settings,
        progress: Progress,
        *,
        dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
        sparse: SparseEncoder | None = None,
        cancelled: Cancelled | None = None,
    ) -> None:
        self._generations = open_generations(settings)
        current = self._generations.current()
        self._settings = settings = as_kept(settings, current.manifest if current else None)
        self._progress = progress
        self._cancelled = cancelled or (lambda: False)
        self._is_given = dense is not None
        made = dense or make_dense(settings, report=progress.note, check=self._stop_if_cancelled)
        self._dense: Pair[DenseEmbedder] = Pair.of(made)
        self._cache = EmbeddingCache(settings.paths.embedding_cache, shipped_vectors())
        self._encoder = sparse or make_sparse(settings, report=progress.note)
        # Counting words is faster than looking vectors up.
        exact = self._encoder.exact_terms
        self._sparse = self._encoder if exact else CachedSparseEncoder(self._encoder, self._cache)
        self._publisher = make_publisher(settings)
        self._fingerprint = index_fingerprint(settings)

    @property
    def code_model(self) -> DenseEmbedder | None:
        """The dense model for code; None where that is a service's, which the run has closed."""
        model: DenseEmbedder = self._dense.code
        return None if isinstance(model, PaidEmbedder) and not self._is_given else model

    @contextmanager
    def started(self, mode: Mode) -> Iterator[RunLog]:
        """Keep other writers out and write a run down, from its beginning to its end, however it ends.

        The manifest is saved before anything else happens (SPEC 3 section 4.1). Whoever starts the run then finds the
        corpora and calls `run`.

        Raises:
            IngestError: The run failed; a failure report says where.
            StoreError: Another process is ingesting into the same folder.
        """
        run_id = new_run_id()
        with self._generations.writing(run_id):
            log = self._start(run_id, mode)
            with log.whole():
                try:
                    log.reach("discover")
                    yield log
                finally:
                    self._close()
        # Another process may write by now: then the next run prunes.
        prune_cache(self._settings)

    def run(
        self, log: RunLog, corpora: Sequence[CorpusInput], *, by_keywords: Callable[[], object] = lambda: None
    ) -> None:
        """Bring the index up to date with the corpora and publish it; `log` says what was done.

        Other corpora stay as they are in the published index.

        Args:
            log: Of the run that was `started`.
            corpora: The corpora.
            by_keywords: Called when an index answers by keywords, and the vectors are still to be computed.

        Raises:
            IngestError: The run failed.
            VerificationError: The built index did not hold what was produced; it was not published.
            IngestCancelledError: `cancelled` said yes.
            EvidenceError: A model cannot be had.
        """
        run = log.run
        with log.timed("discover"):
            run.corpora = {corpus.name: _describe(corpus) for corpus in corpora}
            self._publisher.prepare()
            current = self._generations.current()
            base = self._base(run.mode, corpora, current)
            changes = _compared(base, corpora, run.corpora)
            if base.published is not None and any(changes):
                base = without_waste(base.published, self._settings.store, corpora)
                if base.left_out:
                    named = " and ".join(sorted(base.left_out - {PAGES_FOLDER}))
                    self._progress.note(f"Little of {named} stays, so all of {named} is written anew.")
                    changes = _compared(base, corpora, run.corpora)
        self._stop_if_cancelled()
        if base.published is not None and not any(changes):
            run.generation = base.published.id
            if otherwise := base.published.manifest.placed_otherwise(self._settings.store.placement):
                sentence = f"The collections were created otherwise: {otherwise}."
                self._progress.note(f"{sentence} The next run that changes something creates them anew.")
                run.notices.append(sentence)
            log.end("unchanged")
            return
        with _spools(changes):
            self._chunk(log, changes)
            if base.published is None and not any(len(change.records) for change in changes):
                raise IngestError("No chunk came out of any corpus.", "Check the corpus folders and the include globs.")
            vectors = self._to_compute(changes)
            run.dense_model, run.config = self._dense_model, _config(self._settings)
            run.vectors_from_cache = vectors.cached
            refuse_above_the_cap("Embedding", vectors.cost(), cap_of(self._dense.each), "narrow the corpora")
            chunks = sum(len(change.records) for change in changes)
            is_slow = not self._settings.embedding.dense.is_static
            if current is None and is_slow and vectors.missing >= max(LEXICAL_FIRST, LEXICAL_FIRST_SHARE * chunks):
                # Nothing serves yet: keywords can answer long before the last vector is there.
                run.lexical_generation = self._build(log, base, changes, None).id
                self._progress.note("Keyword search is ready; semantic vectors follow.")
                by_keywords()
            self._embed(log, vectors)
            run.generation = self._build(log, base, changes, vectors).id
        log.end("incomplete" if any(corpus.failed_files for corpus in run.corpora.values()) else "complete")
        # The new index serves by now; a failure to remove old generations does not matter.
        with suppress(StoreError, OSError):
            self._generations.collect_garbage()
            self._publisher.collect_garbage()

    def plan(self, mode: Mode, corpora: Sequence[CorpusInput]) -> DryRun:
        """What a run would do, chunked but not embedded: the changes, the vectors to compute and their cost.

        Raises:
            IngestError: The run would be refused.
        """
        try:
            base = self._base(mode, corpora, self._generations.current())
            changes = _compared(base, corpora, {})
            with _spools(changes):
                for _ in self._made(changes):
                    pass
                vectors = self._to_compute(changes)
                is_static = self._settings.embedding.dense.is_static
                return DryRun(changes, vectors.missing, vectors.cost(), cap_of(self._dense.each), is_static)
        finally:
            self._close()

    def _start(self, run_id: str, mode: Mode) -> RunLog:
        run = RunManifest(
            run_id=run_id,
            pid=os.getpid(),
            status="running",
            started_at=now(),
            mode=mode,
            profile=self._settings.profile,
            config=_config(self._settings),
            chunker_version=chunker_version(),
            dense_model=self._dense_model,
            sparse_model=self._sparse.model,
        )
        return RunLog(run, self._settings.paths.runs, self._progress)

    def _base(self, mode: Mode, corpora: Sequence[CorpusInput], current: Generation | None) -> Base:
        """The published generation, if a change of some files' points makes a new generation of it; else nothing.

        Raises:
            IngestError: The index must be built anew, and the corpora at hand are not all that it holds.
        """
        if current is None:
            return Base()
        manifest = current.manifest
        complete = manifest.dense == "complete"
        usable = complete and manifest.fingerprint == self._fingerprint and manifest.store == self._settings.store.kind
        if usable and self._publisher.holds(current.folder, manifest):
            return Base(current, manifest.corpora)
        lost = sorted(set(manifest.corpora) - {corpus.name for corpus in corpora})
        if not lost:
            return Base()
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
        return Base()

    def _chunk(self, log: RunLog, changes: Sequence[Changes]) -> None:
        files = sum(len(change.changed) for change in changes)
        with log.stage("chunk", files, "files"):
            for _ in self._made(changes):
                self._progress.advance()
                self._stop_if_cancelled()
            for change in changes:
                if change.stale and change.corpus.site is not None:
                    change.said.warnings += change.corpus.site.warnings

    def _made(self, changes: Sequence[Changes]) -> Iterator[None]:
        """Make the records of all changed files; yields after each file."""
        keys = {place: change.keys_of(self._dense[change.corpus.kind]) for place, change in enumerate(changes)}
        with making(changes, keys, self._encoder, processors()) as made:
            for place, change in enumerate(changes):
                yield from change.take(made(place))

    @property
    def _dense_model(self) -> str:
        return "; ".join(embedder.model for embedder in self._dense.each)

    def _to_compute(self, changes: Sequence[Changes]) -> Vectors:
        """The vectors of the changes; where `auto` chooses for a new index, static ones if many are missing.

        From then on, the settings name the precision that was chosen.
        """
        vectors, chosen = Vectors(self._dense, self._cache, changes), self._settings.embedding.dense
        if not chosen.is_open:
            return vectors
        is_static = not self._is_given and vectors.missing > STATIC_ABOVE
        self._settings = with_precision(self._settings, "static" if is_static else "int8")
        if not is_static:
            return vectors
        self._dense = make_dense(self._settings, report=self._progress.note)
        self._fingerprint = index_fingerprint(self._settings)
        self._progress.note(
            f"{vectors.missing:,} vectors are more than {STATIC_ABOVE:,}, so they are static; "
            "a run with embedding.dense.precision: int8 replaces them while they answer."
        )
        return Vectors(self._dense, self._cache, changes)

    def _embed(self, log: RunLog, vectors: Vectors) -> None:
        run = log.run
        if not vectors.missing:
            return
        with log.stage("embed", vectors.missing, "passages"):
            try:
                for batch, count in enumerate(vectors.compute(), 1):
                    run.vectors_embedded += count
                    run.cursor = Cursor(stage="embed", batch=batch, done=run.vectors_embedded, total=vectors.missing)
                    self._progress.advance(count)
                    self._stop_if_cancelled()
            finally:
                # Runs that fail record what they spent, too.
                for embedder in self._dense.each:
                    if isinstance(embedder, PaidEmbedder):
                        spent = embedder.spent()
                        run.spent[embedder.model] = SpentOn(
                            requests=spent.requests, tokens=spent.tokens, usd=round(spent.usd or 0.0, 4)
                        )

    def _build(self, log: RunLog, base: Base, changes: Sequence[Changes], vectors: Vectors | None) -> Generation:
        """Write, verify and publish a generation; without vectors, one that answers by keywords alone."""
        log.reach("upsert", sum(len(change.records) for change in changes), "passages")
        with log.timed("upsert"):
            building = self._generations.begin(log.run.run_id, base.published, skip=base.left_out)
        with building:
            self._write(log, building.folder, changes, vectors)
            manifest = self._manifest(building, log.run.run_id, base, changes, with_dense=vectors is not None)
            generation = publish_verified(log, self._settings, self._generations, self._publisher, building, manifest)
            self._note_needs(generation, base, changes)
            self._progress.published(vectors=vectors is not None)
            return generation

    @cached_property
    def _specs(self) -> list[CollectionSpec]:
        dimensions: dict[Kind, int] = {"doc": self._dense.doc.dimension, "code": self._dense.code.dimension}
        return collection_specs(self._settings, dimension=dimensions, idf=self._sparse.requires_idf)

    def _note_needs(self, generation: Generation, base: Base, changes: Sequence[Changes]) -> None:
        """Tell the cache which vectors a generation was made of, so that they are not pruned."""
        needed: dict[tuple[str, int], dict[str, tuple[str, ...]]] = {}
        gone = list(base.left_files)
        for change in changes:
            prefix, kind = f"{change.corpus.name}/", change.corpus.kind
            gone += [prefix + path for path in change.stale]
            dense = self._dense[kind]
            for model, keys_of in (
                ((dense.model, dense.dimension), change.dense_keys),
                ((sparse_key(self._encoder.model, kind), SPARSE_DIMENSION), change.sparse_keys),
            ):
                needed.setdefault(model, {}).update((prefix + path, keys) for path, keys in keys_of.items())
        self._cache.need(generation.folder, needed, base=base.published.folder if base.published else None, gone=gone)

    def _write(self, log: RunLog, folder: Path, changes: Sequence[Changes], vectors: Vectors | None) -> None:
        """Write the changed points into a folder's collections."""
        store = self._settings.store
        with log.timed("upsert"):
            for change in changes:
                _write_pages(folder, change)
            writer = open_writer(folder, self._specs, self._settings)
        try:
            with log.timed("upsert"):
                for change in filter(None, changes):
                    _bring_up_to_date(writer, store.collection(change.corpus.kind), change)
            self._upsert(log, writer, changes, vectors)
            with log.timed("upsert"):
                writer.flush()
        finally:
            writer.close()

    def _upsert(self, log: RunLog, writer: IndexWriter, changes: Sequence[Changes], vectors: Vectors | None) -> None:
        run = log.run
        cursor = Cursor(stage="upsert", total=sum(len(change.records) for change in changes))
        for change in changes:
            name, kind = change.corpus.name, change.corpus.kind
            run.points_uploaded[name] = 0
            for batch in change.records.batches(points_a_write(self._settings)):
                with log.timed("sparse"):
                    run.cursor = cursor.model_copy(update={"stage": "sparse"})
                    encoded = self._with_sparse(batch, kind)
                with log.timed("upsert"):
                    run.cursor = cursor
                    dense = None if vectors is None else vectors.of(kind, [record for record, _ in encoded])
                    for record in (record for record, lexical in encoded if not lexical):
                        change.drop(record)
                    points = (self._point(record, lexical, dense) for record, lexical in encoded if lexical)
                    written = writer.upsert(self._settings.store.collection(kind), points)
                cursor.batch, cursor.done = cursor.batch + 1, cursor.done + len(batch)
                run.points_uploaded[name] += written
                self._progress.advance(len(batch))
                self._stop_if_cancelled()

    def _with_sparse(
        self, batch: Sequence[tuple[ChunkRecord, SparseVector | None]], kind: Kind
    ) -> list[tuple[ChunkRecord, SparseVector]]:
        """Records with their sparse vectors; those that came without one are encoded."""
        lacking = [record.lexical_text for record, lexical in batch if lexical is None]
        encoded = iter(self._sparse.encode_documents(lacking, kind) if lacking else ())
        return [(record, next(encoded) if lexical is None else lexical) for record, lexical in batch]

    def _point(self, record: ChunkRecord, lexical: SparseVector, vectors: Mapping[str, FloatMatrix] | None) -> NewPoint:
        store = self._settings.store
        named: dict[str, Vector] = {store.sparse_vector: lexical}
        if vectors is not None:
            dense = [vectors[key] for key in record.dense_keys]
            if self._settings.embedding.dense.multi:
                named[store.dense_vector(record.kind)] = [row.tolist() for row in dense]
                # What the chunk is about as a whole; the store normalises this vector.
                named[store.mean_vector(record.kind)] = np.mean(dense, axis=0).tolist()
            else:
                named[store.dense_vector(record.kind)] = dense[0].tolist()
            if record.question_keys:
                named[store.questions_vector(record.kind)] = [vectors[key].tolist() for key in record.question_keys]
        return NewPoint(point_id(record.chunk_id), named, record.payload().model_dump(mode="json"))

    def _manifest(
        self, building: Building, run_id: str, base: Base, changes: Sequence[Changes], *, with_dense: bool
    ) -> IndexManifest:
        """The manifest of a generation: what a base had of other corpora, and the changed ones as they are now."""
        store = self._settings.store
        corpora = {**base.corpora, **{change.corpus.name: change.entry() for change in changes}}
        corpora = {name: corpus for name, corpus in corpora.items() if corpus.files}
        points, replaced = Counter[str](), self._replaced(base, changes)
        for corpus in corpora.values():
            points[store.collection(corpus.kind)] += corpus.chunks
        return IndexManifest(
            generation=building.id,
            created_at=now(),
            run_id=run_id,
            fingerprint=dict(self._fingerprint),
            store=store.kind,
            placement=store.placement if store.kind == "server" else {},
            dense="complete" if with_dense else "pending",
            collections={
                spec.name: CollectionEntry.of(spec, points[spec.name], replaced.get(spec.name, 0))
                for spec in self._specs
            },
            corpora=corpora,
        )

    def _replaced(self, base: Base, changes: Sequence[Changes]) -> dict[str, int]:
        """How many points each collection has lost since it was begun; on a server, their room is used again."""
        store = self._settings.store
        if base.published is None or store.kind == "server":
            return {}
        before = base.published.manifest.collections.items()
        lost = Counter({name: entry.replaced for name, entry in before if name not in base.left_out})
        for change in changes:
            old = base.corpora[change.corpus.name].files if change.corpus.name in base.corpora else {}
            lost[store.collection(change.corpus.kind)] += sum(old[path].chunks for path in change.stale if path in old)
        return dict(lost)

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


@contextmanager
def _spools(changes: Sequence[Changes]) -> Iterator[None]:
    """Let the records go when the run is over, however it ends."""
    with ExitStack() as spools:
        for change in changes:
            spools.enter_context(change.records)
        yield


def _compared(base: Base, corpora: Sequence[CorpusInput], said: Mapping[str, CorpusRun]) -> list[Changes]:
    """How corpora differ from a base; `said` has the entries of the run's manifest, which learn of it."""
    return [
        Changes.since(base.corpora.get(corpus.name), corpus, said.get(corpus.name) or _describe(corpus))
        for corpus in corpora
    ]


def _describe(corpus: CorpusInput) -> CorpusRun:
    source, found = corpus.source, corpus.found
    return CorpusRun(
        repo=source.repo,
        commit=source.commit,
        ref=source.ref,
        source=source.kind,
        root=str(source.root),
        dirty=bool(corpus.uncommitted),
        files=len(corpus.files),
        skipped={reason: len(paths) for reason, paths in found.skipped.items()},
        skipped_examples={reason: sorted(paths)[:SKIPPED_EXAMPLES] for reason, paths in found.skipped.items()},
        decode_warnings=list(found.decode_warnings),
    )


def _bring_up_to_date(writer: IndexWriter, collection: str, change: Changes) -> None:
    """Take the points of a corpus's stale files out of a collection, and cite the others as the corpus is now."""
    source = change.corpus.source
    # Generated pages have the corpus of the documentation.
    own = (Match("origin", (change.corpus.origin,)), Match("corpus", (source.corpus,)))
    if change.stale:
        writer.delete(collection, Filter(must=(Match("path", tuple(change.stale)), *own)))
    if change.is_recited:
        writer.set_payload(collection, Filter(must=own), {"commit": source.commit, "ref": source.ref})


def _write_pages(folder: Path, change: Changes) -> None:
    """Keep a corpus's generated pages in the index: citations are checked against them."""
    if not change.corpus.is_generated:
        return
    for path in change.stale:
        target = folder / change.corpus.location.root / path
        # A new file: the one of that name is the published generation's.
        target.unlink(missing_ok=True)
        if path in change.pages:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(change.pages[path].encode("utf-8", errors="replace"))


def _config(settings: Settings) -> dict[str, Any]:
    """The settings that decided what a run wrote, with the corpora of this index."""
    config = settings.model_dump(mode="json", include={"ingestion", "embedding", "store"})
    corpora = settings.corpora.values()
    config["ingestion"]["corpora"] = {corpus.corpus: corpus.model_dump(mode="json") for corpus in corpora}
    return config
