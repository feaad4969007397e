"""How adapters are trained: their data, made from written questions alone, and the trainers where torch is there."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from adk_evidence.embedding import minilm
from adk_evidence.embedding.adapted import adapted_graph
from adk_evidence.embedding.adapter import QUESTIONS, READER, read_adapter, write_adapter
from adk_evidence.embedding.bert import Ranges, assemble_bert
from adk_evidence.embedding.pairs import PairModel
from adk_evidence.errors import InvalidRequestError
from adk_evidence_cli.main import app
from adk_evidence_eval.adapters.chunks import Asked, Chunk, asked_of, read_chunks
from adk_evidence_eval.adapters.questions import Found, QuestionReport, found_by
from adk_evidence_eval.adapters.reader import Ranks, Report, ranks_of
from adk_evidence_eval.adapters.reader_data import (
    LEAST_NEGATIVES,
    NEGATIVES,
    POOL,
    Example,
    HeldOut,
    TrainingData,
    training_data,
)
from adk_evidence_eval.views import training_view
from tests.core.factories import payload
from tests.core.test_minilm import HEADS, HIDDEN, save, tiny_bert, tiny_ranges
from tests.core.test_reader import about
from tests.corpora import Workplace, shared_sparse, word_vector
from tests.onnx_models import write_tokenizer

pytestmark = pytest.mark.slow

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(
    not HAS_TORCH, reason="NO torch HERE: `pip install 'adk-evidence[train]'` tests the trainer"
)


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


def made(chunks: Sequence[Chunk], **options: Any) -> TrainingData:
    return training_data(chunks, shared_sparse(), **options)


def texts_of(data: TrainingData, example: Example) -> tuple[str, list[str]]:
    return data.texts[example.positive], [data.texts[place] for place in example.negatives]


class TestData:
    def test_a_question_comes_with_the_passage_that_it_was_written_for_and_with_others(self):
        data = made(some_chunks())
        assert data.examples
        for example in data.examples:
            name = example.question.split()[0]
            positive, negatives = texts_of(data, example)
            assert f"{name} " in positive
            assert LEAST_NEGATIVES <= len(negatives) <= NEGATIVES
            assert not any(f"{name} " in text for text in negatives)

    def test_the_same_index_number_and_seed_give_the_same_data(self):
        first, again, other, fewer = (
            made(some_chunks(), **options) for options in ({}, {}, {"seed": 1}, {"questions": 7})
        )
        assert first.sha256 == again.sha256
        assert len({one.sha256 for one in (first, other, fewer)}) == 3
        assert {one.question for one in first.examples} == {one.question for one in other.examples}
        assert [one.question for one in fewer.examples] == [one.question for one in first.examples[:7]]
        held = [[question.question for question in one.held_out] for one in (first, other, fewer)]
        assert held[0] and held[0] == held[1] == held[2]

    def test_nothing_of_a_held_out_file_is_trained_with(self):
        chunks = some_chunks()
        data = made(chunks)
        held = {text for one in chunks if one.is_held_out for text in (*one.payload.questions, one.payload.body)}
        assert held and {one.question for one in data.held_out} <= held and data.examples
        for example in data.examples:
            positive, negatives = texts_of(data, example)
            assert example.question not in held
            assert not any(text.partition(": ")[2] in held for text in (positive, *negatives))

    def test_chunks_that_may_answer_as_well_are_no_negatives(self):
        question = "how are alpha beta gamma combined"
        first, second, third = itertools.islice(free_paths(), 3)
        asked = chunk(first, "alpha beta gamma are combined", question, start=100)
        same_question = chunk(second, "alpha beta gamma elsewhere", f"{question} really")
        twin = chunk(third, "alpha  beta gamma are combined", "another matter entirely")
        neighbour = chunk(first, "alpha beta gamma continued", "something else altogether", start=110)
        far = chunk(first, "alpha beta gamma far below", "quite unlike subject there", start=900)
        data = made([asked, same_question, twin, neighbour, far, *some_chunks(20)])
        [example] = [one for one in data.examples if one.question == question]
        _, negatives = texts_of(data, example)
        bodies = {text.partition(": ")[2] for text in negatives}
        assert far.payload.body in bodies
        assert bodies.isdisjoint(" ".join(one.payload.body.split()) for one in (same_question, twin, neighbour))

    def test_a_pool_is_in_the_order_of_its_scores(self):
        data = made(some_chunks())
        assert data.held_out
        for one in data.held_out:
            assert len(one.pool) <= POOL and 0 <= one.right < len(one.pool)
            assert list(one.scores) == sorted(one.scores, reverse=True)

    def test_an_index_without_written_questions_is_refused_in_a_sentence(self, tmp_path):
        place = Workplace(tmp_path, {"ingestion": {"questions": False}})
        place.ingest()
        with pytest.raises(InvalidRequestError, match="no questions that were written") as caught:
            read_chunks(place.settings)
        assert "ingestion.questions" in caught.value.hint
        settings = place.settings_with({"embedding": {"dense": {"provider": "fastembed"}}})
        with pytest.raises(InvalidRequestError, match="all-MiniLM-L6-v2"):
            read_chunks(settings)


class TestMeasure:
    def test_ranks_are_those_of_the_search_of_the_reader_and_of_their_sum(self):
        def scorer(question: str, texts: Sequence[str]) -> list[float]:
            assert not question.startswith("of the third")
            return [float(text == "right") for text in texts]

        data = TrainingData(
            ("right", "first", "other"),
            (),
            (
                HeldOut("of the third that chooses", (0, 1), (0.0, 1.0), 0),
                HeldOut("q", (1, 0, 2), (1.0, 0.5, 0.0), 1),
                HeldOut("p", (0, 1), (0.3, 0.1), 0),
            ),
        )
        found = ranks_of(data, scorer, weight=1.0)
        assert (found.questions, found.search, found.reader, found.both) == (2, 0.75, 1.0, 1.0)
        blind = ranks_of(data, lambda question, texts: [0.0] * len(texts), weight=1.0)
        assert blind.reader == pytest.approx((1 / 3 + 1 / 2) / 2) and blind.both == blind.search == 0.75


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
def test_without_torch_the_command_says_what_to_install(tmp_path):
    told = CliRunner().invoke(
        app, ["eval", "train-reader", "--out", str(tmp_path / "a"), "--home", str(tmp_path / "h")]
    )
    assert told.exit_code == 2 and "adk-evidence[train]" in told.output and "Traceback" not in told.output


def test_a_place_that_cannot_be_written_is_refused_before_the_training(tmp_path):
    told = CliRunner().invoke(app, ["eval", "train-reader", "--out", str(tmp_path), "--home", str(tmp_path / "h")])
    assert told.exit_code == 2 and "cannot be written" in told.output


@pytest.mark.parametrize("interrupted", [False, True])
def test_the_command_says_what_the_training_came_to_and_where_the_adapter_is(tmp_path, monkeypatch, interrupted):
    given = dict[str, Any]()

    def stand_in(settings: Any, out: Path, **options: Any) -> Report:
        given.update(options, out=out)
        options["tell"]("step 1 of 2")
        ranks = None if interrupted else Ranks(9, 0.25, 0.5, 0.75)
        return Report("ab12", 40, 240, 61.0, 1.25, ranks, interrupted)

    monkeypatch.setattr("adk_evidence_eval.adapters.reader.train_reader", stand_in)
    out = tmp_path / "new" / "a.safetensors"
    arguments = ["eval", "train-reader", "--out", str(out), "--questions", "40", "--minutes", "2", "--seed", "5"]
    told = CliRunner().invoke(app, [*arguments, "--home", str(tmp_path / "h")])
    assert told.exit_code == 0, told.output
    assert (given["out"], given["questions"], given["minutes"], given["seed"]) == (out, 40, 2.0, 5)
    words = " ".join(told.output.split())
    assert "240 pairs of 40 questions" in words and "sha256 ab12" in words and "step 1 of 2" in words
    assert "rerank.reader.adapter" in words
    assert ("was interrupted" if interrupted else "0.250 by the search, 0.500 by the reader, 0.750 by both") in words
    assert "does not help" not in words
    as_json = CliRunner().invoke(app, [*arguments, "--home", str(tmp_path / "h"), "--json"])
    assert json.loads(as_json.stdout)["data_sha256"] == "ab12"


def test_an_adapter_that_does_not_help_is_said_not_to():
    ranks = [Ranks(9, 0.5, 0.25, both) for both in (0.5, 0.51)]
    worse, better = (training_view(Report("ab12", 40, 240, 61.0, 1.25, found, False))[1] for found in ranks)
    assert len(worse) == len(better) + 1 and "does not help" in str(worse[-1])


def test_what_finds_the_chunk_of_each_question_has_the_best_measures_and_twins_do_not_count():
    chunks = [*some_chunks(30), chunk("docs/twin.md", some_chunks(1)[0].payload.body, "asked elsewhere")]
    asked = asked_of(chunks[:30], held_out=False, seed=0)
    right = found_by(lambda one: chunks[one.chunk].passages[0].tolist(), chunks, asked)
    assert right == Found(1.0, 1.0)
    wrong = found_by(lambda one: (-chunks[one.chunk].passages[0]).tolist(), chunks, asked)
    assert wrong.mrr < 0.1 and wrong.recall < 0.2


def test_the_questions_of_held_out_files_are_apart_and_the_seed_orders_the_others():
    chunks = some_chunks()
    train, other, held = (
        [one.text for one in asked_of(chunks, held_out=is_held, seed=seed)]
        for is_held, seed in ((False, 0), (False, 1), (True, 0))
    )
    assert train != other and sorted(train) == sorted(other) and set(train).isdisjoint(held)
    assert {one for chunk in chunks for one in chunk.payload.questions} == {*train, *held}


@pytest.mark.parametrize("interrupted", [False, True])
def test_the_command_for_questions_says_what_the_training_came_to(tmp_path, monkeypatch, interrupted):
    given = dict[str, Any]()

    def stand_in(settings: Any, out: Path, **options: Any) -> QuestionReport:
        given.update(options, out=out)
        after = Found(0.5, 0.75)
        return QuestionReport("ab12", 40, 9, 61.0, 1.25, Found(0.25, 0.5), after, interrupted)

    monkeypatch.setattr("adk_evidence_eval.adapters.questions.train_questions", stand_in)
    out = tmp_path / "new" / "a.safetensors"
    arguments = ["eval", "train-questions", "--out", str(out), "--questions", "40", "--epochs", "3", "--seed", "5"]
    told = CliRunner().invoke(app, [*arguments, "--home", str(tmp_path / "h")])
    assert told.exit_code == 0, told.output
    assert (given["out"], given["questions"], given["epochs"], given["seed"]) == (out, 40, 3, 5)
    words = " ".join(told.output.split())
    assert "MRR 0.250 without and 0.500 with the adapter" in words and "embedding.dense.question_adapter" in words
    assert ("was interrupted" in words) == interrupted and "does not help" not in words


# The trainers

LETTERS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a tiny encoder and a tokeniser that knows some words."""
    weights = tiny_bert()
    ids = write_tokenizer(tmp_path, (*LETTERS, "good", "bad"), 16)
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


