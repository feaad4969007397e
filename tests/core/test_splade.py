"""SPLADE from a folder: windows, pooling, special tokens, and what a cut says."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.embedding.cache import CachedSparseEncoder, EmbeddingCache
from adk_evidence.embedding.factory import make_sparse
from adk_evidence.embedding.splade import MODEL, SpladeEncoder, _windows
from adk_evidence.errors import ModelError
from adk_evidence.settings import Settings, load_settings
from tests.onnx_models import LIMIT, write_splade

pytestmark = pytest.mark.slow

WORDS = [f"{first}{second}" for first in "abcdefghij" for second in "klmnopqrst"]
ITSELF, NEXT = math.log1p(3.0), math.log1p(1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("splade")
    write_splade(folder / MODEL, WORDS)
    return folder


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return write_splade(tmp_path_factory.mktemp("ids"), WORDS)


def settings_of(models: Path | None) -> Settings:
    lexical = {"sparse_model": MODEL, "sparse_batch_size": 4}
    return load_settings({"ingestion": {"lexical": lexical}, "embedding": {"dense": {"models_path": models}}})


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Any:
    return make_sparse(settings_of(folder))


def test_a_text_gives_the_weights_of_its_terms_and_of_related_ones(encoder: SpladeEncoder, ids: dict[str, int]):
    (vector,) = encoder.encode_documents(["ak"], "doc")
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert weights == {ids["ak"]: pytest.approx(ITSELF), ids["al"]: pytest.approx(NEXT)}
    assert list(vector.indices) == sorted(vector.indices)
    assert encoder.encode_query("ak") == vector


def test_special_tokens_have_no_weight_and_a_text_without_words_is_empty(encoder: SpladeEncoder, ids: dict[str, int]):
    vectors = encoder.encode_documents(["ak bl", "", "  "], "doc")
    special = {ids[token] for token in ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")}
    assert not special & set(vectors[0].indices)
    assert not vectors[1] and not vectors[2]


def test_a_text_longer_than_the_model_reads_loses_nothing(encoder: SpladeEncoder, ids: dict[str, int]):
    assert len(WORDS) > 2 * LIMIT
    (vector,) = encoder.encode_documents([" ".join(WORDS)], "doc")
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert all(weights[ids[word]] == pytest.approx(ITSELF) for word in WORDS)


def test_a_window_ends_between_two_words(encoder: SpladeEncoder, ids: dict[str, int]):
    # Words outside the vocabulary are several tokens each: cut inside, they would give other tokens.
    text = " ".join("zz" + word for word in WORDS[:40])
    (vector,) = encoder.encode_documents([text], "doc")
    assert ids["##z"] in vector.indices
    alone = [encoder.encode_query("zz" + word) for word in WORDS[:40]]
    assert set(vector.indices) == {index for one in alone for index in one.indices}


@pytest.mark.parametrize(("content", "said"), [(None, r"model\.onnx missing"), (b"no model", "does not load")])
def test_a_folder_with_a_missing_or_damaged_file_is_named(tmp_path: Path, content: bytes | None, said: str):
    write_splade(tmp_path / MODEL, WORDS[:3])
    (tmp_path / MODEL / "model.onnx").unlink()
    if content is not None:
        (tmp_path / MODEL / "model.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=said) as caught:
        make_sparse(settings_of(tmp_path)).encode_query("ak")
    assert "embedding.dense.models_path" in caught.value.hint


@given(
    count=st.integers(1, 120),
    room=st.integers(1, 40),
    overlap=st.integers(0, 60),
    words=st.sets(st.integers(0, 119)),
)
def test_windows_cover_every_token_in_order_and_fit(count: int, room: int, overlap: int, words: set[int]):
    spans = _windows(sorted(words | {0}), count, room, overlap)
    assert spans[0][0] == 0 and spans[-1][1] == count
    assert all(0 < last - first <= room for first, last in spans)
    for (first, last), (again, end) in pairwise(spans):
        assert first < again <= last < end


def test_vectors_that_were_computed_once_are_kept(
    encoder: SpladeEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    texts = ["ak bl", "", "cm", "ak bl"]
    first = CachedSparseEncoder(encoder, EmbeddingCache(tmp_path / "cache.sqlite")).encode_documents(texts, "doc")
    for kept, fresh in zip(first, encoder.encode_documents(texts, "doc"), strict=True):
        assert kept.indices == fresh.indices and kept.values == pytest.approx(fresh.values)
    monkeypatch.setattr(SpladeEncoder, "encode_documents", lambda *_: pytest.fail("a vector was computed again"))
    again = CachedSparseEncoder(encoder, EmbeddingCache(tmp_path / "cache.sqlite")).encode_documents(texts, "doc")
    assert [vector.indices for vector in again] == [vector.indices for vector in first]
