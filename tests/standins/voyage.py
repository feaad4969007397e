"""A Voyage on loopback: its wire contract, limits, errors and rate limit, with vectors that are the same everywhere.

A text's vector is its hashed bag of words; a chunk in a context also carries a little of its neighbours. A
document's relevance is the share of the question's words that it has.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tests.standins.json_service import Account, JsonStandIn, RefusedError

KEY = "pa-stand-in-key-0123456789abcdef"
EMBED, CONTEXT, RERANK = "/v1/embeddings", "/v1/contextualizedembeddings", "/v1/rerank"
ENDPOINTS = (EMBED, CONTEXT, RERANK)

PROMPTS = {
    "document": "Represent the document for retrieval: ",
    "query": "Represent the query for retrieving supporting documents: ",
}
DIMENSIONS = (256, 512, 1024, 2048)
CONTEXT_SHARE = 0.3


@dataclass(frozen=True)
class Model:
    endpoint: str
    request_tokens: int
    text_tokens: int = 32_000


MODELS = {
    "voyage-code-3": Model(EMBED, 120_000),
    "voyage-context-3": Model(CONTEXT, 32_000),  # of all inputs together: the least that the service's pages name
    "rerank-2.5": Model(RERANK, 600_000),
}
QUERY_TOKENS = 8_000


@dataclass
class Counted:
    requests: int = 0
    tokens: int = 0


@dataclass
class VoyageStandIn(JsonStandIn):
    """Starts with `with`; `base_url` is where it listens."""

    endpoints: ClassVar = ENDPOINTS

    account: Account = field(default_factory=lambda: Account(tokens_per_minute=3_000_000))
    now: Callable[[], float] = lambda: 0.0
    keys: set[str] = field(default_factory=lambda: {KEY})
    # Tokens of a request, of models that take fewer than is written of them.
    limits: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self.used: dict[str, Counted] = defaultdict(Counted)

    def _stay_below(self, model: str, tokens: int) -> None:
        limit = self.limits.get(model, MODELS[model].request_tokens)
        _require(tokens <= limit, _too_many(model, limit, tokens))

    @staticmethod
    def refusal(detail: str) -> dict[str, Any]:
        return {"detail": detail}

    def checked(self, path: str, headers: Any, raw: bytes) -> dict[str, Any]:
        authorization = headers.get("Authorization") or ""
        if not authorization.startswith("Bearer "):
            raise RefusedError(401, "You have not provided an API key.")
        if authorization.removeprefix("Bearer ") not in self.keys:
            # As a careless service would: the answer repeats the key.
            raise RefusedError(401, f"Provided API key {authorization.removeprefix('Bearer ')} is invalid.")
        if path not in ENDPOINTS:
            raise RefusedError(404, "Not Found")
        body = json.loads(raw)
        model = MODELS.get(body.get("model") or "")
        if model is None or model.endpoint != path:
            raise RefusedError(400, f"Model {body.get('model')} is not supported.")
        make = {EMBED: self._embed, CONTEXT: self._contextualize, RERANK: self._rerank}[path]
        data, tokens = make(body, model)
        self._charge(body["model"], tokens)
        return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": tokens}}

    def _charge(self, model: str, tokens: int) -> None:
        with self._lock:
            if beyond := self.account.charge(tokens, self.now()):
                raise RefusedError(429, "You have reached your rate limit.", str(math.ceil(beyond[1])))
            counted = self.used[model]
            counted.requests += 1
            counted.tokens += tokens

    def _embed(self, body: dict[str, Any], model: Model) -> tuple[list[dict[str, Any]], int]:
        texts = body.get("input")
        _require(isinstance(texts, list) and all(isinstance(text, str) for text in texts), "input must be strings.")
        assert isinstance(texts, list)
        _require(1 <= len(texts) <= 1000, "The batch size limit is 1000.")
        _require(all(texts), "Input cannot contain empty strings.")
        tokens = self._tokens(texts, body, model)
        encode = _encoder(body)
        data = [
            {"object": "embedding", "embedding": encode(word_vector(text, _dimension(body))), "index": index}
            for index, text in enumerate(texts)
        ]
        return data, tokens

    def _contextualize(self, body: dict[str, Any], model: Model) -> tuple[list[dict[str, Any]], int]:
        inputs = body.get("inputs")
        _require(isinstance(inputs, list) and 1 <= len(inputs) <= 1000, "inputs must be 1 to 1000 lists.")
        assert isinstance(inputs, list)
        for texts in inputs:
            _require(isinstance(texts, list) and bool(texts), "Each input must be a list of chunks.")
            _require(all(isinstance(text, str) and text for text in texts), "Chunks must be non-empty strings.")
            if body.get("input_type") == "query":
                _require(len(texts) == 1, "A query must be one string.")
        _require(sum(map(len, inputs)) <= 16_000, "The limit is 16000 chunks.")
        prompt = count(PROMPTS[body.get("input_type")])
        counts = [[count(text) for text in texts] for texts in inputs]
        _require(all(each <= model.text_tokens for row in counts for each in row), _too_long(model))
        tokens = sum(map(sum, counts)) + prompt * len(inputs)
        self._stay_below(body["model"], tokens)
        encode, dimension = _encoder(body), _dimension(body)
        data = []
        for index, texts in enumerate(inputs):
            rows = contextual_vectors(texts, dimension)
            chunks = [
                {"object": "embedding", "embedding": encode(row), "index": place} for place, row in enumerate(rows)
            ]
            data.append({"object": "list", "data": chunks, "index": index})
        return data, tokens

    def _rerank(self, body: dict[str, Any], model: Model) -> tuple[list[dict[str, Any]], int]:
        query, documents = body.get("query"), body.get("documents")
        _require(isinstance(query, str) and bool(query), "query must be a non-empty string.")
        _require(isinstance(documents, list) and 1 <= len(documents) <= 1000, "documents must be 1 to 1000 strings.")
        assert isinstance(query, str) and isinstance(documents, list)
        _require(all(isinstance(text, str) and text for text in documents), "Documents cannot be empty.")
        asked = min(count(query), QUERY_TOKENS)
        tokens = asked * len(documents) + sum(map(count, documents))
        self._stay_below(body["model"], tokens)
        scored = [{"index": index, "relevance_score": relevance(query, text)} for index, text in enumerate(documents)]
        scored.sort(key=lambda row: (-row["relevance_score"], row["index"]))
        return scored[: body.get("top_k") or None], tokens

    def _tokens(self, texts: list[str], body: dict[str, Any], model: Model) -> int:
        prompt = count(PROMPTS[body.get("input_type")])
        # The product asks for truncation.
        tokens = sum(min(count(text) + prompt, model.text_tokens) for text in texts)
        self._stay_below(body["model"], tokens)
        return tokens


_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digit>\d)|(?P<newline>\n)|(?P<space>[^\S\n]+)|(?P<sign>[!-~])|(?P<other>[^\x00-\x7f]+)"
)
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def count(text: str) -> int:
    """Tokens of a text as the stand-in counts, which shares nothing with the product's estimates.

    A tokeniser with few words: one token for each digit, sign, line break and indentation, one for every byte beyond
    ASCII, words in pieces of six letters, and letters that make no words two by two.
    """
    tokens, after = 0, ""
    for piece in _PIECE.finditer(text):
        found, sort = piece.group(), piece.lastgroup or ""
        if sort == "word":
            parts = _CAMEL.findall(found)
            known = all(_is_word(part) for part in parts)
            tokens += sum((len(part) + 5) // 6 for part in parts) if known else (len(found) + 1) // 2
        elif sort == "other":
            tokens += len(found.encode("utf-8", "replace"))
        elif sort == "space":
            following = text[piece.end() : piece.end() + 1]
            tokens += int(len(found) > 1 or after == "newline" or following.isdigit())
        else:
            tokens += 1
        after = sort
    return tokens


def _is_word(part: str) -> bool:
    vowels = sum(letter in "aeiouyAEIOUY" for letter in part)
    return len(part) <= 3 or (len(part) <= 18 and 0.15 <= vowels / len(part) <= 0.8)


def _too_many(name: str, limit: int, tokens: int) -> str:
    return (
        f"Request to model '{name}' failed. The max allowed tokens per submitted batch is {limit}. "
        f"Your batch has {tokens} tokens. Please lower the number of tokens in the batch."
    )


def _too_long(model: Model) -> str:
    return (
        "An example in your batch has too many tokens and does not fit into the model's context window of "
        f"{model.text_tokens} tokens. Please lower the number of tokens in the listed example(s)."
    )


def word_vector(text: str, dimension: int) -> np.ndarray[Any, Any]:
    """A unit vector of a text's words."""
    vector = np.zeros(dimension, dtype=np.float64)
    for word in re.findall(r"[a-z]+", text.lower()):
        vector[zlib.crc32(word.encode()) % dimension] += 1.0
    norm = float(np.linalg.norm(vector))
    if norm == 0:
        vector[0], norm = 1.0, 1.0
    return vector / norm


