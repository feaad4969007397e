"""Verification of an index: counts, vectors, samples, and on request every citation (SPEC 3 section 11)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import ValidationError

from adk_evidence.models.chunk import KINDS, ChunkPayload, point_id
from adk_evidence.settings import StoreSettings
from adk_evidence.store.base import EvidenceStore, Filter, HasId, HasVector, Match, Record, scroll_all
from adk_evidence.store.manifest import CorpusEntry, IndexManifest
from adk_ingest.wording import counted

if TYPE_CHECKING:
    from adk_evidence.index.sources import SourceReader

SAMPLE_SIZE = 64


@dataclass
class VerificationReport:
    """What was checked; the index is good when `problems` is empty."""

    counts: dict[str, int] = field(default_factory=dict)
    sampled: int = 0
    citations: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def verify_index(store: EvidenceStore, manifest: IndexManifest, settings: StoreSettings) -> VerificationReport:
    """Check an index's counts, the vectors of all its points and the payloads of a sample against its manifest.

    Counts are exact, for each corpus at its commit and in all. Every point must have a vector of each name. The sample
    is drawn with the generation's id as seed, so that a check can be repeated.

    Args:
        store: The index.
        manifest: What it should hold.
        settings: The names of its collections and vectors.
    """
    report = VerificationReport()
    for name, corpus in sorted(manifest.corpora.items()):
        found = store.count(settings.collection(corpus.kind), _corpus_filter(name, corpus))
        report.counts[name] = found
        if found != corpus.chunks:
            report.problems.append(f"{name} holds {found} points at {corpus.commit} instead of {corpus.chunks}.")
    total = sum(corpus.chunks for corpus in manifest.corpora.values())
    found = sum(store.count(settings.collection(kind)) for kind in KINDS)
    report.counts["total"] = found
    if found != total:
        report.problems.append(f"The index holds {found} points instead of {total}.")
    for kind in KINDS:
        collection = settings.collection(kind)
        for name in _vector_names(manifest, collection, settings):
            # Counted by the store: reading all vectors takes 600 times as long.
            lacking = store.count(collection, Filter(must_not=(HasVector(name),)))
            if lacking:
                points = counted(lacking, "point lacks its", "points lack their")
                report.problems.append(f"In {collection}, {points} vector {name}.")
    for kind in KINDS:
        for record in _sample(store, settings.collection(kind), manifest.generation):
            report.sampled += 1
            if problem := _check_record(record, kind, manifest, settings):
                report.problems.append(f"Point {record.id}: {problem}")
    return report


def verify_citations(
    store: EvidenceStore, settings: StoreSettings, readers: Mapping[str, SourceReader]
) -> dict[str, int]:
    """Check the citation of every chunk against its source; returns how many are in each state."""
    from adk_evidence.citations.anchor import Corpus
    from adk_evidence.citations.verify import verify as verify_citation

    states = Counter[str]()
    corpora = {name: Corpus(reader) for name, reader in readers.items()}
    for kind in KINDS:
        for record in scroll_all(store, settings.collection(kind)):
            payload = ChunkPayload.model_validate(record.payload)
            name = payload.source_name
            states[verify_citation(payload, readers.get(name), corpora.get(name)).state] += 1
    return dict(sorted(states.items()))


def _corpus_filter(name: str, corpus: CorpusEntry) -> Filter:
    commit = Match("commit", (corpus.commit,))
    if corpus.source == "api-reference":
        # Generated pages share the collection and the corpus of the documentation.
        return Filter(must=(commit, Match("origin", ("api-reference",))))
    return Filter(must=(commit, Match("corpus", (name,))), must_not=(Match("origin", ("api-reference",)),))


def _sample(store: EvidenceStore, collection: str, seed: str) -> list[Record]:
    page, more = store.scroll(collection, limit=SAMPLE_SIZE, with_vectors=True)
    if more is None:
        return page
    # Ids are hashes, so the point after a random id is a random point, and not all ids need to be read.
    source = random.Random(seed)  # noqa: S311 - a sample, no secret
    ids: set[str] = set()
    for _ in range(SAMPLE_SIZE):
        start = str(UUID(int=source.getrandbits(128)))
        # The id alone: Qdrant Edge takes fifty times as long for a page that has more.
        page = store.scroll(collection, limit=1, offset=start, with_payload=False)[0]
        ids.update(record.id for record in page)
    drawn = Filter(must=(HasId(tuple(sorted(ids))),))
    return store.scroll(collection, filter=drawn, limit=SAMPLE_SIZE, with_vectors=True)[0]


def _vector_names(manifest: IndexManifest, collection: str, settings: StoreSettings) -> set[str]:
    """What every point of a collection must have a vector for."""
    dense = manifest.collections[collection].dense if manifest.dense == "complete" else ()
    return {settings.sparse_vector, *dense} - {settings.questions_vector(kind) for kind in KINDS}


def _check_record(record: Record, kind: str, manifest: IndexManifest, settings: StoreSettings) -> str | None:
    try:
        payload = ChunkPayload.model_validate(record.payload)
    except ValidationError as exc:
        return f"the payload lacks {exc.errors(include_url=False)[0]['loc']}."
    if not payload.text.strip():
        return "its text is empty."
    if payload.kind != kind:
        return f"it is of kind {payload.kind} in the collection of {kind}."
    if payload.commit not in {corpus.commit for corpus in manifest.corpora.values()}:
        return f"its commit {payload.commit} was not ingested."
    if record.id != point_id(payload.chunk_id):
        return "its id does not belong to its chunk."
    expected = _vector_names(manifest, settings.collection(kind), settings)
    if payload.questions and manifest.dense == "complete":
        expected = {*expected, settings.questions_vector(kind)}
    if expected != set(record.vectors):
        return f"it has the vectors {sorted(record.vectors)} instead of {sorted(expected)}."
    return None
