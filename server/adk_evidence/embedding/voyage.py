"""Voyage's dense embedders: docs in their context, code text by text (SPEC 3 section 7)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from adk_evidence.embedding.base import ContextBatch, Cost, FloatMatrix, Pair, encodable
from adk_evidence.embedding.batching import NOTHING, Size, in_halves, pack, shortening, split_contexts
from adk_evidence.embedding.voyage_tokens import SAFETY, count_tokens, most_tokens, prompt_tokens
from adk_evidence.services.metering import Usage
from adk_evidence.services.voyage import VoyageService
from adk_evidence.settings import Settings

T = TypeVar("T")

# Limits of the service, in tokens: all texts of a request. For texts in their context its pages name 32,000 in one
# place and 120,000 in another.
REQUEST_TOKENS = 120_000
CONTEXT_REQUEST_TOKENS = 32_000
# Chunks that a long file's neighbouring context batches share.
CONTEXT_OVERLAP_CHUNKS = 4


def voyage_embedders(service: VoyageService, settings: Settings) -> Pair[Any]:
    """The embedders of docs and code, by `embedding.voyage` and `ingestion.batching`."""
    voyage = settings.embedding.voyage
    return Pair(
        VoyageDocsEmbedder(service, settings, voyage.docs_model),
        VoyageCodeEmbedder(service, settings, voyage.code_model),
    )


class _VoyageEmbedder:
    """What both embedders share: name, requests, questions, cost."""

    contextualized: bool
    request_tokens: int

    def __init__(self, service: VoyageService, settings: Settings, name: str) -> None:
        self._settings = settings.embedding.voyage
        self._batching = settings.ingestion.batching
        self._name = name
        self.dimension = self._settings.dimension
        self.model = f"{name};dimension={self.dimension}"
        self.service = service
        self.cap = service.meter.cap

    def embed_query(self, text: str) -> list[float]:
        tokens = count_tokens(text, self._name) + prompt_tokens("query", self._name)
        return self.service.embed_query(
            encodable(text), self._name, self.dimension, tokens, contextualized=self.contextualized
        )

    def estimate(self, inputs: Sequence[str] | Sequence[ContextBatch]) -> Cost:
        """Requests, tokens and price of encoding these texts or batches."""
        tokens = [
            self._tokens([text for position in positions for text in _texts(inputs[position])], len(positions))
            for positions in self._requests(inputs)
        ]
        # What the account's rate allows.
        minutes = max(len(tokens) / self._settings.requests_per_minute, sum(tokens) / self._settings.tokens_per_minute)
        return Cost(len(tokens), sum(tokens), self.service.meter.price(self._name, sum(tokens)), minutes * 60)

    def spent(self) -> Cost:
        used = self.service.meter.usage.get(self._name, Usage())
        return Cost(used.requests, used.tokens, self.service.meter.price(self._name, used.tokens))

    def close(self) -> None:
        self.service.close()

    def _send(
        self, inputs: Sequence[str] | Sequence[ContextBatch], send: Callable[[list[int]], T]
    ) -> Iterator[tuple[list[int], T]]:
        """Send inputs a request at a time, and in halves what the service takes only in smaller requests.

        Raises:
            CostCapError: The next request would exceed the cap.
            ServiceError: The service does not answer in spite of retries.
        """
        for positions in self._requests(inputs):
            yield from in_halves(positions, send)

    def _requests(self, inputs: Sequence[str] | Sequence[ContextBatch]) -> Iterator[list[int]]:
        return pack([sum(map(self._size, _texts(one)), NOTHING) for one in inputs], self._limit())

    def _embed(self, inputs: Sequence[Sequence[str]], prompts: int) -> list[FloatMatrix]:
        tokens = self._tokens([text for texts in inputs for text in texts], prompts)
        return self.service.embed(inputs, self._name, self.dimension, tokens, contextualized=self.contextualized)

    def _size(self, text: str) -> Size:
        """What a text adds to a request at the most, with the prompt that the service puts before it."""
        prompt = prompt_tokens("document", self._name)
        return Size(1, len(text), most_tokens(text, self._name) + prompt)

    def _tokens(self, texts: Sequence[str], prompts: int) -> int:
        """Estimate of the tokens that the service counts for these texts and this many prompts."""
        return sum(count_tokens(text, self._name) for text in texts) + prompts * prompt_tokens("document", self._name)

    def _limit(self) -> Size:
        room = min(self.request_tokens, self._settings.tokens_per_minute) / SAFETY
        return Size(self._batching.voyage_dense_max_items, self._batching.voyage_dense_max_chars_total, int(room))


def _texts(one: str | ContextBatch) -> tuple[str, ...]:
    return (one,) if isinstance(one, str) else one.texts


class VoyageCodeEmbedder(_VoyageEmbedder):
    """Encodes texts that stand for themselves."""

    contextualized = False
    request_tokens = REQUEST_TOKENS

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        def send(positions: list[int]) -> FloatMatrix:
            batch = [encodable(texts[position]) for position in positions]
            return self._embed([batch], len(batch))[0]

        return self._send(texts, send)


class VoyageDocsEmbedder(_VoyageEmbedder):
    """Encodes the chunks of a file together, so that each vector knows what stands around its chunk."""

    contextualized = True
    request_tokens = CONTEXT_REQUEST_TOKENS

    def context_batches(self, texts: Sequence[str]) -> list[ContextBatch]:
        """A file's chunks in batches that the model reads at once; see `split_contexts`."""
        sizes = [self._size(text) for text in texts]
        return split_contexts(texts, sizes, self._limit(), CONTEXT_OVERLAP_CHUNKS)

    def iter_embed_contexts(self, batches: Sequence[ContextBatch]) -> Iterator[tuple[list[int], list[FloatMatrix]]]:
        """Positions in `batches`, and for each the vectors of its own chunks; every position comes once."""

        def send(positions: list[int]) -> list[FloatMatrix]:
            inputs = [[encodable(text) for text in batches[position].texts] for position in positions]
            found = self._in_groups(inputs[0]) if len(inputs) == 1 else self._embed(inputs, len(inputs))
            return [vectors[list(batches[position].own)] for position, vectors in zip(positions, found, strict=True)]

        return self._send(batches, send)

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Encode the chunks of one file, in order."""
        batches = self.context_batches(texts)
        # Batches and their own chunks follow the file's order.
        first = list(itertools.accumulate((len(batch.own) for batch in batches), initial=0))
        for positions, vectors in self.iter_embed_contexts(batches):
            for position, rows in zip(positions, vectors, strict=True):
                yield list(range(first[position], first[position + 1])), rows

    def _in_groups(self, texts: list[str]) -> list[FloatMatrix]:
        """The vectors of one batch; where it is too large for the service, its chunks are embedded in groups."""
        found = in_halves(list(range(len(texts))), lambda group: self._group([texts[n] for n in group]))
        return [np.concatenate([vectors for _, vectors in found])]

    def _group(self, texts: list[str]) -> FloatMatrix:
        def tell(kept: int) -> None:
            self.service.tell(
                f"Voyage takes no chunk as long as one of the corpus; its first {kept:,} characters are embedded."
            )

        # The service itself shortens no chunk that has a context.
        return shortening(texts, lambda part: self._embed([part], 1)[0], tell)
