"""The reader: an adapter on the encoder's weights, its file, and the feature that it adds to the local reranker."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding.adapter import READER, About, Adapter, LowRank, read_adapter, write_adapter
from adk_evidence.embedding.bert import assemble_bert
from adk_evidence.embedding.minilm import DIMENSION, HEADS, prepare_minilm
from adk_evidence.embedding.pairs import PairModel, PairTokenizer
from adk_evidence.embedding.weights import MINILM_WEIGHTS
from adk_evidence.errors import ModelError
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.rerank.factory import make_reader
from adk_evidence.search.rerank.local import LocalReranker
from adk_evidence.search.rerank.reader import Reader, passage_text
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import ReaderSettings, load_settings
from tests.core.bert_numpy import Tensors, hidden_states
from tests.core.factories import payload
from tests.core.test_explain import differing, explained, states
from tests.core.test_minilm import HEADS as TINY_HEADS
from tests.core.test_minilm import HIDDEN, save, tiny_bert, tiny_ranges
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_files
from tests.onnx_models import write_tokenizer

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
WORDS = ("retry", "tool", "session", "agent", "memory")
IDS = [2, 9, 3, 11, 5, 3]


def about(**changes: Any) -> About:
    values: dict[str, Any] = {
        "format": READER,
        "base": "tiny",
        "base_sha256": "0" * 64,
        "rank": 2,
        "alpha": 4.0,
        "tokens": 16,
        "question_tokens": 5,
        "data_sha256": "1" * 64,
        "questions": 3,
        "pairs": 18,
        "seed": 7,
        "license": "Apache-2.0",
        "product_version": "0",
    }
    return About(**{**values, **changes})


def tiny_adapter(weights: Tensors, **changes: Any) -> Adapter:
    """Random changes of every linear layer of a tiny encoder, with a random head."""
    random = np.random.default_rng(3)
    stated = about(**changes)

    def draw(*shape: int) -> Any:
        # As an adapter's file keeps them.
        return random.normal(0, 0.3, shape).astype(np.float16).astype(np.float32)

    linear = [name for name, weight in weights.items() if name.startswith("encoder") and weight.ndim == 2]
    layers = {
        name: LowRank(draw(stated.rank, weights[name].shape[1]), draw(weights[name].shape[0], stated.rank))
        for name in linear
    }
    return Adapter(layers, stated, draw(HIDDEN), 0.25)


def changed(weights: Tensors, adapter: Adapter) -> Tensors:
    """The weights with the changes added, computed here in float64."""
    scale = adapter.about.alpha / adapter.about.rank
    merged = dict(weights)
    for name, layer in adapter.layers.items():
        change = scale * np.einsum("or,ri->oi", layer.up.astype(np.float64), layer.down.astype(np.float64))
        merged[name] = (weights[name] + change).astype(np.float32)
    return merged


@pytest.fixture
def tiny(tmp_path: Path) -> tuple[Path, Tensors]:
    """A folder with a tiny encoder and a tokeniser with few words, and the encoder's weights."""
    weights = tiny_bert()
    ids = write_tokenizer(tmp_path, WORDS, 16)
    random = np.random.default_rng(1)
    weights["embeddings.word_embeddings.weight"] = random.normal(0, 3.0, (len(ids), HIDDEN)).astype(np.float32)
    # The state of [CLS] depends on the other tokens by what these two pass on.
    for name in weights:
        if "self.value.weight" in name or "attention.output.dense.weight" in name:
            weights[name] *= 4
    save(weights, tmp_path)
    return tmp_path, weights


