"""Voyage's embedders and reranker through the vendor's client: the stand-in or, with `-m live`, the service."""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding import voyage_tokens
from adk_evidence.embedding.voyage import VoyageCodeEmbedder, VoyageDocsEmbedder
from adk_evidence.errors import CostCapError, ModelError, ServiceError
from adk_evidence.search.question.query import normalise
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.voyage import VoyageReranker
from adk_evidence.services import eventloop
from adk_evidence.services.voyage import KEY_VARIABLE
from adk_evidence.text.tokens import estimate_tokens
from tests.core.factories import payload
from tests.corpora import embed_all
from tests.standins.json_service import Account, Fault, closed_port
from tests.standins.voyage import (
    CONTEXT,
    EMBED,
    KEY,
    RERANK,
    VoyageStandIn,
    contextual_vectors,
    count,
    word_vector,
)
from tests.voyage_place import VoyagePlace

pytestmark = pytest.mark.slow

DIMENSION = 256


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Iterator[VoyageStandIn]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with VoyageStandIn() as running:
        yield running


@dataclass
class Asked:
    """Embedders and reranker over one service."""

    place: VoyagePlace
    docs: VoyageDocsEmbedder
    code: VoyageCodeEmbedder
    reranker: VoyageReranker

    def close(self) -> None:
        self.docs.close()
        self.reranker.close()


def ask(root: Path, base_url: str | None, **overrides: Any) -> Asked:
    place = VoyagePlace(root, base_url, overrides=overrides)
    pair = place.dense()
    return Asked(place, pair.doc, pair.code, place.reranker())


@pytest.fixture
def asked(standin: VoyageStandIn, tmp_path: Path) -> Iterator[Asked]:
    asked = ask(tmp_path, standin.base_url)
    yield asked
    asked.close()


@pytest.fixture(params=["stand-in", pytest.param("live", marks=pytest.mark.live)])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Asked]:
    """The stand-in and, where it was asked for and there is a key, the service itself."""
    if request.param == "stand-in":
        yield request.getfixturevalue("asked")
        return
    if "live" not in request.config.option.markexpr:
        pytest.skip("costs money: `npm run test:live`")
    if not os.environ.get(KEY_VARIABLE):
        pytest.skip(f"NOT RUN: {KEY_VARIABLE} is not set")
    asked = ask(tmp_path, None)
    yield asked
    asked.close()


def documents(*bodies: str, **changes: Any) -> list[RerankDocument]:
    return [RerankDocument(payload(body=body, path=f"docs/{n}.md"), 1200, **changes) for n, body in enumerate(bodies)]


class TestAnywhere:
    """What holds for the service as for its stand-in."""

    def test_texts_that_are_alike_have_vectors_that_are_alike(self, anywhere: Asked) -> None:
        texts = ["def retry(tool): return tool()", "class Session: state = {}"]
        vectors = embed_all(anywhere.code, texts)
        assert vectors.shape == (2, DIMENSION)
        question = np.array(anywhere.code.embed_query("retry a tool"))
        assert len(question) == DIMENSION
        assert question @ vectors[0] > question @ vectors[1]

    def test_a_chunks_vector_knows_its_surroundings(self, anywhere: Asked) -> None:
        chunks = ["Wait longer after each failure.", "Tools that throw are called again."]
        together, alone = embed_all(anywhere.docs, chunks), embed_all(anywhere.docs, chunks[:1])
        assert together.shape == (2, DIMENSION)
        assert together[0] @ alone[0] < 0.999
        assert len(anywhere.docs.embed_query("when is a tool called again?")) == DIMENSION

    def test_the_document_that_answers_scores_highest(self, anywhere: Asked) -> None:
        given = documents("Sessions keep state.", "A tool that throws is called again by the retry plugin.", "Logging.")
        scores = anywhere.reranker.rerank(normalise("retry a tool that throws"), "build", given)
        assert max(scores) == scores[1]

    def test_tokens_are_counted_as_the_service_counts_them(self, anywhere: Asked) -> None:
        texts = ["def retry(tool): return tool()" * 20, "class Session: state = {}" * 20]
        estimated = anywhere.code.estimate(texts)
        embed_all(anywhere.code, texts)
        spent = anywhere.code.spent()
        assert spent.requests == estimated.requests == 1
        # An estimate without the model's tokeniser.
        exact = voyage_tokens.counter("voyage-code-3") == "tokenizer" and anywhere.place.base_url is None
        assert estimated.tokens == pytest.approx(spent.tokens, rel=0.05 if exact else 0.25)