def contextual_vectors(texts: list[str], dimension: int) -> list[np.ndarray[Any, Any]]:
    """Unit vectors of chunks that carry a share of the mean of all of them."""
    own = [word_vector(text, dimension) for text in texts]
    if len(own) == 1:
        return own
    mixed = [vector + CONTEXT_SHARE * np.mean(own, axis=0) for vector in own]
    return [vector / np.linalg.norm(vector) for vector in mixed]


def relevance(query: str, document: str) -> float:
    """The share of the question's words that a document has, below 1."""
    question = query.rpartition("Question:")[2] or query
    words = set(re.findall(r"[a-z]{3,}", question.lower()))
    found = words & set(re.findall(r"[a-z]{3,}", document.lower()))
    return 0.99 * len(found) / len(words) if words else 0.0


def _dimension(body: dict[str, Any]) -> int:
    dimension = body.get("output_dimension") or 1024
    _require(dimension in DIMENSIONS, f"output_dimension must be one of {DIMENSIONS}.")
    return int(dimension)


def _encoder(body: dict[str, Any]) -> Callable[[Any], Any]:
    _require(body.get("output_dtype") == "float", "The stand-in has floats only.")
    _require(body.get("encoding_format") == "base64", "The stand-in has base64 only.")
    _require(body.get("input_type") in PROMPTS, "input_type must be query or document.")
    return lambda vector: base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _require(condition: bool, detail: str) -> None:
    if not condition:
        raise RefusedError(400, detail)