def good_or_bad(count: int) -> TrainingData:
    """Questions of which every answer has the word `good`, and no other text."""
    texts = [f"{word} {first} {second}" for word in ("good", "bad") for first in LETTERS for second in LETTERS]
    half = len(texts) // 2
    random = np.random.default_rng(5)
    bad = [tuple(int(place) for place in half + random.permutation(half)[:8]) for _ in range(count)]
    examples = tuple(Example(LETTERS[n % 6], n % half, bad[n]) for n in range(count))
    held = tuple(HeldOut(LETTERS[n], (*bad[n], n + 20), tuple(-float(m) for m in range(9)), 8) for n in range(6))
    return TrainingData(texts, examples, held)


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

    def trained(self, tiny: Path, **plan: Any) -> Any:
        from adk_evidence_eval.adapters.reader_trainer import Plan, train

        options = {"rank": 2, "alpha": 4.0, "tokens": 16, "question_tokens": 5, "rate": 0.02, "seed": 3, **plan}
        kept = list[Any]()
        found = train(tiny, HEADS, good_or_bad(240), Plan(**options), about(), keep=kept.append)
        return found, kept

    def test_it_learns_to_put_first_what_answers_and_the_written_adapter_does_the_same(self, tiny, tmp_path):
        found, kept = self.trained(tiny)
        assert found.losses[-1] < 0.5 * found.losses[0] and not found.interrupted
        assert found.pairs == 240 * 6 and found.adapter.about.pairs == kept[-1].about.pairs <= found.pairs
        write_adapter(found.adapter, tmp_path / "a.safetensors")
        model = PairModel(tiny, read_adapter(tmp_path / "a.safetensors", READER), HEADS, ranges(tiny))
        data = good_or_bad(240)
        with ThreadPoolExecutor() as workers:
            ranks = ranks_of(data, lambda question, texts: model.scores(question, texts, workers), weight=1.0)
        assert ranks.search < 0.2 and ranks.reader > 0.9

    def test_the_network_scores_as_the_graph_does(self, tiny):
        from adk_evidence_eval.adapters.reader_trainer import Plan, _Network, _Pairs

        data, plan = good_or_bad(30), Plan(rank=2, alpha=4.0, tokens=16, question_tokens=5)
        found, _ = self.trained(tiny)
        torch = __import__("torch")
        network = _Network(torch, tiny, HEADS, plan)
        for name, (down, up) in network._low.items():
            layer = found.adapter.layers[name]
            down.data, up.data = torch.from_numpy(layer.down), torch.from_numpy(layer.up)
        network._head.data = torch.from_numpy(found.adapter.head)
        network._bias.data = torch.tensor([found.adapter.bias])
        model, reading = PairModel(tiny, found.adapter, HEADS, ranges(tiny)), _Pairs(tiny, data, plan)
        with ThreadPoolExecutor() as workers:
            for question in data.held_out:
                texts = [data.texts[place] for place in question.pool]
                graph = model.scores(question.question, texts, workers)
                torch_scores = network.read(reading.pool(question))
                assert np.corrcoef(graph, torch_scores)[0, 1] > 0.97

    def test_the_same_seed_makes_the_same_adapter(self, tiny):
        first, again, other = (self.trained(tiny, seed=seed)[0].adapter.sha256 for seed in (3, 3, 4))
        assert first == again != other

    def test_ctrl_c_keeps_the_best_so_far(self, tiny, monkeypatch):
        from adk_evidence_eval.adapters import reader_trainer as lora

        steps = iter(range(100))
        draw = lora._Pairs.drawn

        def interrupted(self: Any, *arguments: Any) -> Any:
            if next(steps) == 70:
                raise KeyboardInterrupt
            return draw(self, *arguments)

        monkeypatch.setattr(lora._Pairs, "drawn", interrupted)
        found, kept = self.trained(tiny)
        assert found.interrupted and kept and found.adapter is kept[-1]

    def test_the_time_ends_a_training(self, tiny):
        found, kept = self.trained(tiny, minutes=1e-9)
        assert len(found.losses) == 1 and kept

    def test_questions_come_nearer_to_what_answers_them(self, tiny):
        from adk_evidence_eval.adapters.question_trainer import Plan, train

        chunks, asked = paraphrased(tiny)
        plan = Plan(rank=2, alpha=4.0, tokens=16, questions=6, epochs=120, rate=0.02, dropout=0.0, temperature=0.1)
        found, again = (train(tiny, HEADS, chunks, asked, plan, about(format=QUESTIONS)) for _ in range(2))
        assert found.losses[-1] < 0.5 * found.losses[0] and not found.interrupted
        assert found.adapter.about.pairs == 120 * len(asked) and found.adapter.head is None
        assert found.adapter.sha256 == again.adapter.sha256

        def measured(graph: Path) -> Found:
            model = minilm._Model(tiny, graph)
            return found_by(lambda one: model.embed(model.tokens([one.text], 16))[0].tolist(), chunks, asked)

        plain, adapted = map(measured, (tiny / "model.onnx", adapted_graph(tiny, found.adapter, HEADS, ranges(tiny))))
        assert adapted.mrr > 0.9 > plain.mrr

    def test_the_gradient_is_that_of_the_loss(self):
        from adk_evidence_eval.adapters.question_trainer import _Comparison

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

    def test_ctrl_c_keeps_what_questions_have_learnt(self, tiny, monkeypatch):
        from adk_evidence_eval.adapters import question_trainer

        chunks, asked = paraphrased(tiny)
        compare, steps = question_trainer._Comparison.loss, iter(range(100))

        def interrupted(self: Any, *arguments: Any) -> Any:
            if next(steps) == 3:
                raise KeyboardInterrupt
            return compare(self, *arguments)

        monkeypatch.setattr(question_trainer._Comparison, "loss", interrupted)
        plan = question_trainer.Plan(rank=2, alpha=4.0, tokens=16, questions=6, epochs=20)
        found = question_trainer.train(tiny, HEADS, chunks, asked, plan, about(format=QUESTIONS))
        assert found.interrupted and len(found.losses) == 3 and found.adapter.about.pairs == 18


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
