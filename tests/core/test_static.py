"""Vectors of texts made of those of their tokens, and the table of these."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from adk_evidence.embedding.minilm import static
from adk_evidence.embedding.minilm.model import prepared_folder
from adk_evidence.embedding.minilm.static import DIMENSION, StaticEmbedder, distilled, prepare_static, table_file
from adk_evidence.settings import load_settings
from tests.corpora import embed_all

SETTINGS = load_settings().embedding.dense
WORDS = ("[UNK]", "a", "tool", "session")
# All other numbers of a row are 0.
ROWS = np.zeros((len(WORDS), DIMENSION), dtype=np.float32)
ROWS[:, :3] = [[0, 0, 1], [0.5, 0, 0], [0, 2, 0], [0, 0, 2]]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder of models with a table of four words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder = prepared_folder(tmp_path)
    folder.mkdir(parents=True)
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    static.write_table(folder, ROWS)
    return tmp_path


def states(tokens: int = 40, size: int = 6) -> NDArray[np.float32]:
    return np.random.default_rng(3).normal(1, 1, (tokens, size)).astype(np.float32)


def test_all_components_keep_what_lies_between_two_tokens() -> None:
    made, table = states(), distilled(states(), 6)
    centred = made - made.mean(axis=0)
    weights = np.linalg.norm(table, axis=1) / np.linalg.norm(centred, axis=1)
    assert table @ table.T == pytest.approx(centred @ centred.T * np.outer(weights, weights), abs=1e-5)


def test_a_text_is_the_mean_of_its_tokens_whatever_stands_beside_it(small: Path) -> None:
    embedder = StaticEmbedder(SETTINGS, small)
    texts = ["a tool", "session", "", "tool tool", "unheard \ud800"]
    expected = np.array([[0.5, 2, 0], [0, 0, 2], [0, 0, 1], [0, 4, 0], [0, 0, 3]])
    expected = np.pad(expected / np.linalg.norm(expected, axis=1, keepdims=True), ((0, 0), (0, DIMENSION - 3)))
    assert embed_all(embedder, texts) == pytest.approx(expected, abs=1e-6)
    for text, vector in zip(texts, expected, strict=True):
        assert embedder.embed_query(text) == pytest.approx(vector, abs=1e-6)


def test_every_text_of_many_comes_once(small: Path) -> None:
    batches = list(StaticEmbedder(SETTINGS, small).iter_embed(["tool"] * (static._TEXTS_A_BATCH + 1)))
    assert [place for places, _ in batches for place in places] == list(range(static._TEXTS_A_BATCH + 1))
    assert [len(vectors) for _, vectors in batches] == [static._TEXTS_A_BATCH, 1]
    assert list(StaticEmbedder(SETTINGS, small).iter_embed([])) == []


def test_a_damaged_table_is_none(small: Path) -> None:
    path = table_file(small)
    assert path is not None
    path.write_bytes(path.read_bytes()[:-1])
    assert table_file(small) is None


@pytest.mark.model
@pytest.mark.slow
def test_a_damaged_table_is_made_anew_with_the_same_bytes(models: Path, tmp_path: Path) -> None:
    folder = prepared_folder(tmp_path)
    folder.mkdir()
    for file in prepared_folder(models).iterdir():
        if not file.name.startswith("static"):
            (folder / file.name).symlink_to(file)
    first = prepare_static(tmp_path)
    data = first.read_bytes()
    first.write_bytes(data[:1000])
    assert prepare_static(tmp_path) == first
    assert first.read_bytes() == data
    near, far = (
        embed_all(StaticEmbedder(SETTINGS, tmp_path), ["delete a file", "remove the files", "the weather in Paris"])[0]
        @ embed_all(StaticEmbedder(SETTINGS, tmp_path), ["remove the files", "the weather in Paris"]).T
    )
    assert near > far + 0.2
