"""The Gemini embedder against a stand-in of the API on this machine, by the wire contract of batchEmbedContents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding import gemini
from adk_evidence.embedding.gemini import GeminiEmbedder
from adk_evidence.errors import ModelError
from adk_evidence.settings import GeminiSettings, load_settings
from adk_evidence.targets.about import make_target_embedder
from tests.clocks import FakeTime
from tests.corpora import embed_all
from tests.standins.json_service import Fault, JsonStandIn

pytestmark = pytest.mark.slow

pytest.importorskip("google.genai")

KEY = "AIza-a-secret-key"
DIMENSION = 128
EMBED = "/models/gemini-embedding-001:batchEmbedContents"


def vector_of(text: str) -> list[float]:
    """Not of length 1, as the service's shortened vectors are not."""
    return [float(len(text) + 1), *([2.0] * (DIMENSION - 1))]


class Api(JsonStandIn):
    """`batchEmbedContents` of one model, in whatever version of the API the client asks for."""

    endpoints = (EMBED,)

    def checked(self, path: str, headers: Any, raw: bytes) -> dict[str, Any]:
        asked = json.loads(raw)["requests"]
        return {"embeddings": [{"values": vector_of(one["content"]["parts"][0]["text"])} for one in asked]}

    def asked(self) -> list[list[dict[str, Any]]]:
        """What was asked, a list for each request."""
        return [body["requests"] for path, body in self.requests if path.endswith(EMBED)]

    def _next_fault(self, path: str) -> Fault | None:
        return super()._next_fault(EMBED)


def refusal(code: int, status: str) -> Fault:
    return Fault(code, body=json.dumps({"error": {"code": code, "message": f"refused {KEY}", "status": status}}))


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GEMINI_BASE_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(gemini, "MAX_ATTEMPTS", 3)
    monkeypatch.setattr(gemini, "BATCH_SIZE", 2)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def embedder(api: Api, **changes: Any) -> GeminiEmbedder:
    values = {
        "model": "gemini-embedding-001",
        "dimension": DIMENSION,
        "base_url": api.base_url.removesuffix("/v1"),
    }
    return GeminiEmbedder(GeminiSettings.model_validate({**values, **changes}), FakeTime().clock)


def test_documents_go_in_batches_with_model_task_and_dimension(api: Api) -> None:
    vectors = embed_all(embedder(api), ["a", "bb", "ccc"])
    first, second = api.asked()
    assert len(second) == 1
    assert {name.lower(): value for name, value in api.headers[0].items()}["x-goog-api-key"] == KEY
    for one, text in zip(first, ("a", "bb"), strict=True):
        assert one["model"] == "models/gemini-embedding-001"
        assert one["content"]["parts"] == [{"text": text}]
        assert (one["taskType"], one["outputDimensionality"]) == ("RETRIEVAL_DOCUMENT", DIMENSION)
    assert vectors.shape == (3, DIMENSION) and np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_batches_are_handed_out_as_they_come(api: Api) -> None:
    batches = embedder(api).iter_embed(["a", "b", "c"])
    assert next(batches)[0] == [0, 1] and len(api.requests) == 1


def test_a_question_is_embedded_as_one(api: Api) -> None:
    vector = embedder(api).embed_query("how to retry")
    assert api.asked()[0][0]["taskType"] == "RETRIEVAL_QUERY"
    expected = np.array(vector_of("how to retry"))
    assert vector == pytest.approx(list(expected / np.linalg.norm(expected)), abs=1e-6)


@pytest.mark.parametrize(("code", "status"), [(429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"), (500, "INTERNAL")])
def test_passing_failures_are_tried_again(api: Api, code: int, status: str) -> None:
    api.strike(EMBED, *[refusal(code, status)] * 2)
    assert len(embedder(api).embed_query("x")) == DIMENSION
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        (429, "RESOURCE_EXHAUSTED", "quota"),
        (503, "UNAVAILABLE", "failed"),
        (400, "INVALID_ARGUMENT", "refused"),
        (401, "UNAUTHENTICATED", "refused"),
        (403, "PERMISSION_DENIED", "refused"),
        (404, "NOT_FOUND", "no model"),
    ],
)
def test_a_refusal_is_a_sentence_without_the_key(api: Api, code: int, status: str, said: str) -> None:
    api.strike_always(EMBED, refusal(code, status))
    with pytest.raises(ModelError, match=said) as caught:
        embedder(api).embed_query("x")
    assert caught.value.hint and KEY not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize(
    "body",
    [
        '{"embeddings": []}',
        '{"embeddings": [{"values": [1.0, 2.0]}]}',
        "{}",
        json.dumps({"embeddings": [{"values": [0.0] * DIMENSION}]}),
        "<html>busy</html>",
    ],
)
def test_an_answer_that_makes_no_sense_is_a_sentence(api: Api, body: str) -> None:
    api.strike_always(EMBED, Fault(body=body))
    with pytest.raises(ModelError):
        embedder(api).embed_query("x")


def test_a_service_that_is_away_is_a_sentence(api: Api) -> None:
    with pytest.raises(ModelError, match="did not answer"):
        embedder(api, base_url="http://127.0.0.1:9").embed_query("x")


def test_without_a_key_there_is_a_sentence_and_no_request(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    with pytest.raises(ModelError, match="no key") as caught:
        embedder(api).embed_query("x")
    assert "GEMINI_API_KEY or GOOGLE_API_KEY" in caught.value.hint and not api.requests


def test_an_environment_of_vertex_changes_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    assert len(embedder(api).embed_query("x")) == DIMENSION


def test_without_the_extra_there_is_a_sentence(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "google.genai", None)
    monkeypatch.delattr("google.genai", raising=False)
    with pytest.raises(ModelError, match="not installed") as caught:
        embedder(api).embed_query("x")
    assert "[gemini]" in caught.value.hint


def test_the_settings_choose_it_for_targets(api: Api) -> None:
    settings = load_settings(
        {
            "targets": {"embedding": "gemini"},
            "embedding": {"gemini": {"base_url": api.base_url.removesuffix("/v1"), "dimension": DIMENSION}},
        }
    )
    chosen = make_target_embedder(settings)
    assert chosen.model == f"gemini/gemini-embedding-001;dimension={DIMENSION}"
    assert len(chosen.embed_query("x")) == DIMENSION
