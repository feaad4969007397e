from __future__ import annotations

import builtins
import functools
import keyword

import pytest
from fastembed.sparse.bm25 import Bm25
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.embedding.base import SparseVector
from adk_evidence.embedding.bm25 import DOCS_LENGTH, MODEL, STOPWORDS_FILE, B, Bm25Encoder, K, load_stopwords
from adk_evidence.embedding.factory import make_sparse
from adk_evidence.errors import SettingsError
from adk_evidence.paths import config_file
from adk_evidence.settings import load_settings

ENCODER = Bm25Encoder(code_length=50)


def document(text: str, kind: str = "doc", encoder: Bm25Encoder = ENCODER) -> SparseVector:
    [vector] = encoder.encode_documents([text], kind)
    return vector


def test_a_question_keeps_only_the_words_that_say_what_it_is_about() -> None:
    assert ENCODER.encode_query("How do I retry a tool, please?") == ENCODER.encode_query("tool retry")
    assert not ENCODER.encode_query("how do I do this?")


def test_stopwords_leave_what_means_something_in_code() -> None:
    words = load_stopwords()
    assert {"how", "do", "i", "the", "please"} <= words
    code = {word.lower() for word in (*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "cls")}
    assert not words & code
    assert all(word == word.lower() and word.isalnum() for word in words)


def test_each_kind_has_its_own_mean_length() -> None:
    text = " ".join(f"word{i}" for i in range(75))
    doc, code = document(text, "doc"), document(text, "code")
    assert doc.indices == code.indices
    assert max(code.values) < min(doc.values)


def test_a_query_counts_each_distinct_term_once() -> None:
    assert ENCODER.encode_query("tool Tool tools agent").values == (1.0, 1.0)


def test_the_name_tells_what_decides_the_weights() -> None:
    assert Bm25Encoder().model != ENCODER.model
    assert Bm25Encoder().model.startswith("Qdrant/bm25;k=1.2;b=0.75;avg_len=220/190;stopwords=")


def test_a_sparse_model_that_is_not_built_in_is_refused() -> None:
    with pytest.raises(SettingsError, match="other/model"):
        make_sparse(load_settings({"ingestion": {"lexical": {"sparse_model": "other/model"}}}))


SOME_WORDS = st.sampled_from(["tool", "Tools", "a_b", "the", "x.y", "Ünï", "42", "İ", "_", "__", "w" * 40, "w" * 41])


# FastEmbed writes a sigma at the end of a word as another letter where a sign follows.
ANY_TEXT = st.text(st.characters(exclude_characters="\u03a3"), max_size=12)


@settings(max_examples=200)
@given(st.lists(SOME_WORDS | ANY_TEXT | st.sampled_from(sorted(load_stopwords())), max_size=40))
def test_documents_weigh_what_fastembed_gives_them(words: list[str]) -> None:
    text = " ".join(words)
    [theirs] = fastembed_bm25().embed([text])
    assert document(text) == SparseVector.of(dict(zip(theirs.indices.tolist(), theirs.values.tolist(), strict=True)))


@functools.cache
def fastembed_bm25() -> Bm25:
    folder = str(config_file(STOPWORDS_FILE).parent)
    return Bm25(
        MODEL,
        specific_model_path=folder,
        k=K,
        b=B,
        avg_len=DOCS_LENGTH,
        stopwords=set(load_stopwords()),
    )
