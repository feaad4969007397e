"""Questions in words are encoded by an adapted encoder; everything else by the encoder of the texts."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding.minilm.adapter import AdapterError, read_adapter
from adk_evidence.embedding.minilm.model import SHIPPED_ADAPTER, MiniLmEmbedder
from adk_evidence.embedding.minilm.weights import MINILM_WEIGHTS, WEIGHTS
from adk_evidence.embedding.queries import RememberedQueries
from adk_evidence.errors import ModelError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.paths import config_file
from adk_evidence.search import calibration
from adk_evidence.search.ranking import quality
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import load_settings
from tests.answers import told
from tests.core.test_adapter import tiny_adapter
from tests.core.test_minilm import tiny_bert
from tests.corpora import HashEmbedder, Workplace, shared_sparse, word_vector
from tests.quality.training.adapter_file import write_adapter

IN_WORDS = "how do I try a tool again that fails?"


class Adapted(HashEmbedder):
    """Encodes every question as if it asked about one thing, and counts what it was asked for."""

    question_model = "questions-test"

    def __init__(self, about: str = "session memory", failure: ModelError | None = None) -> None:
        super().__init__()
        self._about, self._failure = about, failure
        self.adapted, self.plain = list[str](), list[str]()

    def embed_query(self, text: str) -> list[float]:
        self.plain.append(text)
        return super().embed_query(text)

    def embed_question(self, text: str) -> list[float]:
        self.adapted.append(text)
        if self._failure is not None:
            raise self._failure
        return word_vector(self._about)


def find(place: Workplace, encoder: HashEmbedder, query: str = IN_WORDS, **values: Any) -> EvidencePack:
    settings = place.settings_with(values.pop("overrides", {}))
    with closing(EvidenceService(settings, dense=encoder, sparse=shared_sparse())) as service:
        return service.find(EvidenceRequest(query=query, **values))


def cited(pack: EvidencePack) -> list[str]:
    return [one.citation for one in pack.candidates]


def encoded_by(pack: EvidencePack) -> str | None:
    assert pack.retrieval_plan is not None
    return pack.retrieval_plan.question_model


class TestWhatIsAdapted:
    def test_a_question_in_words_is_and_the_pack_says_by_what(self, indexed):
        encoder = Adapted()
        pack = find(indexed, encoder)
        # The question as it is, is compared with the written questions.
        assert encoder.adapted[0] == IN_WORDS and encoder.plain == []
        assert encoded_by(pack) == "questions-test"
        # What is near to the adapted vector is found by it.
        assert encoded_by(find(indexed, HashEmbedder())) is None
        dense = {"retrieval": {"branches": ["dense"], "feedback_passages": 0}, "rerank": {"provider": "none"}}
        of_memory = find(indexed, HashEmbedder(), "session memory", overrides=dense)
        assert cited(find(indexed, Adapted("session memory"), overrides=dense))[0] == cited(of_memory)[0]
        assert cited(find(indexed, HashEmbedder(), overrides=dense))[0] != cited(of_memory)[0]

    @pytest.mark.parametrize(
        "query",
        [
            "RetryPlugin",
            "what does `max_attempts` do for a tool?",
            "why does load_artifact return nothing",
            "ValueError: no session was found for this user",
        ],
    )
    def test_what_names_something_exactly_is_not(self, indexed, query):
        encoder = Adapted()
        pack = find(indexed, encoder, query)
        assert not encoder.adapted and encoder.plain and encoded_by(pack) is None

    def test_nothing_is_where_the_settings_say_so(self, indexed):
        encoder = Adapted()
        find(indexed, encoder, overrides={"embedding": {"dense": {"question_adapter": "none"}}})
        assert not encoder.adapted and encoder.plain

    def test_questions_to_other_codebases_are_not(self, tmp_path):
        settings = load_settings({"home": tmp_path})
        assert settings.embedding.dense.question_adapter is None
        other = settings_for(settings, Codebase(name="other", path=tmp_path))
        assert other.embedding.dense.question_adapter == "none"

    def test_its_lower_cosines_are_made_up_for_where_something_must_be_close(self, indexed, monkeypatch):
        levels = []
        # What holds a question's words counts, too.
        monkeypatch.setattr(quality, "UNSUPPORTED", 1.1)
        for below in (0.0, 1.0):
            monkeypatch.setattr(calibration, "MINILM", replace(calibration.MINILM, relevant=0.99, adapted_below=below))
            retrieval = {"expansion": "never"}
            levels.append(find(indexed, Adapted("session"), overrides={"retrieval": retrieval}).quality.level)
        assert levels[0] == "none" != levels[1]


class TestFailure:
    def test_an_adapter_that_fails_is_a_warning_and_the_question_is_encoded_without_it(self, indexed):
        encoder = Adapted(failure=AdapterError("The adapter is damaged.", "Name another."))
        pack = find(indexed, encoder)
        assert encoder.adapted == [IN_WORDS] == encoder.plain[:1] and encoded_by(pack) is None
        assert [text for text in told(pack) if text.startswith("question_adapter_unavailable: The adapter is damaged")]
        assert cited(pack) == cited(find(indexed, HashEmbedder()))
        with pytest.raises(ModelError, match="damaged"):
            find(indexed, encoder, strict=True)

    def test_a_model_that_cannot_be_loaded_is_no_fault_of_the_adapter(self, indexed):
        encoder = Adapted(failure=ModelError("The weights cannot be fetched.", "Go online."))
        pack = find(indexed, encoder)
        assert [text.partition(":")[0] for text in told(pack)][:1] == ["dense_unavailable"]
        assert len(encoder.adapted) == 1 and not encoder.plain, "the weights are fetched once for a question"

    def test_an_adapter_of_other_weights_is_refused_before_any_are_fetched(self, tmp_path):
        path = tmp_path / "a.safetensors"
        write_adapter(tiny_adapter(tiny_bert()), path)
        dense = load_settings({"embedding": {"dense": {"question_adapter": str(path)}}}).embedding.dense
        with pytest.raises(ModelError, match="trained for other weights"):
            MiniLmEmbedder(dense, tmp_path / "models").embed_question("why?")
        assert not (tmp_path / "models").exists()


def test_a_question_is_kept_apart_by_what_encoded_it():
    inner = Adapted()
    kept = RememberedQueries(inner, 8)
    assert kept.embed_query("why") == word_vector("why") and set(kept.kept("why")) == {"plain"}
    for _ in range(2):
        assert kept.embed_query("why") == word_vector("why")
        assert kept.embed_question("why") == word_vector("session memory")
    assert (inner.plain, inner.adapted) == (["why"], ["why"])
    assert kept.question_model == "questions-test" and set(kept.kept("why")) == {"plain", "adapted"}
    assert not hasattr(RememberedQueries(HashEmbedder(), 8), "embed_question")


def test_the_adapter_that_ships_fits_the_weights_and_says_what_it_was_trained_from():
    adapter = read_adapter(config_file(SHIPPED_ADAPTER))
    about = adapter.about
    assert about.base_sha256 == MINILM_WEIGHTS.sha256[WEIGHTS] and about.license == "Apache-2.0"
    assert len(about.data_sha256) == 64 and about.questions > 10_000
    assert adapter.layers


@pytest.mark.model
class TestRealWeights:
    def test_the_shipped_adapter_brings_a_question_nearer_to_what_answers_it(self, models: Path):
        encoder = MiniLmEmbedder(load_settings().embedding.dense, models)
        question = "how can my bot remember what someone likes from one chat to the next?"
        answer, other = (
            "user: prefix. Tied to the user_id, shared across all sessions for that user. Use cases: preferences.",
            "You can chat with the bot in the developer UI and look at the events of each chat.",
        )
        vectors = {text: np.array(encoder.embed_query(text)) for text in (answer, other)}
        plain, adapted = np.array(encoder.embed_query(question)), np.array(encoder.embed_question(question))
        assert np.linalg.norm(adapted) == pytest.approx(1, abs=1e-5)
        ahead = [float(asked @ vectors[answer] - asked @ vectors[other]) for asked in (plain, adapted)]
        assert ahead[1] > ahead[0]

    def test_the_graph_is_kept_and_a_damaged_one_is_made_anew(self, models: Path):
        dense = load_settings().embedding.dense
        first = MiniLmEmbedder(dense, models).embed_question(IN_WORDS)
        sha256 = read_adapter(config_file(SHIPPED_ADAPTER)).sha256
        [graph] = models.glob(f"*/adapted-{sha256[:12]}-*.onnx")
        graph.write_bytes(graph.read_bytes()[:1000])
        assert MiniLmEmbedder(dense, models).embed_question(IN_WORDS) == first
