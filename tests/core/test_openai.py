"""Embeddings over OpenAI's interface, asked of a stand-in: OpenAI itself and servers of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding import openai
from adk_evidence.embedding.openai import OpenAiEmbedder, openai_embedder
from adk_evidence.errors import CallCancelledError, CostCapError, ServiceError, SettingsError
from adk_evidence.services import embeddings
from adk_evidence.services.embeddings import KEY_VARIABLES, QUERY_BACKOFF, EmbeddingsService
from adk_evidence.services.eventloop import cancellable
from adk_evidence.services.metering import RequestTooLargeError
from adk_evidence.settings import EmbeddingSettings, load_settings
from tests.clocks import FakeTime
from tests.corpora import embed_all
from tests.standins.embeddings import ADA, EMBEDDINGS, KEY, LARGE, OWN, SMALL, EmbeddingsStandIn, Model
from tests.standins.json_service import Account, Fault
from tests.standins.voyage import word_vector

pytestmark = pytest.mark.slow

PROSE = "An agent answers a person and calls tools, one after the other. "


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three tries instead of seven.
    monkeypatch.setattr(embeddings, "BACKOFF", (1.0, 2.0))
    monkeypatch.setenv(KEY_VARIABLES[0], KEY)
    monkeypatch.delenv(KEY_VARIABLES[1], raising=False)


@pytest.fixture
def standin() -> Iterator[EmbeddingsStandIn]:
    with EmbeddingsStandIn() as running:
        yield running


@pytest.fixture
def time() -> FakeTime:
    return FakeTime(running=True)


class Asked:
    """Makes embedders; `notes` is what they said."""

    def __init__(self, base_url: str, time: FakeTime) -> None:
        self.base_url, self.time = base_url, time
        self.notes: list[str] = []
        self.made: list[OpenAiEmbedder] = []

    def __call__(self, *, hosted: bool = False, **values: Any) -> OpenAiEmbedder:
        settings = chosen(base_url=self.base_url, **values)
        service = EmbeddingsService(settings, clock=self.time.clock, notice=self.notes.append)
        if hosted:
            # The address alone says that a service is paid, and no stand-in has a certificate.
            settings = chosen(base_url="https://service.invalid/v1", **values)
        self.made.append(openai_embedder(service, settings))
        return self.made[-1]


@pytest.fixture
def ask(standin: EmbeddingsStandIn, time: FakeTime) -> Iterator[Asked]:
    asked = Asked(standin.base_url, time)
    yield asked
    for embedder in asked.made:
        embedder.close()


def chosen(max_cost_usd: float = 20, **values: Any) -> EmbeddingSettings:
    return load_settings({"embedding": {"openai": values, "max_cost_usd": max_cost_usd}}).embedding


class TestWire:
    def test_a_request_says_what_the_contract_says(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        embedder = ask()
        embed_all(embedder, ["one", "two"])
        embedder.embed_query("why?")
        assert standin.sent(EMBEDDINGS) == [
            {"model": SMALL, "input": ["one", "two"]},
            {"model": SMALL, "input": ["why?"]},
        ]
        assert {headers["Authorization"] for headers in standin.headers} == {f"Bearer {KEY}"}

    @pytest.mark.parametrize(("model", "length"), [(SMALL, 1536), (LARGE, 3072), (ADA, 1536)])
    def test_lengths_of_openais_models_are_known(self, ask: Asked, model: str, length: int) -> None:
        embedder = ask(model=model)
        assert embedder.dimension == length and embed_all(embedder, ["one"]).shape == (1, length)
        assert embedder.model == f"openai/{model};dimension={length};text_tokens=8192"

    def test_shorter_vectors_are_asked_for_where_the_settings_say_so(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        embedder = ask(shorten_to=256)
        text = "An agent answers a person and calls tools, one after the other, until the person is content."
        vectors = embed_all(embedder, [text])
        assert standin.sent(EMBEDDINGS)[0]["dimensions"] == 256
        expected = word_vector(text, 1536)[:256]
        assert vectors[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
        assert embedder.model == f"openai/{SMALL};dimension=256;text_tokens=8192"

    def test_vectors_follow_the_index_and_not_the_order_of_the_answer(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        standin.strike(EMBEDDINGS, Fault(mode="alter", change=lambda answer: {**answer, "data": answer["data"][::-1]}))
        texts = ["alpha", "beta", "gamma"]
        for text, vector in zip(texts, embed_all(ask(), texts), strict=True):
            assert vector == pytest.approx(word_vector(text, 1536), abs=1e-6)

    def test_vectors_of_any_length_are_made_unit_vectors(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        standin.scale = 17.0
        embedder = ask(model=OWN, dimension=64)
        assert np.linalg.norm(embed_all(embedder, ["one", "two"]), axis=1) == pytest.approx([1, 1])
        assert np.linalg.norm(embedder.embed_query("three")) == pytest.approx(1)

    def test_prefixes_are_sent_and_that_of_documents_belongs_to_the_models_name(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        plain, prefixed = ask(), ask(document_prefix="search_document: ", query_prefix="search_query: ")
        embed_all(prefixed, ["one"])
        prefixed.embed_query("why?")
        assert [body["input"] for body in standin.sent(EMBEDDINGS)] == [
            ["search_document: one"],
            ["search_query: why?"],
        ]
        assert prefixed.model != plain.model and prefixed.model != ask(document_prefix="passage: ").model
        assert ask(query_prefix="query: ").model == plain.model != ask(text_tokens=512).model

    def test_the_address_is_no_part_of_the_models_name(self) -> None:
        models = {
            openai_embedder(EmbeddingsService(settings), settings).model
            for address in ("https://one.invalid/v1", "http://localhost:1/v1")
            for settings in [chosen(base_url=address)]
        }
        assert len(models) == 1

    def test_an_empty_text_and_a_lone_surrogate_are_taken(self, ask: Asked) -> None:
        assert embed_all(ask(), ["", "a \ud800 b"]).shape == (2, 1536)


class TestSizes:
    def test_requests_keep_below_their_items_and_tokens(
        self, standin: EmbeddingsStandIn, ask: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        embed_all(ask(request_items=4), ["one"] * 6)
        monkeypatch.setattr(openai, "REQUEST_TOKENS", 100)
        embed_all(ask(), [PROSE * 3] * 4)
        assert [len(body["input"]) for body in standin.sent(EMBEDDINGS)] == [4, 2, 2, 2]

    @pytest.mark.parametrize("dialect", ["openai", "vllm", "tei", "llama.cpp"])
    def test_a_server_that_takes_fewer_texts_is_asked_in_halves_and_the_setting_is_named(
        self, standin: EmbeddingsStandIn, ask: Asked, dialect: Any
    ) -> None:
        standin.dialect, standin.request_items = dialect, 3
        texts = [f"subject{'abcdefgh'[number]}" for number in range(8)]
        for text, vector in zip(texts, embed_all(ask(model=OWN, dimension=64), texts), strict=True):
            assert vector == pytest.approx(word_vector(text, 64), abs=1e-6)
        (note,) = ask.notes
        assert "refuses the request as too large" in note and "Lower embedding.openai.request_items" in note

    @pytest.mark.parametrize("dialect", ["openai", "vllm", "tei", "llama.cpp"])
    def test_a_text_that_is_too_long_is_shortened_with_a_notice(
        self, standin: EmbeddingsStandIn, ask: Asked, dialect: Any
    ) -> None:
        standin.dialect, standin.models = dialect, {OWN: Model(64, text_tokens=100)}
        long = PROSE * 30
        assert embed_all(ask(model=OWN, dimension=64), ["short", long, long]).shape == (3, 64)
        taken = [text for body in standin.taken(EMBEDDINGS) for text in body["input"]]
        assert taken[0] == "short" and all(long.startswith(text) and len(text) > 200 for text in taken[1:])
        assert sum("characters are embedded. Lower embedding.openai.text_tokens" in note for note in ask.notes) == 1

    def test_more_tokens_than_a_request_may_have_go_in_halves(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        standin.request_tokens = 100
        assert embed_all(ask(), [PROSE * 3] * 4).shape == (4, 1536)

    def test_more_tokens_than_an_account_has_in_a_minute_go_in_halves(
        self, standin: EmbeddingsStandIn, ask: Asked, time: FakeTime
    ) -> None:
        standin.account, standin.now = Account(tokens_per_minute=100), lambda: time.time
        assert embed_all(ask(), [PROSE * 3] * 4).shape == (4, 1536)

    def test_a_body_that_a_proxy_calls_too_large_goes_in_halves(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        standin.strike(EMBEDDINGS, Fault(413, body="<html>Request Entity Too Large</html>"))
        assert embed_all(ask(), ["one", "two"]).shape == (2, 1536)
        assert len(standin.requests) == 3

    def test_the_beginning_of_a_text_above_the_settings_limit_is_sent(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        embed_all(ask(text_tokens=20), [PROSE * 5, "short"])
        (body,) = standin.sent(EMBEDDINGS)
        assert PROSE.startswith(body["input"][0][:40]) and len(body["input"][0]) < 120 and body["input"][1] == "short"
        assert any("embedding.openai.text_tokens" in note for note in ask.notes)

    def test_a_server_that_takes_nothing_is_an_error_that_names_the_settings(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        standin.strike_always(EMBEDDINGS, Fault(413))
        with pytest.raises(RequestTooLargeError) as caught:
            embed_all(ask(), ["one"])
        assert "request_items or text_tokens" in caught.value.hint

    def test_a_request_that_is_wrong_in_another_way_is_not_sent_in_halves(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        standin.strike_always(EMBEDDINGS, Fault(400, "Value 7 for user is not supported."))
        with pytest.raises(ServiceError, match="Value 7 for user"):
            embed_all(ask(), ["one", "two", "three"])
        assert len(standin.requests) == 1


def without_last(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "data": answer["data"][:-1]}


def with_index(answer: dict[str, Any], index: Any) -> dict[str, Any]:
    answer["data"][-1]["index"] = index
    return answer


def with_vector(answer: dict[str, Any], vector: Any) -> dict[str, Any]:
    answer["data"][-1]["embedding"] = vector
    return answer


class TestFaults:
    @pytest.mark.parametrize(
        ("fault", "said", "tries"),
        [
            (Fault(503), "overloaded or failing (503)", 3),
            (Fault(429, retry_after="600"), "too many requests", 1),
            (Fault(200, body="<html>Log in</html>"), "cannot be read", 3),
            (Fault(200, body="[]"), "cannot be read", 3),
            (Fault(200, body='{"error": {"message": "no"}}'), "cannot be read", 3),
            (Fault(mode="alter", change=without_last), "1 vectors for 2 texts", 3),
            (Fault(mode="alter", change=lambda answer: with_index(answer, 0)), "2 vectors for 2 texts", 3),
            (Fault(mode="alter", change=lambda answer: with_index(answer, 7)), "2 vectors for 2 texts", 3),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, [float("nan")] * 64)), "not numbers", 3),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, [None] * 64)), "not numbers", 3),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, ["x"] * 64)), "not numbers", 3),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, "AAAA")), "length 4, 64 instead of 64", 1),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, 7)), "not numbers", 3),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, [0.0] * 64)), "no direction", 3),
            (Fault(mode="alter", change=lambda answer: with_vector(answer, [1.0] * 32)), "length 32, 64", 1),
        ],
    )
    def test_a_lasting_fault_is_a_sentence_and_one_that_passes_is_none(
        self, standin: EmbeddingsStandIn, ask: Asked, fault: Fault, said: str, tries: int
    ) -> None:
        standin.strike_always(EMBEDDINGS, fault)
        embedder = ask(model=OWN, dimension=64)
        with pytest.raises(ServiceError) as caught:
            embed_all(embedder, ["one", "two"])
        assert said in caught.value.message and "\n" not in caught.value.message
        assert len(standin.requests) == tries
        standin.recover()
        if tries > 1:
            standin.strike(EMBEDDINGS, fault)
        assert embed_all(embedder, ["one", "two"]).shape == (2, 64)

    def test_a_rate_limit_is_waited_for_as_the_service_says(
        self, standin: EmbeddingsStandIn, ask: Asked, time: FakeTime
    ) -> None:
        standin.now = lambda: time.time
        standin.account = Account(requests_per_minute=2)
        assert embed_all(ask(request_items=1), ["a", "b", "c"]).shape == (3, 1536)
        (wait,) = time.waits
        assert 50 < wait <= 60 and len(standin.requests) == 4
        assert any("too many requests" in note for note in ask.notes)

    def test_a_wrong_dimension_says_which_setting_mends_it(self, ask: Asked) -> None:
        with pytest.raises(ServiceError, match="length 64 instead of 768") as caught:
            embed_all(ask(model=OWN, dimension=768), ["one"])
        assert "embedding.openai.dimension" in caught.value.hint

    @pytest.mark.parametrize("dialect", ["openai", "vllm"])
    def test_a_model_that_makes_no_shorter_vectors_says_which_setting_mends_it(
        self, standin: EmbeddingsStandIn, ask: Asked, dialect: Any
    ) -> None:
        standin.dialect = dialect
        with pytest.raises(ServiceError, match="makes no vectors of length 32") as caught:
            embed_all(ask(model=OWN, shorten_to=32), ["one", "two"])
        assert "embedding.openai.shorten_to" in caught.value.hint and len(standin.requests) == 1

    def test_a_server_that_ignores_the_wish_for_shorter_vectors_is_noticed(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        change = lambda answer: with_vector(answer, [1.0] * 1536)  # noqa: E731
        standin.strike(EMBEDDINGS, Fault(mode="alter", change=change))
        with pytest.raises(ServiceError, match="length 1536 instead of 256") as caught:
            ask(shorten_to=256).embed_query("why?")
        assert "shorten_to" in caught.value.hint

    def test_a_slow_answer_ends_with_its_time(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        standin.strike_always(EMBEDDINGS, Fault(mode="slow"))
        embedder = ask(timeout_seconds=0.3)
        with pytest.raises(ServiceError, match=r"did not answer within 0\.3 s"):
            embedder.embed_query("why?")
        with pytest.raises(ServiceError, match=r"did not answer within 0\.3 s") as caught:
            embed_all(embedder, ["one"])
        assert "timeout_seconds" in caught.value.hint and "request_items" in caught.value.hint

    def test_after_three_failures_a_question_asks_no_more_for_a_while(
        self, standin: EmbeddingsStandIn, ask: Asked, time: FakeTime
    ) -> None:
        embedder = ask()
        standin.strike_always(EMBEDDINGS, Fault(503))
        for number in range(4):
            with pytest.raises(ServiceError):
                embedder.embed_query(f"question {number}")
        assert len(standin.requests) == 3 * (1 + len(QUERY_BACKOFF))
        standin.recover()
        time.clock.sleep(31)
        assert len(embedder.embed_query("at last")) == 1536

    def test_a_caller_who_has_gone_asks_nothing(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        with cancellable(lambda: True), pytest.raises(CallCancelledError):
            ask().embed_query("why?")
        assert not standin.requests


class TestCost:
    def test_what_is_estimated_is_what_the_service_counts(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        embedder: Any = ask(hosted=True, request_items=2)
        texts = [PROSE * number for number in range(1, 6)]
        cost = embedder.estimate(texts)
        assert not standin.requests
        embed_all(embedder, texts)
        assert cost.requests == embedder.spent().requests == standin.used_requests == 3
        assert embedder.spent().tokens == standin.used_tokens
        assert cost.tokens == pytest.approx(standin.used_tokens, rel=0.25)
        assert cost.usd == pytest.approx(cost.tokens * 0.02 / 1e6)

    def test_a_service_that_counts_nothing_is_counted_by_estimate(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        standin.strike(EMBEDDINGS, Fault(mode="alter", change=lambda answer: {**answer, "usage": None}))
        embedder: Any = ask(hosted=True)
        embed_all(embedder, [PROSE])
        assert embedder.spent().tokens == embedder.estimate([PROSE]).tokens > 0

    def test_nothing_is_spent_beyond_the_cap(self, standin: EmbeddingsStandIn, ask: Asked) -> None:
        with pytest.raises(CostCapError, match="cap") as caught:
            embed_all(ask(hosted=True, max_cost_usd=1e-9), [PROSE])
        assert "embedding.max_cost_usd" in caught.value.hint and not standin.requests

    def test_tokens_are_said_where_the_price_is_unknown_and_nothing_is_sent(
        self, standin: EmbeddingsStandIn, ask: Asked
    ) -> None:
        embedder: Any = ask(hosted=True, model=OWN, dimension=64)
        cost = embedder.estimate([PROSE])
        assert cost.tokens > 0 and cost.usd is None
        with pytest.raises(SettingsError, match=f"no price for {OWN}") as caught:
            embed_all(embedder, [PROSE])
        assert "embedding.usd_per_million_tokens" in caught.value.hint and not standin.requests

    def test_a_server_of_ones_own_costs_nothing(self, ask: Asked) -> None:
        embedder = ask(model=OWN, dimension=64, max_cost_usd=1e-9)
        assert not hasattr(embedder, "estimate") and embed_all(embedder, [PROSE]).shape == (1, 64)


class TestSettings:
    def test_the_variable_of_the_key_is_taken_for_no_setting(self, tmp_path: Path) -> None:
        # A variable that begins with the name of a section is refused as an unknown setting.
        assert KEY not in load_settings(user_file=tmp_path / "none.yaml").model_dump_json()

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"model": "nomic-embed-text"}, "dimension must be the length of the vectors of nomic-embed-text"),
            ({"dimension": 512}, "dimension is 1536 for text-embedding-3-small; shorten_to"),
            ({"shorten_to": 2000}, "shorten_to is at most the dimension, 1536"),
            ({"model": ADA, "shorten_to": 256}, "makes no shorter vectors"),
            ({"api_key": "x"}, "api_key"),
            ({"request_items": 2049}, "2048"),
        ],
    )
    def test_what_cannot_be_is_refused_in_a_sentence(self, values: dict[str, Any], said: str, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"embedding\.openai") as caught:
            load_settings({"embedding": {"openai": values}}, user_file=tmp_path / "none.yaml")
        assert said in caught.value.message