class TestGraph:
    @pytest.mark.parametrize(("int8", "tolerance"), [(False, 1e-4), (True, 0.15)])
    def test_the_changes_are_added_to_the_weights(self, tmp_path, int8, tolerance):
        weights = tiny_bert()
        adapter = tiny_adapter(weights)
        path = save(weights, tmp_path)
        ranges = tiny_ranges(weights) if int8 else None
        graph = assemble_bert(path, TINY_HEADS, ranges=ranges, changes=adapter.changes)
        (tmp_path / "graph.onnx").write_bytes(graph.SerializeToString())
        found = session_states(tmp_path / "graph.onnx")
        expected = hidden_states(changed(weights, adapter), IDS, TINY_HEADS)
        assert np.abs(found - expected).max() < tolerance
        plain = hidden_states(weights, IDS, TINY_HEADS)
        assert np.abs(plain - expected).max() > 0.5, "the changes change nothing that could be measured"

    def test_without_changes_the_graph_is_the_encoders(self, tmp_path):
        weights = tiny_bert()
        path = save(weights, tmp_path)
        for ranges in (None, tiny_ranges(weights)):
            plain, unchanged = (
                assemble_bert(path, TINY_HEADS, ranges=ranges, **given).SerializeToString()
                for given in ({}, {"changes": {}})
            )
            assert plain == unchanged

    @pytest.mark.parametrize("name", ["encoder.layer.9.output.dense.weight", "embeddings.word_embeddings.weight"])
    def test_a_change_of_what_is_no_linear_layer_is_refused(self, tmp_path, name):
        path = save(tiny_bert(), tmp_path)
        with pytest.raises(ModelError, match="no linear layer"):
            assemble_bert(path, TINY_HEADS, changes={name: np.zeros((HIDDEN, HIDDEN), dtype=np.float32)})

    def test_a_change_of_another_shape_is_refused(self, tmp_path):
        weights = tiny_bert()
        path, ranges = save(weights, tmp_path), tiny_ranges(weights)
        changes = {"encoder.layer.0.output.dense.weight": np.zeros((HIDDEN, 1), dtype=np.float32)}
        with pytest.raises(ModelError, match="another shape"):
            assemble_bert(path, TINY_HEADS, ranges=ranges, changes=changes)


def session_states(graph: Path) -> Any:
    from adk_evidence.embedding.minilm import open_session

    ids = np.array([IDS], dtype=np.int64)
    inputs = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
    return open_session(graph).run(None, inputs)[0][0]


