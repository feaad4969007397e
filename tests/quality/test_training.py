"""How the adapter is trained: its data, made from written questions alone, and the trainer where torch is there."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding.minilm import model as minilm
from adk_evidence.embedding.minilm.adapted import adapted_graph
from adk_evidence.embedding.minilm.bert import Ranges, assemble_bert
from adk_evidence.errors import InvalidRequestError
from tests.core.factories import payload
from tests.core.test_adapter import about
from tests.core.test_minilm import HEADS, HIDDEN, save, tiny_bert, tiny_ranges
from tests.corpora import Workplace, word_vector
from tests.onnx_models import write_tokenizer
from tests.quality.training.chunks import Asked, Chunk, asked_of, read_chunks
from tests.quality.training.questions import Found, found_by

pytestmark = pytest.mark.slow

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="NO torch HERE: `pip install --group train` tests the trainer")


def chunk(path: str, body: str, *questions: str) -> Chunk:
    """A chunk of one passage, whose vectors are those of its words."""
    made = payload("doc", path, body, questions=questions, passage_lines=(1,))
    vectors = [
        np.atleast_2d(np.array([word_vector(text) for text in texts], dtype=np.float32))
        for texts in ([body], questions)
    ]
    return Chunk(made, *vectors)


def some_chunks() -> list[Chunk]:
    """One chunk of each of many files, each with a question, of words that no other one has."""
    return [chunk(f"docs/{one}.md", f"thing{one} does it", f"how is thing{one} done") for one in ascii_lowercase]


def free_paths() -> Iterator[str]:
    """Paths of files that are not held out."""
    return (path for path in (f"docs/free{n}.md" for n in itertools.count()) if not chunk(path, "x", "y").is_held_out)


def test_an_index_without_written_questions_is_refused_in_a_sentence(tmp_path):
    place = Workplace(tmp_path, {"ingestion": {"questions": False}})
    place.ingest()
    with pytest.raises(InvalidRequestError, match="no questions that were written") as caught:
        read_chunks(place.settings)
    assert "ingestion.questions" in caught.value.hint


def test_what_finds_the_chunk_of_each_question_has_the_best_measures_and_twins_do_not_count():
    chunks = [*some_chunks(), chunk("docs/twin.md", "thinga does it", "asked elsewhere")]
    asked = asked_of(chunks[:-1], held_out=False, seed=0)
    right = found_by(lambda one: chunks[one.chunk].passages[0].tolist(), chunks, asked)
    assert right == Found(1.0, 1.0)
    wrong = found_by(lambda one: (-chunks[one.chunk].passages[0]).tolist(), chunks, asked)
    assert wrong.mrr < 0.1 and wrong.recall < 0.2


# The trainer

LETTERS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a tiny encoder and a tokeniser that knows some words."""
    weights = tiny_bert()
    ids = write_tokenizer(tmp_path, LETTERS, 16)
    random = np.random.default_rng(1)
    weights["embeddings.word_embeddings.weight"] = random.normal(0, 1.0, (len(ids), HIDDEN)).astype(np.float32)
    # Random normalisations would give all texts about the same vector.
    for name in (name for name in weights if "LayerNorm" in name):
        weights[name] = np.full(HIDDEN, name.endswith("weight"), dtype=np.float32)
    save(weights, tmp_path)
    return tmp_path


def ranges(folder: Path) -> Ranges:
    """How far the states of the encoder in a folder reach."""
    from safetensors.numpy import load_file

    return tiny_ranges(load_file(folder / "model.safetensors"))


@needs_torch
def test_questions_come_nearer_to_what_answers_them(tiny):
    from tests.quality.training.trainer import Plan, train

    chunks, asked = paraphrased(tiny)
    plan = Plan(rank=2, alpha=4.0, tokens=16, questions=6, epochs=120, rate=0.02, dropout=0.0, temperature=0.1)
    found, again = (train(tiny, HEADS, chunks, asked, plan, about()) for _ in range(2))
    assert found.losses[-1] < 0.5 * found.losses[0] and not found.interrupted
    assert found.adapter.about.pairs == 120 * len(asked)
    assert found.adapter.sha256 == again.adapter.sha256

    def measured(graph: Path) -> Found:
        model = minilm._Model(tiny, graph)
        return found_by(lambda one: model.embed(model.tokens([one.text], 16))[0].tolist(), chunks, asked)

    plain, adapted = map(measured, (tiny / "model.onnx", adapted_graph(tiny, found.adapter, HEADS, ranges(tiny))))
    assert adapted.mrr > 0.9 > plain.mrr


def paraphrased(folder: Path) -> tuple[list[Chunk], list[Asked]]:
    """Chunks of one word each, with the vectors of a tiny encoder, and questions that use another word for each."""
    (folder / "model.onnx").write_bytes(assemble_bert(folder / "model.safetensors", HEADS).SerializeToString())
    model = minilm._Model(folder, folder / "model.onnx")

    def vector(text: str) -> np.ndarray[Any, Any]:
        return model.embed(model.tokens([text], 16))

    words = dict(zip(LETTERS, (*LETTERS[1:], LETTERS[0]), strict=True))
    # A question's own vector must not be taken for that of another question.
    apart = np.eye(len(LETTERS), HIDDEN, dtype=np.float32)
    made = [
        Chunk(payload("doc", path, answer, questions=(asked,)), vector(answer), apart[n : n + 1])
        for n, ((asked, answer), path) in enumerate(zip(words.items(), free_paths(), strict=False))
    ]
    return made, asked_of(made, held_out=False, seed=0)