class TestWire:
    def test_a_request_says_what_the_specification_says(self, standin: VoyageStandIn, asked: Asked) -> None:
        embed_all(asked.code, ["def a(): ..."])
        embed_all(asked.docs, ["one", "two"])
        asked.docs.embed_query("why?")
        asked.code.embed_query("why?")
        common = {"output_dtype": "float", "output_dimension": DIMENSION, "encoding_format": "base64"}
        code, code_query = standin.sent(EMBED)
        assert code == {
            "input": ["def a(): ..."], "model": "voyage-code-3", "input_type": "document", "truncation": True, **common
        }  # fmt: skip
        docs, docs_query = standin.sent(CONTEXT)
        assert docs == {"inputs": [["one", "two"]], "model": "voyage-context-3", "input_type": "document", **common}
        assert (docs_query["inputs"], docs_query["input_type"]) == ([["why?"]], "query")
        assert (code_query["input"], code_query["input_type"]) == (["why?"], "query")
        assert {headers["Authorization"] for headers in standin.headers} == {f"Bearer {KEY}"}

    def test_code_is_cut_into_requests_by_items_characters_and_tokens(
        self, standin: VoyageStandIn, tmp_path: Path
    ) -> None:
        texts = [f"word{number} " * 100 for number in range(6)]
        for limits, sizes in (
            ({"voyage_dense_max_items": 4}, [4, 2]),
            ({"voyage_dense_max_chars_total": 2000}, [3, 3]),
        ):
            standin.requests.clear()
            asked = ask(tmp_path, standin.base_url, ingestion={"batching": limits})
            vectors = embed_all(asked.code, texts)
            asked.close()
            assert [len(body["input"]) for body in standin.sent(EMBED)] == sizes
            for text, vector in zip(texts, vectors, strict=True):
                assert vector == pytest.approx(word_vector(text, DIMENSION), abs=1e-6)
        asked = ask(tmp_path, standin.base_url, embedding={"voyage": {"tokens_per_minute": 1200}})
        assert asked.code.estimate(["word " * 450] * 6).requests == 3

    def test_a_long_files_vectors_come_from_their_most_central_batch(
        self, standin: VoyageStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("adk_evidence.embedding.voyage.CONTEXT_OVERLAP_CHUNKS", 2)
        batching = {"voyage_dense_max_items": 5}
        asked = ask(tmp_path, standin.base_url, ingestion={"batching": batching})
        chunks = [f"chunk about subject{'abcdefgh'[number]}" for number in range(8)]
        vectors = embed_all(asked.docs, chunks)
        asked.close()
        first, second = contextual_vectors(chunks[:5], DIMENSION), contextual_vectors(chunks[3:], DIMENSION)
        for vector, expected in zip(vectors, [*first[:4], *second[1:]], strict=True):
            assert vector == pytest.approx(expected, abs=1e-6)

    def test_several_files_share_a_request_without_sharing_a_context(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        batches = [*asked.docs.context_batches(["a b", "c d"]), *asked.docs.context_batches(["e f"])]
        (found,) = list(asked.docs.iter_embed_contexts(batches))
        assert standin.sent(CONTEXT)[0]["inputs"] == [["a b", "c d"], ["e f"]]
        assert found[0] == [0, 1]
        assert found[1][1][0] == pytest.approx(word_vector("e f", DIMENSION), abs=1e-6)

    def test_a_lone_surrogate_does_not_stop_a_request(self, asked: Asked) -> None:
        assert embed_all(asked.code, ["a \ud800 b"]).shape == (1, DIMENSION)


def numbers(count: int) -> str:
    """A text of numbers, as of a table, with this many lines."""
    return "\n".join(" ".join(str(7_919 * line * row % 100_003) for row in range(1, 9)) for line in range(count))


def many_chunks(count: int, lines: int = 20) -> list[str]:
    return [f"Chunk {number} of the page.\n{numbers(lines)}" for number in range(count)]


class TestSizes:
    """The stand-in counts tokens in a way of its own, and takes no request above the documented limits."""

    @pytest.mark.parametrize(
        "text",
        [
            numbers(60),
            "\n".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(60)),
            base64.encodebytes(b"".join(hashlib.sha256(bytes([n])).digest() for n in range(80))).decode(),
            "漢字仮名交じり文。" * 200,
            "| --- | :---: | --- |\n" * 100,
            "An agent answers a person and calls tools, one after the other. " * 50,
        ],
        ids=["numbers", "hexadecimal", "base64", "CJK", "table", "prose"],
    )
    def test_no_request_is_refused_whatever_the_files_hold(
        self, standin: VoyageStandIn, asked: Asked, text: str
    ) -> None:
        texts = [f"{number}\n{text}" for number in range(60)]
        batches = [batch for text in texts for batch in asked.docs.context_batches([text, text])]
        assert sum(len(found) for _, found in asked.docs.iter_embed_contexts(batches)) == len(batches)
        embed_all(asked.code, texts)
        assert not standin.refused
        assert standin.used["voyage-context-3"].requests > 1

    def test_all_files_of_a_contextualised_request_have_32000_tokens_together(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        page = many_chunks(80)
        batches = [batch for _ in range(3) for batch in asked.docs.context_batches(page)]
        list(asked.docs.iter_embed_contexts(batches))
        sent = [sum(count(text) for texts in body["inputs"] for text in texts) for body in standin.sent(CONTEXT)]
        assert max(sent) <= 32_000 and not standin.refused

    def test_a_service_that_takes_less_is_asked_in_halves(self, standin: VoyageStandIn, asked: Asked) -> None:
        standin.limits = {"voyage-context-3": 6_000, "voyage-code-3": 6_000, "rerank-2.5": 6_000}
        files = [[f"About subject{'abcdefgh'[n]}.", numbers(20)] for n in range(8)]
        batches = [batch for texts in files for batch in asked.docs.context_batches(texts)]
        found = dict(
            pair
            for positions, vectors in asked.docs.iter_embed_contexts(batches)
            for pair in zip(positions, vectors, strict=True)
        )
        assert standin.refused and sorted(found) == list(range(8))
        for number, texts in enumerate(files):
            for vector, expected in zip(found[number], contextual_vectors(texts, DIMENSION), strict=True):
                assert vector == pytest.approx(expected, abs=1e-6)
        texts = [f"def step{number}(): return {number}\n{numbers(20)}" for number in range(8)]
        for text, vector in zip(texts, embed_all(asked.code, texts), strict=True):
            assert vector == pytest.approx(word_vector(text, DIMENSION), abs=1e-6)
        ranked = asked.reranker.rerank(normalise("alpha"), "build", documents("no " + numbers(20), *["alpha"] * 9))
        assert len(ranked) == 10 and ranked[0] < ranked[9]

    def test_a_page_that_alone_is_too_large_goes_in_groups_of_chunks(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        standin.limits = {"voyage-context-3": 6_000}
        chunks = many_chunks(12)
        vectors = embed_all(asked.docs, chunks)
        taken = [texts for body in standin.taken(CONTEXT) for texts in body["inputs"]]
        assert [text for texts in taken for text in texts] == chunks
        expected = [row for texts in taken for row in contextual_vectors(texts, DIMENSION)]
        for vector, row in zip(vectors, expected, strict=True):
            assert vector == pytest.approx(row, abs=1e-6)

    def test_a_chunk_that_alone_is_too_large_is_shortened_with_a_notice(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        text = f"An opening. {numbers(900)}"
        assert embed_all(asked.docs, ["Before.", text, "After."]).shape == (3, DIMENSION)
        assert any(text.startswith(sent) for body in standin.taken(CONTEXT) for (sent, *_) in body["inputs"])
        assert any("first" in note and "characters are embedded" in note for note in asked.place.notes)

    def test_a_request_that_is_wrong_in_another_way_is_not_sent_in_halves(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        standin.strike_always(EMBED, Fault(400, "Value 7 for output_dimension is not supported."))
        with pytest.raises(ServiceError, match="output_dimension"):
            embed_all(asked.code, ["one", "two", "three", "four"])
        assert len(standin.sent(EMBED)) == 1


class TestReranking:
    def test_the_question_is_wrapped_and_each_document_says_where_it_is_from(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        asked.reranker.rerank(normalise("why?"), "debug", documents("text"))
        (body,) = standin.sent(RERANK)
        assert body["model"] == "rerank-2.5" and body["truncation"] is True and body["top_k"] is None
        assert body["query"].startswith("You are ranking evidence to help implement a correct solution")
        assert body["query"].endswith("Question: why?")
        assert body["documents"][0].startswith("SOURCE: docs\nREPO: google/adk-docs\nREF: abc\nLOC: https://adk.dev/")

    def test_a_long_body_is_trimmed_and_its_header_stays(self, standin: VoyageStandIn, asked: Asked) -> None:
        asked.reranker.rerank(normalise("why?"), "build", documents("word " * 5000))
        (text,) = standin.sent(RERANK)[0]["documents"]
        header, _, body = text.partition("\n\n")
        assert header.startswith("SOURCE: docs") and "CHUNK: " in header
        assert 1150 < estimate_tokens(body) <= 1200

    def test_scores_are_mapped_back_by_index(self, asked: Asked) -> None:
        given = documents("alpha", "alpha beta gamma", "nothing", "alpha beta")
        found = asked.reranker.rerank(normalise("alpha beta gamma"), "build", given)
        order = sorted(range(4), key=lambda position: -found[position])
        assert order == [1, 3, 0, 2]

    def test_180_candidates_are_one_request(self, standin: VoyageStandIn, asked: Asked) -> None:
        asked.reranker.rerank(normalise("word"), "build", documents(*["word " * 1500] * 180))
        assert [len(body["documents"]) for body in standin.sent(RERANK)] == [180]

    def test_what_would_exceed_600000_tokens_goes_in_batches(self, standin: VoyageStandIn, asked: Asked) -> None:
        # The question counts once for each document.
        query = normalise("a long question " * 1700)
        asked.reranker.rerank(query, "build", documents(*["word " * 1500] * 70))
        sizes = [len(body["documents"]) for body in standin.sent(RERANK)]
        assert sum(sizes) == 70 and len(sizes) > 1 and max(sizes) <= 60

    def test_the_same_question_and_candidates_are_asked_once(self, standin: VoyageStandIn, asked: Asked) -> None:
        given = documents("alpha", "beta")
        first = asked.reranker.rerank(normalise("alpha"), "build", given)
        assert asked.reranker.rerank(normalise("alpha"), "build", given) == first
        assert len(standin.sent(RERANK)) == 1
        asked.reranker.rerank(normalise("beta"), "build", given)
        asked.reranker.rerank(normalise("alpha"), "debug", given)
        asked.reranker.rerank(normalise("alpha"), "build", given[::-1])
        assert len(standin.sent(RERANK)) == 4

    def test_no_candidates_ask_nothing(self, standin: VoyageStandIn, asked: Asked) -> None:
        assert asked.reranker.rerank(normalise("q"), "build", []) == []
        assert not standin.requests


class TestLimits:
    def test_requests_keep_below_the_accounts_rate(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv(KEY_VARIABLE, KEY)
        limits = {"requests_per_minute": 3, "tokens_per_minute": 10_000}
        batching = {"voyage_dense_max_items": 1}
        place = VoyagePlace(
            tmp_path, None, overrides={"embedding": {"voyage": limits}, "ingestion": {"batching": batching}}
        )
        with VoyageStandIn(account=Account(**limits), now=lambda: place.time.time) as standin:
            place = VoyagePlace(tmp_path, standin.base_url, place.time, place.overrides)
            embedder = place.dense().code
            embed_all(embedder, [f"text {number}" for number in range(7)])
            embedder.close()
        assert standin.used["voyage-code-3"].requests == 7
        assert place.time.waited >= 60
        assert not place.notes, "the service had to refuse a request"

    def test_a_question_does_not_wait_for_a_rate_beyond_its_time(self, standin: VoyageStandIn, tmp_path: Path) -> None:
        asked = ask(tmp_path, standin.base_url, embedding={"voyage": {"requests_per_minute": 1}})
        asked.code.embed_query("one")
        with pytest.raises(ServiceError, match="rate limit of voyage-code-3"):
            asked.code.embed_query("two")
        assert asked.place.time.waited == 0
        asked.close()

    def test_nothing_is_spent_beyond_the_cap(self, standin: VoyageStandIn, tmp_path: Path) -> None:
        asked = ask(tmp_path, standin.base_url, embedding={"max_cost_usd": 0.0001})
        with pytest.raises(CostCapError, match="cap"):
            embed_all(asked.code, ["word " * 800])
        assert not standin.requests
        asked.close()

    def test_an_answer_that_cannot_be_used_counts_as_paid(self, standin: VoyageStandIn, asked: Asked) -> None:
        standin.strike(EMBED, Fault(mode="alter", change=lambda answer: {**answer, "data": answer["data"][1:]}))
        embed_all(asked.code, ["one", "two"])
        assert asked.code.spent().requests == standin.used["voyage-code-3"].requests == 2
        assert asked.code.spent().tokens == standin.used["voyage-code-3"].tokens

    def test_a_slow_answer_ends_with_the_questions_time(
        self, standin: VoyageStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("adk_evidence.services.voyage.QUERY_SECONDS", 0.2)
        asked = ask(tmp_path, standin.base_url)
        standin.strike(EMBED, Fault(mode="slow"))
        with pytest.raises(ServiceError, match=r"did not answer within 0\.2 s"):
            asked.code.embed_query("why?")
        asked.close()


def with_less(answer: dict[str, Any]) -> dict[str, Any]:
    """One vector or score is missing."""
    return {**answer, "data": answer["data"][1:]}


def with_short_vectors(answer: dict[str, Any]) -> dict[str, Any]:
    half = base64.b64decode(answer["data"][0]["embedding"])[: 2 * DIMENSION]
    answer["data"][0]["embedding"] = base64.b64encode(half).decode()
    return answer


def with_another_index(answer: dict[str, Any]) -> dict[str, Any]:
    answer["data"][0]["index"] += 7
    return answer


class TestFaults:
    @pytest.mark.parametrize(
        ("fault", "said", "tries"),
        [
            (Fault(429), "too many requests were sent (429)", 3),
            (Fault(429, retry_after="7"), "too many requests were sent (429)", 2),
            (Fault(429, retry_after="600"), "too many requests were sent (429)", 1),
            (Fault(500), "overloaded or failing (500)", 3),
            (Fault(502, body="<html>Bad gateway</html>"), "overloaded or failing (502)", 3),
            (Fault(401), "does not accept the key in VOYAGE_API_KEY", 1),
            (Fault(403), "refuses the request (403)", 1),
            (Fault(404, None), "refuses the request (404)", 1),
            (Fault(200, body="<html>Log in</html>"), "its client cannot read", 3),
            (Fault(200, body='{"data": [{"embedding": "AAA"}]}'), "its client cannot read", 3),
            (Fault(mode="reset"), "connection broke", 3),
            (Fault(mode="alter", change=with_less), "0 vectors for 1 texts", 3),
            (Fault(mode="alter", change=with_short_vectors), "length 128 instead of 256", 1),
        ],
    )
    def test_a_lasting_fault_is_a_sentence_and_one_that_passes_is_none(
        self, standin: VoyageStandIn, asked: Asked, fault: Fault, said: str, tries: int
    ) -> None:
        standin.strike_always(EMBED, fault)
        with pytest.raises(ServiceError) as caught:
            asked.code.embed_query("why?")
        assert said in caught.value.message and "\n" not in caught.value.message
        assert len(standin.requests) == tries
        standin.recover()
        if tries > 1:
            standin.strike(EMBED, fault)
        assert len(asked.code.embed_query("why?")) == DIMENSION

    @pytest.mark.parametrize("change", [with_less, with_another_index])
    def test_scores_that_do_not_fit_the_documents_are_asked_for_again(
        self, standin: VoyageStandIn, asked: Asked, change: Any
    ) -> None:
        standin.strike(RERANK, Fault(mode="alter", change=change))
        assert len(asked.reranker.rerank(normalise("alpha"), "build", documents("alpha", "beta"))) == 2
        assert len(standin.requests) == 2

    def test_after_three_failures_a_question_asks_no_more_for_a_while(
        self, standin: VoyageStandIn, asked: Asked
    ) -> None:
        standin.strike_always(EMBED, Fault(503))
        for number in range(4):
            with pytest.raises(ServiceError):
                asked.code.embed_query(f"question {number}")
        assert len(standin.requests) == 9

    def test_an_ingestion_waits_longer(self, standin: VoyageStandIn, asked: Asked) -> None:
        standin.strike_always(EMBED, Fault(503))
        with pytest.raises(ServiceError, match="overloaded"):
            embed_all(asked.code, ["one"])
        assert len(standin.requests) == 7 and 63 <= asked.place.time.waited < 80


class TestKey:
    def test_without_a_key_nothing_is_sent(
        self, standin: VoyageStandIn, asked: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(KEY_VARIABLE)
        with pytest.raises(ModelError, match="VOYAGE_API_KEY is not set"):
            asked.code.embed_query("why?")
        assert not standin.requests

    def test_a_key_in_a_file_does_not_take_its_place(
        self, standin: VoyageStandIn, asked: Asked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "key").write_text("pa-another-key")
        monkeypatch.setenv("VOYAGE_API_KEY_PATH", str(tmp_path / "key"))
        asked.code.embed_query("why?")
        assert standin.headers[0]["Authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize("status", [400, 401, 403, 413, 422, 429, 500, 503])
    def test_an_answer_that_repeats_the_key_does_not_pass_it_on(
        self, standin: VoyageStandIn, asked: Asked, status: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, logger="adk_evidence")
        standin.strike_always(EMBED, Fault(status, f"Your key {KEY} (Bearer {KEY}) is at fault."))
        with pytest.raises(ServiceError) as caught:
            asked.code.embed_query("why?")
        shown = f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caplog.text}"
        assert KEY not in shown
        assert "\n" not in caught.value.message


def test_first_requests_from_several_threads_share_one_loop(
    standin: VoyageStandIn, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventloop, "_loop_in_use", None)
    together = threading.Barrier(4)

    def first(number: int) -> int:
        together.wait()
        return len(asked.code.embed_query(f"question {number}"))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first, range(4))) == [DIMENSION] * 4


def test_without_the_client_it_says_how_to_install_it(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "voyageai", None)
    with pytest.raises(ServiceError, match="not installed") as caught:
        asked.code.embed_query("why?")
    assert "adk-evidence[voyage]" in caught.value.hint


def test_a_refused_connection_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with closed_port() as address:
        asked = ask(tmp_path, address)
        with pytest.raises(ServiceError, match="cannot be reached"):
            asked.code.embed_query("why?")
        asked.close()


def test_the_tokeniser_is_used_where_the_hubs_cache_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tests.onnx_models import write_splade

    write_splade(tmp_path, ["alpha", "beta"])
    voyage_tokens._tokenizer.cache_clear()
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: str(tmp_path / "tokenizer.json"))
    try:
        assert voyage_tokens.counter("voyage-code-3") == "tokenizer"
        assert voyage_tokens.count_tokens("alpha beta alpha", "voyage-code-3") == 3
    finally:
        voyage_tokens._tokenizer.cache_clear()
