"""An OpenAI-compatible embedding service on loopback: its wire contract, limits, errors and rate limit.

A text's vector is its hashed bag of words. The answers are those of OpenAI's own definition of `POST /embeddings`; as
`dialect` says, errors have the form and the words of OpenAI or of a server of one's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from tests.standins.json_service import Account, JsonStandIn, RefusedError
from tests.standins.voyage import count, word_vector

KEY = "sk-stand-in-embeddings-key-0123456789"
EMBEDDINGS = "/v1/embeddings"
SMALL, LARGE, ADA, OWN = "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002", "own-embedder"
_PARAMETERS = {"model", "input", "dimensions"}


@dataclass(frozen=True)
class Model:
    dimension: int
    shortens: bool = True
    text_tokens: int = 8192


@dataclass
class EmbeddingsStandIn(JsonStandIn):
    """Starts with `with`; `base_url` is where it listens.

    Args:
        keys: The keys that it takes; empty: a local server, which wants none.
        models: Its models by name.
        request_items: Texts in one request.
        request_tokens: Tokens of one request.
        dialect: Whose errors it answers with.
        has_money: Whether the account can pay.
        scale: What all vectors are multiplied by.
    """

    endpoints: ClassVar = (EMBEDDINGS,)

    keys: set[str] = field(default_factory=lambda: {KEY})
    models: dict[str, Model] = field(
        default_factory=lambda: {
            SMALL: Model(1536),
            LARGE: Model(3072),
            ADA: Model(1536, shortens=False),
            OWN: Model(64, shortens=False),
        }
    )
    request_items: int = 2048
    request_tokens: int = 300_000
    dialect: Literal["openai", "vllm", "tei", "llama.cpp"] = "openai"
    account: Account = field(default_factory=Account)
    has_money: bool = True
    scale: float = 1.0
    now: Callable[[], float] = lambda: 0.0

    def __post_init__(self) -> None:
        super().__init__()
        self.used_requests = self.used_tokens = 0

    @staticmethod
    def refusal(detail: str) -> dict[str, Any]:
        return _openai(detail)

    def checked(self, path: str, headers: Any, raw: bytes) -> dict[str, Any]:
        self._check_key((headers.get("Authorization") or "").removeprefix("Bearer "))
        if path != EMBEDDINGS:
            raise RefusedError(404, f"Invalid URL (POST {path})")
        body = json.loads(raw)
        if unknown := set(body) - _PARAMETERS:
            raise RefusedError(400, f"Unrecognized request argument supplied: {', '.join(sorted(unknown))}")
        if body["model"] not in self.models:
            raise self._no_model(body["model"])
        model = self.models[body["model"]]
        texts = self._texts(body.get("input"))
        counts = [max(1, count(text)) for text in texts]
        self._check_size(model, counts)
        dimension = self._dimension(body, model)
        self._charge(body["model"], sum(counts))
        rows = [word_vector(text, model.dimension)[:dimension] for text in texts]
        data = [
            {"object": "embedding", "index": index, "embedding": self._scaled(row)} for index, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
        return {"object": "list", "data": data, "model": body["model"], "usage": usage}

    def _check_key(self, key: str) -> None:
        if self.keys and not key:
            raise RefusedError(401, "You didn't provide an API key.")
        if self.keys and key not in self.keys:
            # As a careless service would: the answer repeats the key.
            told = f"Incorrect API key provided: {key}."
            raise RefusedError(401, told, body=_openai(told, code="invalid_api_key"))

    def _no_model(self, name: str) -> RefusedError:
        told = f"The model `{name}` does not exist"
        body = {
            "openai": _openai(f"{told} or you do not have access to it.", code="model_not_found"),
            "vllm": _openai(f"{told}.", kind="NotFoundError", code=404),
        }
        return RefusedError(404, told, body=body.get(self.dialect))

    @staticmethod
    def _texts(given: Any) -> list[str]:
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
            raise RefusedError(400, "'$.input' is invalid. Please check the API reference.")
        return texts

    def _check_size(self, model: Model, counts: list[int]) -> None:
        items, tokens, longest = len(counts), sum(counts), max(counts)
        if items > self.request_items:
            raise self._too_large(
                openai=f"Invalid 'input': array too long. Expected an array with maximum length {self.request_items}, "
                f"but got an array with length {items} instead.",
                tei=f"batch size {items} > maximum allowed batch size {self.request_items}",
            )
        if longest > model.text_tokens:
            told = f"This model's maximum context length is {model.text_tokens} tokens, however you requested {longest}"
            raise self._too_large(
                openai=f"{told} tokens ({longest} in your prompt; 0 for the completion). Please reduce your prompt; or "
                "completion length.",
                tei=f"`inputs` must have less than {model.text_tokens} tokens. Given: {longest}",
            )
        if tokens > self.request_tokens:
            told = f"Requested {tokens} tokens, max {self.request_tokens} tokens per request"
            raise RefusedError(
                400, told, body=_openai(told, kind="max_tokens_per_request", code="max_tokens_per_request")
            )

    def _too_large(self, openai: str, tei: str) -> RefusedError:
        match self.dialect:
            case "tei":
                return RefusedError(422, tei, body={"message": tei, "code": 422, "type": "Validation"})
            case "vllm":
                body = {"object": "error", "message": openai, "type": "BadRequestError", "param": None, "code": 400}
                return RefusedError(400, openai, body=body)
            case "llama.cpp":
                told = "input is too large to process. increase the physical batch size (current batch size: 512)"
                return RefusedError(500, told, body={"error": {"code": 500, "message": told, "type": "server_error"}})
        return RefusedError(400, openai)

    def _dimension(self, body: dict[str, Any], model: Model) -> int:
        asked = body.get("dimensions", model.dimension)
        if "dimensions" in body and not model.shortens:
            told = "This model does not support specifying dimensions."
            if self.dialect == "vllm":
                told = f'Model "{body["model"]}" does not support matryoshka representation, changing output dimensions'
            raise RefusedError(400, told)
        if not isinstance(asked, int) or not 1 <= asked <= model.dimension:
            raise RefusedError(400, f"Invalid value for 'dimensions' = {asked}. Must be at most {model.dimension}.")
        return asked

    def _charge(self, model: str, tokens: int) -> None:
        if not self.has_money:
            told = "You exceeded your current quota, please check your plan and billing details."
            raise RefusedError(429, told, body=_openai(told, kind="insufficient_quota", code="insufficient_quota"))
        limit = self.account.tokens_per_minute
        if tokens > limit:
            told = f"Request too large for {model} on tokens per min (TPM): Limit {limit}, Requested {tokens}."
            raise RefusedError(429, told, body=_openai(told, kind="tokens", code="rate_limit_exceeded"))
        with self._lock:
            if beyond := self.account.charge(tokens, self.now()):
                what, left = beyond
                told = f"Rate limit reached for {model} on {what} per min. Please try again in {left:g}s."
                raise RefusedError(429, told, f"{left:g}", _openai(told, kind=what, code="rate_limit_exceeded"))
            self.used_requests += 1
            self.used_tokens += tokens

    def _scaled(self, row: Any) -> list[float]:
        norm = float(np.linalg.norm(row))
        unit = row / norm if norm else np.full(len(row), len(row) ** -0.5)
        return [float(value) for value in (unit * self.scale).astype(np.float32)]


def _openai(message: str, kind: str = "invalid_request_error", code: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