class TestPairs:
    def test_a_pair_is_the_question_then_the_text_within_the_limits(self, tiny):
        folder, _ = tiny
        tokenizer = PairTokenizer(folder, 12, 4)
        question, text = tokenizer.ids(["retry tool " * 9, "agent memory " * 20])
        pair = tokenizer.pair(question, text)
        begin, end = (tokenizer._tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
        assert len(pair.ids) == 12 and pair.second == 6
        assert pair.ids == (begin, *question[:4], end, *text[:5], end)

    def test_a_score_is_that_of_an_independent_implementation(self, tiny):
        folder, weights = tiny
        adapter = tiny_adapter(weights)
        texts = [f"{first} {second} and a {first}" for first in WORDS for second in WORDS]
        with ThreadPoolExecutor() as workers:
            found = PairModel(folder, adapter, TINY_HEADS, tiny_ranges(weights)).scores("retry a tool", texts, workers)
        tokenizer = PairTokenizer(folder, 16, 5)
        [asked], ids = tokenizer.ids(["retry a tool"]), tokenizer.ids(texts)
        expected = []
        for one in ids:
            pair = tokenizer.pair(asked, one)
            merged = with_types(changed(weights, adapter), pair)
            state = hidden_states(merged, list(range(len(pair.ids))), TINY_HEADS)[0]
            expected.append(float(state @ adapter.head + adapter.bias))
        # The rounding to 8 bits is coarse in states of twelve numbers.
        assert np.corrcoef(found, expected)[0, 1] > 0.97
        assert np.abs(np.array(found) - expected).max() < 0.1

    def test_a_score_does_not_depend_on_the_other_texts(self, tiny):
        folder, weights = tiny
        model = PairModel(folder, tiny_adapter(weights), TINY_HEADS, tiny_ranges(weights))
        texts = [" ".join(WORDS[: 1 + n % 5]) for n in range(9)]
        with ThreadPoolExecutor() as workers:
            together = model.scores("retry", texts, workers)
            alone = [model.scores("retry", [text], workers)[0] for text in texts]
        assert together == alone

    def test_a_damaged_graph_is_made_anew(self, tiny):
        folder, weights = tiny
        adapter = tiny_adapter(weights)
        PairModel(folder, adapter, TINY_HEADS, tiny_ranges(weights))
        [graph] = folder.glob("adapted-*.onnx")
        whole = graph.read_bytes()
        graph.write_bytes(whole[:-7])
        PairModel(folder, adapter, TINY_HEADS, tiny_ranges(weights))
        assert graph.read_bytes() == whole

    def test_a_head_of_another_length_is_refused(self, tiny):
        folder, weights = tiny
        adapter = replace(tiny_adapter(weights), head=np.ones(3, dtype=np.float32))
        with pytest.raises(ModelError, match="head does not fit"):
            PairModel(folder, adapter, TINY_HEADS, tiny_ranges(weights))


def with_types(weights: Tensors, pair: Any) -> Tensors:
    """Weights whose words are the tokens of a pair, each with the embedding of its type, minus that of type 0."""
    kinds = weights["embeddings.token_type_embeddings.weight"]
    words = weights["embeddings.word_embeddings.weight"][list(pair.ids)]
    types = [int(place >= pair.second) for place in range(len(pair.ids))]
    return {**weights, "embeddings.word_embeddings.weight": words + kinds[types] - kinds[0]}


class TestFile:
    def test_what_is_written_is_read(self, tmp_path):
        adapter = tiny_adapter(tiny_bert())
        write_adapter(adapter, tmp_path / "new" / "a.safetensors")
        found = read_adapter(tmp_path / "new" / "a.safetensors", READER)
        assert found.about == adapter.about and found.sha256 == adapter.sha256
        assert np.array_equal(found.head, adapter.head) and found.bias == adapter.bias
        assert found.changes.keys() == adapter.changes.keys()
        assert all(np.array_equal(change, adapter.changes[name]) for name, change in found.changes.items())

    def test_the_same_adapter_makes_the_same_bytes(self):
        first, second = (tiny_adapter(tiny_bert()) for _ in range(2))
        assert first.to_bytes() == second.to_bytes()

    @pytest.mark.parametrize(
        ("damage", "said"),
        [
            (lambda data: data[: len(data) // 2], "not a whole safetensors file"),
            (lambda data: b"", "not a whole safetensors file"),
            (lambda data: b"\xff" * 100, "not a whole safetensors file"),
            (lambda data: header(data, lambda found: found.pop("__metadata__")), "does not say"),
            (lambda data: stated(data, rank=0), "cannot be read"),
            (lambda data: stated(data, rank=3), "not one of rank 3"),
            (lambda data: stated(data, format="adk-evidence-reader-9"), "cannot be read"),
            (lambda data: data[:-2] + b"\x00\x7e", "not finite"),
            (lambda data: header(data, lambda found: found.update(other=found.pop("head.bias"))), "no head"),
        ],
    )
    def test_a_damaged_file_is_refused_in_a_sentence(self, tmp_path, damage, said):
        path = tmp_path / "a.safetensors"
        path.write_bytes(damage(tiny_adapter(tiny_bert()).to_bytes()))
        with pytest.raises(ModelError, match=said) as caught:
            read_adapter(path, READER)
        assert "rerank.reader.adapter" in caught.value.hint

    @pytest.mark.parametrize("name", ["missing.safetensors", "."])
    def test_a_file_that_is_not_there_is_refused_in_a_sentence(self, tmp_path, name):
        with pytest.raises(ModelError, match="cannot be read") as caught:
            read_adapter(tmp_path / name, READER)
        assert "rerank.reader.adapter" in caught.value.hint


def header(data: bytes, edit: Callable[[dict[str, Any]], Any]) -> bytes:
    """A safetensors file whose header was edited."""
    (length,) = struct.unpack("<Q", data[:8])
    found = json.loads(data[8 : 8 + length])
    edit(found)
    written = json.dumps(found).encode()
    return struct.pack("<Q", len(written)) + written + data[8 + length :]


def stated(data: bytes, **changes: Any) -> bytes:
    def edit(found: dict[str, Any]) -> None:
        told = json.loads(found["__metadata__"]["about"])
        found["__metadata__"]["about"] = json.dumps({**told, **changes})

    return header(data, edit)


class TestText:
    def test_a_passage_begins_with_where_it_is_from(self):
        body = "first line\nsecond line\n  third   line\nfourth"
        page = payload("doc", body=body, title="Tools", headings=("Retry", "Limits"), passage_lines=(1, 3))
        assert passage_text(page) == "Tools > Retry > Limits: first line second line"
        assert passage_text(page, 1) == "Tools > Retry > Limits: third line fourth"
        code = payload("code", "src/a.py", body, symbol="Runner.run", passage_lines=(1, 2, 2))
        assert passage_text(code, 2) == "Runner.run: second line third line fourth"
        assert passage_text(payload("code", "src/a.py", "x = 1")) == "a.py: x = 1"

    def test_lines_for_other_readers_are_not_read(self):
        page = payload("doc", body="python\njava\nend", left_out=((2, 2, "java"),), title="T")
        assert passage_text(page) == "T: python end"


class Prefers(Reader):
    """A reader that likes texts the more, the more often a word is in them; no model."""

    model = "reader-test"

    def __init__(self, word: str, settings: ReaderSettings) -> None:
        super().__init__(settings, Path())
        self.word, self.asked = word, list[str]()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        return [text.lower().count(self.word) + len(text) / 1e4 for text in texts]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    workplace = Workplace(tmp_path_factory.mktemp("indexed"))
    workplace.ingest()
    return workplace


def find(place: Workplace, query: str = QUESTION, reader: Reader | None = None, **values: Any) -> EvidencePack:
    settings = place.settings_with(values.pop("overrides", {}))
    service = EvidenceService(settings, dense=HashEmbedder(), sparse=shared_sparse(), reader=reader)
    try:
        return service.find(EvidenceRequest(query=query, **values))
    finally:
        service.close()


def prefers(word: str, **changes: Any) -> Prefers:
    return Prefers(word, load_settings().rerank.reader.model_copy(update=changes))


def saved(pack: EvidencePack) -> dict[str, Any]:
    return json.loads(pack.model_dump_json())


class TestRanking:
    @pytest.mark.parametrize("feedback", [0, 3])
    def test_what_the_reader_likes_comes_forward_and_the_pack_says_why(self, indexed, feedback):
        overrides = {"retrieval": {"feedback_passages": feedback}}
        plain = find(indexed, overrides=overrides)
        read = find(indexed, reader=prefers("back", weight=9.0), overrides=overrides)
        first, second = (pack.candidates[0].text.lower() for pack in (plain, read))
        assert "back" in second and "back" not in first
        pack = saved(read)
        assert pack["retrieval_plan"]["rerank_model"].endswith(", reader-test")
        assert pack["retrieval_plan"]["rerank_weights"]["read"] == 9.0
        found = explained(pack)
        assert found.agrees and states(found) == {"agrees", "outside"}, differing(found)
        assert any("gave it the score" in step.says for step in found.candidates[0].steps)

    @pytest.mark.parametrize("name", ["features", "scores"])
    def test_an_edited_reading_is_named(self, indexed, name):
        pack = saved(find(indexed, reader=prefers("retry")))
        pack["candidates"][0]["why"][name]["read"] += 0.01
        assert "features" in differing(explained(pack))

    def test_candidates_that_are_not_read_count_as_the_worst_of_those_that_are(self, indexed):
        reader = prefers("retry", candidates=2)
        pack = find(indexed, reader=reader, overrides={"retrieval": {"feedback_passages": 0}})
        assert len(reader.asked) == 2
        why = [candidate.why for candidate in pack.candidates if "read" in candidate.why.features]
        lowest = min(one.features["read"] for one in why)
        assert {one.features["read"] for one in why if "read" not in one.scores} == {lowest}
        assert explained(saved(pack)).agrees

    def test_without_an_adapter_no_byte_of_a_pack_changes(self, indexed):
        # What the reader would be asked for, and how it would count, changes nothing either.
        other = {"rerank": {"reader": {"candidates": 2, "weight": 5}}}
        plain, tuned = (saved(find(indexed, overrides=overrides)) for overrides in ({}, other))
        for pack in (plain, tuned):
            pack.pop("query_id"), pack.pop("debug", None)
        assert json.dumps(plain) == json.dumps(tuned)
        plan = plain["retrieval_plan"]
        assert plan["rerank_model"] == LocalReranker.model and plan["rerank_weights"] == dict(LocalReranker().weights)
        assert not any("read" in one["why"]["features"] for one in plain["candidates"])

    @pytest.mark.parametrize("query", ["RetryPlugin", "Traceback (most recent call last):\nValueError: x"])
    def test_names_and_pasted_errors_are_not_read(self, indexed, query):
        reader = prefers("retry")
        find(indexed, query, reader=reader)
        assert not reader.asked

    def test_the_passage_that_is_read_is_the_one_nearest_to_the_question(self, tmp_path):
        place = Workplace(tmp_path)
        parts = [
            f"{word.capitalize()} lines. " + f"This line is about {word}. " * 18 for word in ("rain", "snow", "wind")
        ]
        write_files(place.docs, {"docs/tools/long.md": "# Weather\n\n" + "\n".join(parts) + "\n"})
        place.ingest()
        [chunk] = [one for one in place.points().values() if one.path.endswith("long.md")]
        assert len(chunk.passage_lines) > 2
        reader = prefers("snow")
        find(place, "what is the line about snow?", reader=reader)
        read = [text for text in reader.asked if text.startswith("Weather: ")]
        assert read and all("about snow" in text and "about rain" not in text for text in read)


class TestFailures:
    @pytest.mark.parametrize("content", [None, b"", b"nothing of the kind"])
    def test_an_adapter_that_cannot_be_used_is_a_warning_and_the_ranking_goes_on(self, indexed, tmp_path, content):
        path = tmp_path / "adapter.safetensors"
        if content is not None:
            path.write_bytes(content)
        pack = find(indexed, overrides={"rerank": {"reader": {"adapter": str(path)}}})
        plain = find(indexed)
        [said] = [warning for warning in pack.warnings if warning.startswith("reader_unavailable: ")]
        assert str(path) in said and "rerank.reader.adapter" in said
        assert [one.citation for one in pack.candidates] == [one.citation for one in plain.candidates]
        assert pack.retrieval_plan and pack.retrieval_plan.rerank_model == LocalReranker.model
        assert explained(saved(pack)).agrees

    def test_in_strict_mode_the_request_fails(self, indexed, tmp_path):
        overrides = {"rerank": {"reader": {"adapter": str(tmp_path / "missing")}}}
        with pytest.raises(ModelError, match="cannot be read"):
            find(indexed, overrides=overrides, strict=True)

    def test_an_adapter_of_other_weights_is_refused(self, tmp_path):
        path = tmp_path / "adapter.safetensors"
        write_adapter(tiny_adapter(tiny_bert()), path)
        settings = load_settings({"rerank": {"reader": {"adapter": str(path)}}}).rerank.reader
        with pytest.raises(ModelError, match="trained for other weights") as caught:
            Reader(settings, tmp_path).scores("retry", ["tool"])
        assert "train-reader" in caught.value.hint
        assert list(tmp_path.iterdir()) == [path], "no weights were fetched for it"

    def test_another_reranker_takes_no_reader(self):
        settings = load_settings({"rerank": {"provider": "none", "reader": {"adapter": "a.safetensors"}}})
        assert make_reader(settings) is None

    def test_an_adapter_that_changes_more_than_the_weights_have_is_refused(self, tmp_path):
        path = tmp_path / "adapter.safetensors"
        adapter = tiny_adapter(tiny_bert())
        rank = adapter.about.rank
        wide = LowRank(np.zeros((rank, 100_000), np.float32), np.zeros((100_000, rank), np.float32))
        write_adapter(replace(adapter, layers={"encoder.layer.0.output.dense.weight": wide}), path)
        with pytest.raises(ModelError, match="more than the weights have"):
            read_adapter(path, READER)


@pytest.mark.model
def test_an_adapter_on_the_real_weights_orders_a_pool(models: Path, tmp_path: Path) -> None:
    """Without changes, and with a head along the state of one text, that text comes first."""
    weights = MINILM_WEIGHTS.sha256["model.safetensors"]
    stated_about = about(base_sha256=weights, tokens=64, question_tokens=20)
    texts = ["Retry: call the tool again after an error", "Memory: what an agent recalls", "Sessions: events and state"]
    folder = prepare_minilm(models)
    [state] = cls_states(folder, QUESTION, texts[1:2])
    mean = np.mean(cls_states(folder, QUESTION, texts), axis=0)
    head = ((state - mean) / np.linalg.norm(state - mean)).astype(np.float32)
    path = tmp_path / "adapter.safetensors"
    write_adapter(Adapter({}, stated_about, head), path)
    settings = load_settings({"rerank": {"reader": {"adapter": str(path)}}}).rerank.reader
    reader = Reader(settings, models)
    try:
        scores = reader.scores(QUESTION, texts)
        assert max(scores) == scores[1] and reader.scores(QUESTION, texts) == scores
        assert reader.model.startswith("reader-")
    finally:
        reader.close()
        for made in folder.glob(f"{reader.model}-*"):
            made.unlink()


def cls_states(folder: Path, question: str, texts: Sequence[str]) -> Any:
    from adk_evidence.embedding.minilm import open_session

    assert (DIMENSION, HEADS) == (384, 12)
    tokenizer = PairTokenizer(folder, 64, 20)
    [asked] = tokenizer.ids([question])
    session = open_session(folder / "model.onnx")
    states = []
    for pair in (tokenizer.pair(asked, ids) for ids in tokenizer.ids(texts)):
        inputs = {"input_ids": np.array([pair.ids]), "token_type_ids": np.array([pair.types])}
        states.append(session.run(None, inputs)[0][0, 0])
    return np.array(states)
