"""The HTTP client of services with OpenAI's interface: refusals, time-outs, keys and addresses."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.errors import ServiceError, SettingsError
from adk_evidence.services.embeddings import EMBEDDINGS as NAMED
from adk_evidence.services.embeddings import KEY_VARIABLES
from adk_evidence.services.openai_api import OpenAiApi, is_own_server
from adk_evidence.services.resilience import TransientError
from adk_evidence.settings import OpenAiServiceSettings, load_settings
from tests.standins.embeddings import EMBEDDINGS, KEY, SMALL, EmbeddingsStandIn
from tests.standins.json_service import Fault, closed_port

pytestmark = pytest.mark.slow

SPENT = json.dumps({"error": {"message": "Pay first.", "type": "insufficient_quota", "code": None}})


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLES[0], KEY)
    monkeypatch.delenv(KEY_VARIABLES[1], raising=False)


@pytest.fixture
def standin() -> Iterator[EmbeddingsStandIn]:
    with EmbeddingsStandIn() as running:
        yield running


Ask = Callable[..., ServiceError | None]


@pytest.fixture
def ask(standin: EmbeddingsStandIn) -> Iterator[Ask]:
    """Sends one request; what comes back is the failure, if it is one."""
    made: list[OpenAiApi] = []

    def ask(base_url: str = "", model: str = SMALL, seconds: float = 10) -> ServiceError | None:
        settings = OpenAiServiceSettings(base_url=base_url or standin.base_url, model=model, timeout_seconds=seconds)
        made.append(OpenAiApi(settings, NAMED))
        try:
            answer = made[-1].post("embeddings", {"model": model, "input": ["one"]}, seconds)
        except ServiceError as exc:
            return exc
        return None if answer.status_code == 200 else made[-1].refused(answer)

    yield ask
    for api in made:
        api.close()


def failure(found: ServiceError | None, said: str, hint: str = "") -> ServiceError:
    assert found is not None and said in found.message and "\n" not in found.message
    assert hint in found.hint
    return found


class TestFailures:
    @pytest.mark.parametrize(
        ("fault", "said", "is_transient"),
        [
            (Fault(400, "No such parameter."), "refuses the request (400): No such parameter.", False),
            (
                Fault(400, body='{"error": "The model is busy."}'),
                "refuses the request (400): The model is busy.",
                False,
            ),
            (Fault(400, body="[]"), "refuses the request (400).", False),
            (Fault(302, None), "refuses the request (302).", False),
            (Fault(401), "does not accept the key in ADK_EVIDENCE_EMBEDDINGS_API_KEY", False),
            (Fault(403), "does not accept the key in ADK_EVIDENCE_EMBEDDINGS_API_KEY", False),
            (Fault(402, None), "quota is used up (402)", False),
            (Fault(429, body=SPENT), "quota is used up (429)", False),
            (Fault(404), "refuses the request (404)", False),
            (Fault(404, f"There is no {SMALL} here."), f"has no model {SMALL}", False),
            (Fault(408), "overloaded or failing (408)", True),
            (Fault(429), "too many requests were sent (429)", True),
            (Fault(500, None), "overloaded or failing (500)", True),
            (Fault(502, body="<html>Bad gateway</html>"), "overloaded or failing (502)", True),
            (Fault(mode="reset"), "cannot be reached, or the connection broke", True),
            (Fault(mode="slow"), "did not answer within 0.3 s", True),
        ],
    )
    def test_what_goes_wrong_is_a_sentence_and_some_of_it_may_pass(
        self, standin: EmbeddingsStandIn, ask: Ask, fault: Fault, said: str, is_transient: bool
    ) -> None:
        standin.strike(EMBEDDINGS, fault)
        found = failure(ask(seconds=0.3 if fault.mode == "slow" else 10), said)
        assert isinstance(found, TransientError) is is_transient
        assert ask() is None

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"Retry-After": "7"}, 7),
            ({"Retry-After": "soon"}, None),
            ({"x-ratelimit-reset-tokens": "1m0s"}, 60),
            ({"x-ratelimit-reset-tokens": "2.5s"}, 2.5),
            ({"x-ratelimit-reset-tokens": "500ms"}, 0.5),
            # So long, the limit has room long before it is as new.
            ({"x-ratelimit-reset-tokens": "1h2m3s"}, None),
            ({"x-ratelimit-reset-tokens": "soon"}, None),
            ({}, None),
        ],
    )
    def test_a_rate_limit_says_how_long_to_wait(
        self, standin: EmbeddingsStandIn, ask: Ask, headers: dict[str, str], seconds: float | None
    ) -> None:
        standin.strike(EMBEDDINGS, Fault(429, headers={"x-ratelimit-remaining-tokens": "0", **headers}))
        found = ask()
        assert isinstance(found, TransientError) and found.retry_after == seconds

    @pytest.mark.parametrize("dialect", ["openai", "vllm"])
    def test_an_unknown_model_is_named_with_its_setting(
        self, standin: EmbeddingsStandIn, ask: Ask, dialect: Any
    ) -> None:
        standin.dialect = dialect
        failure(ask(model="nomic"), "has no model nomic", "Change embedding.openai.model.")

    def test_an_address_without_the_interface_is_named_with_its_setting(
        self, standin: EmbeddingsStandIn, ask: Ask
    ) -> None:
        failure(ask(standin.base_url.removesuffix("/v1")), "(404)", "base_url")

    def test_a_refused_connection_is_named_with_its_setting(self, ask: Ask) -> None:
        with closed_port() as address:
            failure(ask(address), "cannot be reached", "embedding.openai.base_url")

    def test_a_fault_of_our_own_is_not_said_to_be_the_services(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        async def faulty(self: OpenAiApi, path: str, body: object, seconds: float) -> None:
            raise AttributeError("a fault of the program")

        monkeypatch.setattr(OpenAiApi, "_send", faulty)
        with pytest.raises(AttributeError, match="a fault of the program"):
            ask()

    def test_a_proxy_that_cannot_be_used_is_named_as_the_cause(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "nonsense://proxy")
        failure(ask("https://service.invalid/v1"), "proxy that the environment names", "HTTPS_PROXY")

    def test_a_proxy_does_not_get_what_is_meant_for_this_machine(
        self, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert ask() is None


class TestKey:
    @pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500])
    def test_an_answer_that_repeats_the_key_does_not_pass_it_on(
        self, standin: EmbeddingsStandIn, ask: Ask, status: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        standin.strike(EMBEDDINGS, Fault(status, f"Your key {KEY} (Bearer {KEY}) is at fault."))
        found = failure(ask(), f"({status})" if status not in (401, 403) else "the key in")
        assert KEY not in f"{found} {found!r} {found.__cause__!r} {found.hint} {caplog.text}"

    def test_a_missing_key_is_named_and_a_server_without_keys_needs_none(
        self, standin: EmbeddingsStandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(KEY_VARIABLES[0])
        failure(ask(), "wants a key", "Set ADK_EVIDENCE_EMBEDDINGS_API_KEY.")
        standin.keys = set()
        assert ask() is None and "Authorization" not in standin.headers[-1]

    def test_the_key_of_openai_goes_to_openai_alone(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(KEY_VARIABLES[0])
        monkeypatch.setenv(KEY_VARIABLES[1], KEY)
        failure(ask(), "wants a key")
        assert NAMED.at("https://api.openai.com/v1").has_key()
        for address in (
            "https://api.openai.com.example.org/v1",
            "https://example.org/api.openai.com",
            "http://localhost",
        ):
            assert not NAMED.at(address).has_key()

    @pytest.mark.parametrize("key", ["sk-one\nsk-two", "sk-schlüssel"])
    def test_a_key_that_cannot_be_sent_is_not_shown(
        self, standin: EmbeddingsStandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch, key: str
    ) -> None:
        monkeypatch.setenv(KEY_VARIABLES[0], key)
        assert key not in str(failure(ask(), "holds characters that no key has"))
        assert not standin.requests

    @pytest.mark.parametrize(
        "address",
        [
            "http://example.org/v1",
            "http://127.0.0.1.example.org/v1",
            "https://user:secret@example.org/v1",
            "https://example.org/v1?key=x",
            "https:///v1",
            "ftp://x/v1",
            "",
        ],
    )
    def test_a_key_travels_only_to_a_safe_address(self, address: str, tmp_path: Path) -> None:
        for where in ("rerank.llm", "embedding.voyage", "embedding.gemini", "embedding.openai"):
            first, second = where.split(".")
            with pytest.raises(SettingsError, match=rf"{where}\.base_url") as caught:
                load_settings({first: {second: {"base_url": address}}}, user_file=tmp_path / "none.yaml")
            assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("address", "read"),
        [
            ("HTTP://localhost:1/v1", "http://localhost:1/v1"),
            ("HTTPS://service.invalid/v1/", "https://service.invalid/v1"),
        ],
    )
    def test_an_address_may_have_capitals_and_a_slash_at_its_end(self, address: str, read: str) -> None:
        chosen = OpenAiServiceSettings(base_url=address, model=SMALL, timeout_seconds=1)
        assert chosen.base_url == read and is_own_server(chosen) is read.startswith("http:")
