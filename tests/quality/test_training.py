"""How the adapter is trained: its data, made from written questions alone, and the trainer where torch is there."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from adk_evidence.embedding.minilm import model as minilm
from adk_evidence.embedding.minilm.adapted import adapted_graph
from adk_evidence.embedding.minilm.bert import Ranges, assemble_bert
from adk_evidence.errors import InvalidRequestError
from tests.core.factories import payload
from tests.core.test_adapter import about
from tests.core.test_minilm import HEADS, HIDDEN, save, tiny_bert, tiny_ranges
from tests.corpora import Workplace, word_vector
from tests.onnx_models import write_tokenizer
from tests.quality.train_questions import app
from tests.quality.training.chunks import Asked, Chunk, MayAnswer, asked_of, read_chunks
from tests.quality.training.questions import Found, QuestionReport, found_by

pytestmark = pytest.mark.slow

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="NO torch HERE: `pip install --group train` tests the trainer")


def chunk(path: str, body: str, *questions: str, start: int = 1, kind: str = "doc") -> Chunk:
    """A chunk of one passage, whose vectors are those of its words."""
    made = payload(kind, path, body, questions=questions, start_line=start, end_line=start, passage_lines=(start,))
    vectors = [
        np.atleast_2d(np.array([word_vector(text) for text in texts], dtype=np.float32))
        for texts in ([body], questions)
    ]
    return Chunk(made, *vectors)


def some_chunks(count: int = 60) -> list[Chunk]:
    """One chunk of each of many files, in docs and in code, each with a question that shares few words with others."""

    def word(first: str, number: int) -> str:
        return first + chr(97 + number // 26) + chr(97 + number % 26)

    return [
        chunk(
            f"docs/{n}.md",
            f"{word('thing', n)} does {word('work', n % 7)} for {word('tool', n % 5)}",
            f"{word('thing', n)} {word('alpha', n)} {word('beta', n)} {word('gamma', n)} {word('tool', n % 5)}",
            kind=("doc", "code")[n % 2],
        )
        for n in range(count)
    ]


def free_paths() -> Iterator[str]:
    """Paths of files that are not held out."""
    return (path for path in (f"docs/free{n}.md" for n in itertools.count()) if not chunk(path, "x", "y").is_held_out)


def test_an_index_without_written_questions_is_refused_in_a_sentence(tmp_path):
    place = Workplace(tmp_path, {"ingestion": {"questions": False}})
    place.ingest()
    with pytest.raises(InvalidRequestError, match="no questions that were written") as caught:
        read_chunks(place.settings)
    assert "ingestion.questions" in caught.value.hint
    settings = place.settings_with({"embedding": {"dense": {"provider": "fastembed"}}})
    with pytest.raises(InvalidRequestError, match="all-MiniLM-L6-v2"):
        read_chunks(settings)


def test_chunks_that_may_answer_as_well_are_known():
    question = "how are alpha beta gamma combined"
    first, second, third = itertools.islice(free_paths(), 3)
    asked = chunk(first, "alpha beta gamma are combined", question, start=100)
    same_question = chunk(second, "alpha beta gamma elsewhere", f"{question} really")
    twin = chunk(third, "alpha  beta gamma are combined", "another matter entirely")
    neighbour = chunk(first, "alpha beta gamma continued", "something else altogether", start=110)
    far = chunk(first, "alpha beta gamma far below", "quite unlike subject there", start=900)
    chunks = [asked, same_question, twin, neighbour, far]
    found = MayAnswer(chunks).of(Asked(question, asked.asked[0], 0))
    assert found.tolist() == [True, True, True, True, False]


def test_what_finds_the_chunk_of_each_question_has_the_best_measures_and_twins_do_not_count():
    chunks = [*some_chunks(30), chunk("docs/twin.md", some_chunks(1)[0].payload.body, "asked elsewhere")]
    asked = asked_of(chunks[:30], held_out=False, seed=0)
    right = found_by(lambda one: chunks[one.chunk].passages[0].tolist(), chunks, asked)
    assert right == Found(1.0, 1.0)
    wrong = found_by(lambda one: (-chunks[one.chunk].passages[0]).tolist(), chunks, asked)
    assert wrong.mrr < 0.1 and wrong.recall < 0.2


@pytest.mark.parametrize("interrupted", [False, True])
def test_the_command_says_what_the_training_came_to(tmp_path, monkeypatch, interrupted):
    given = dict[str, Any]()

    def stand_in(settings: Any, out: Path, **options: Any) -> QuestionReport:
        given.update(options, out=out)
        after = Found(0.5, 0.75)
        return QuestionReport("ab12", 40, 9, 61.0, 1.25, Found(0.25, 0.5), after, interrupted)

    monkeypatch.setattr("tests.quality.training.questions.train_questions", stand_in)
    out = tmp_path / "new" / "a.safetensors"
    arguments = ["--out", str(out), "--questions", "40", "--epochs", "3", "--seed", "5"]
    told = CliRunner().invoke(app, [*arguments, "--home", str(tmp_path / "h")])
    assert told.exit_code == 0, told.output
    assert (given["out"], given["questions"], given["epochs"], given["seed"]) == (out, 40, 3, 5)
    words = " ".join(told.output.split())
    assert "MRR 0.250 without and 0.500 with the adapter" in words and "embedding.dense.question_adapter" in words
    assert ("was interrupted" in words) == interrupted and "does not help" not in words


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
class TestTrainer:
    @pytest.fixture(autouse=True)
    def _one_thread(self) -> Iterator[None]:
        # Threads that wait for each other take longer than these few numbers, above all on a busy machine.
        torch = pytest.importorskip("torch")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)

    def test_questions_come_nearer_to_what_answers_them(self, tiny):
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

    def test_the_gradient_is_that_of_the_loss(self):
        from tests.quality.training.trainer import _Comparison

        chunks = some_chunks(20)
        asked = asked_of(chunks, held_out=False, seed=0)[:5]
        compare = _Comparison(chunks, 0.5)
        vectors = np.stack([one.vector for one in asked]).astype(np.float64)
        _, gradient = compare.loss(vectors, asked)
        step = 1e-5
        for row, column in ((0, 0), (2, 7), (4, 30)):
            moved = [vectors.copy(), vectors.copy()]
            moved[0][row, column] -= step
            moved[1][row, column] += step
            low, high = (compare.loss(one, asked)[0] for one in moved)
            assert gradient[row, column] == pytest.approx((high - low) / (2 * step), abs=1e-4)


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
