"""The vectors of a run: each text once, and none held that the cache keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

import adk_ingest.vectors.compute as vectors
from adk_evidence.embedding.base import Pair
from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.models.chunk import ChunkRecord
from adk_ingest.publishing.changes import Changes
from adk_ingest.publishing.manifest import CorpusRun
from adk_ingest.records.files import make_file
from tests.corpora import CODE, HashEmbedder, Workplace, shared_sparse, word_vector, write_code

pytestmark = pytest.mark.slow


@contextmanager
def chunked(tmp_path: Path) -> Iterator[tuple[Sequence[Changes], list[ChunkRecord]]]:
    """The records of a code corpus in which each file stands three times, below names of the same words."""
    place = Workplace(tmp_path)
    modules = {Path(path).name: text for path, text in CODE.items() if "__init__" not in path}
    places = ("src/google/adk/one/two/", "src/google/adk/one_two/", "src/google/adk/one/two_")
    files = {lead + name: text for name, text in modules.items() for lead in places}
    write_code(place.code, files)
    corpora = [corpus for corpus in place.gather("code") if corpus.files and not corpus.is_generated]
    with ExitStack() as spools:
        changes = []
        for corpus in corpora:
            source = corpus.source
            said = CorpusRun(repo=source.repo, commit=source.commit, ref=None, source="folder", root="")
            change = Changes.since(None, corpus, said)
            spools.enter_context(change.records)
            for _ in change.take(make_file(corpus, file, shared_sparse()) for file in change.to_make()):
                pass
            changes.append(change)
        yield changes, [record for one in changes for batch in one.records.batches() for record, _ in batch]


def test_a_text_that_stands_in_many_files_is_embedded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "TEXTS_AT_A_TIME", 3)
    cache, embedder = EmbeddingCache(tmp_path / "vectors.sqlite"), HashEmbedder()
    with chunked(tmp_path) as (changes, records):
        texts = [text for record in records for text in (*record.dense_texts, *record.questions)]
        found = vectors.Vectors(Pair.of(embedder), cache, changes)
        assert (found.missing, found.cached) == (len(set(texts)), 0)
        assert len(set(texts)) < len(texts)
        assert sum(found.compute()) == found.missing
        assert sorted(embedder.embedded) == sorted(set(texts))
        again = vectors.Vectors(Pair.of(embedder), cache, changes)
        assert (again.missing, again.cached) == (0, found.missing)
        assert list(again.compute()) == []
        for record in records:
            have = again.of("code", [record])
            for key, text in zip(record.dense_keys, record.dense_texts, strict=True):
                assert np.allclose(have[key], np.asarray(word_vector(text), dtype=np.float32))
    cache.close()


@pytest.mark.parametrize("cache_has", ["kept nothing", "lost everything"])
def test_what_the_cache_does_not_have_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_has: str
) -> None:
    path, embedder = tmp_path / "vectors.sqlite", HashEmbedder()
    cache = EmbeddingCache(path)
    if cache_has == "kept nothing":
        monkeypatch.setattr(cache, "_put", lambda *_: False)
    with chunked(tmp_path) as (changes, records):
        found = vectors.Vectors(Pair.of(embedder), cache, changes)
        assert sum(found.compute()) == found.missing
        if cache_has == "lost everything":
            cache.close()
            path.unlink()
        keys = {key for record in records for key in record.dense_keys}
        assert keys <= found.of("code", records).keys()
        assert cache_has == "lost everything" or len(embedder.embedded) == found.missing
    cache.close()
