"""The Gemini embedder against a stand-in of the API on this machine, by the wire contract of batchEmbedContents."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding.gemini import GeminiEmbedder
from adk_evidence.errors import ModelError
from adk_evidence.settings import GeminiSettings, load_settings
from adk_evidence.symbols.target_sets import make_target_embedder
from tests.clocks import FakeTime
from tests.corpora import embed_all

pytestmark = pytest.mark.slow

pytest.importorskip("google.genai")

KEY = "AIza-a-secret-key"
DIMENSION = 128


@dataclass
class Api:
    """What the stand-in does and what it was asked. Each entry of `failures` answers one request."""

    url: str = ""
    failures: list[tuple[int, str]] = field(default_factory=list)
    body: Callable[[dict[str, Any]], bytes] | None = None
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


def vector_of(text: str) -> list[float]:
    """Not of length 1, as the service's shortened vectors are not."""
    return [float(len(text) + 1), *([2.0] * (DIMENSION - 1))]


def embeddings(asked: dict[str, Any]) -> bytes:
    rows = [{"values": vector_of(one["content"]["parts"][0]["text"])} for one in asked["requests"]]
    return json.dumps({"embeddings": rows}).encode()


@pytest.fixture
def api() -> Iterator[Api]:
    state = Api()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, asked))
            code, status = state.failures.pop(0) if state.failures else (200, "")
            if code != 200:
                error = {"code": code, "message": f"refused {KEY}", "status": status}
                self.reply(code, json.dumps({"error": error}).encode())
            else:
                self.reply(200, (state.body or embeddings)(asked))

        def reply(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GEMINI_BASE_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def embedder(api: Api, **changes: Any) -> GeminiEmbedder:
    values = {
        "model": "gemini-embedding-001",
        "dimension": DIMENSION,
        "batch_size": 100,
        "timeout_seconds": 20,
        "max_attempts": 3,
        "base_url": api.url,
    }
    return GeminiEmbedder(GeminiSettings.model_validate({**values, **changes}), FakeTime().clock)


def test_documents_go_in_batches_with_model_task_and_dimension(api: Api) -> None:
    vectors = embed_all(embedder(api, batch_size=2), ["a", "bb", "ccc"])
    assert [len(asked["requests"]) for _, _, asked in api.requests] == [2, 1]
    path, headers, asked = api.requests[0]
    assert path.endswith("/models/gemini-embedding-001:batchEmbedContents")
    assert headers["x-goog-api-key"] == KEY
    for one, text in zip(asked["requests"], ("a", "bb"), strict=True):
        assert one["model"] == "models/gemini-embedding-001"
        assert one["content"]["parts"] == [{"text": text}]
        assert (one["taskType"], one["outputDimensionality"]) == ("RETRIEVAL_DOCUMENT", DIMENSION)
    assert vectors.shape == (3, DIMENSION) and np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_batches_are_handed_out_as_they_come(api: Api) -> None:
    batches = embedder(api, batch_size=2).iter_embed(["a", "b", "c"])
    assert next(batches)[0] == [0, 1] and len(api.requests) == 1


def test_a_question_is_embedded_as_one(api: Api) -> None:
    vector = embedder(api).embed_query("how to retry")
    assert api.requests[0][2]["requests"][0]["taskType"] == "RETRIEVAL_QUERY"
    expected = np.array(vector_of("how to retry"))
    assert vector == pytest.approx(list(expected / np.linalg.norm(expected)), abs=1e-6)


@pytest.mark.parametrize(("code", "status"), [(429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"), (500, "INTERNAL")])
def test_passing_failures_are_tried_again(api: Api, code: int, status: str) -> None:
    api.failures = [(code, status)] * 2
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
    api.failures = [(code, status)] * 10
    with pytest.raises(ModelError, match=said) as caught:
        embedder(api).embed_query("x")
    assert caught.value.hint and KEY not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize(
    "body",
    [
        b'{"embeddings": []}',
        b'{"embeddings": [{"values": [1.0, 2.0]}]}',
        b"{}",
        json.dumps({"embeddings": [{"values": [0.0] * DIMENSION}]}).encode(),
        b"<html>busy</html>",
    ],
)
def test_an_answer_that_makes_no_sense_is_a_sentence(api: Api, body: bytes) -> None:
    api.body = lambda asked: body
    with pytest.raises(ModelError):
        embedder(api).embed_query("x")


def test_a_service_that_is_away_is_a_sentence(api: Api) -> None:
    with pytest.raises(ModelError, match="did not answer"):
        embedder(api, base_url="http://127.0.0.1:9", max_attempts=1).embed_query("x")


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


@pytest.mark.parametrize("address", ["http://example.org", "ftp://127.0.0.1/", "http://127.0.0.1.example.org/"])
def test_the_key_goes_over_no_open_line(address: str) -> None:
    from adk_evidence.errors import SettingsError

    with pytest.raises(SettingsError, match="base_url"):
        load_settings({"embedding": {"gemini": {"base_url": address}}})


def test_the_settings_choose_it_for_targets(api: Api) -> None:
    settings = load_settings(
        {
            "targets": {"embedding": "gemini"},
            "embedding": {"gemini": {"base_url": api.url, "dimension": DIMENSION}},
        }
    )
    chosen = make_target_embedder(settings)
    assert chosen.model == f"gemini/gemini-embedding-001;dimension={DIMENSION}"
    assert len(chosen.embed_query("x")) == DIMENSION
