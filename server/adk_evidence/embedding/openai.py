"""Dense embedders over OpenAI's interface: OpenAI itself, or a server of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from adk_evidence.embedding.base import ContextBatch, Cost, FloatMatrix, encodable
from adk_evidence.embedding.batching import Size, in_halves, pack, shortening
from adk_evidence.models.chunk import sha256_text
from adk_evidence.services.embeddings import SECTION, EmbeddingsService
from adk_evidence.services.metering import RequestTooLargeError, Usage, prices
from adk_evidence.services.openai_api import costs_nothing
from adk_evidence.settings import EmbeddingSettings, OpenAiEmbeddingSettings
from adk_evidence.text.tokens import estimate_tokens, truncate_tokens

# By our estimate, which leaves room below the 300,000 of OpenAI; a server that takes less gets smaller requests.
REQUEST_TOKENS = 100_000
# Only items and tokens are limited.
_ANY = 1_000_000_000


class OpenAiEmbedder:
    """A `DenseEmbedder` that asks an OpenAI-compatible service; its vectors are L2-normalised.

    The name of the model does not say where the service is: the same model makes the same vectors anywhere.
    """

    def __init__(self, service: EmbeddingsService, settings: OpenAiEmbeddingSettings) -> None:
        self._settings = settings
        self._service = service
        self._limit = Size(settings.request_items, _ANY, REQUEST_TOKENS)
        self.dimension = settings.length
        prefix = settings.document_prefix
        prefixed = f";document_prefix={sha256_text(prefix)[:8]}" if prefix else ""
        limits = f"dimension={self.dimension};text_tokens={settings.text_tokens}"
        self.model = f"openai/{settings.model};{limits}{prefixed}"
        self._told: set[str] = set()

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Encode texts a request at a time, and in halves what the service takes only in smaller requests.

        Raises:
            CostCapError: The next request would exceed the cap.
            ServiceError: The service does not answer in spite of retries, or refuses.
        """
        sent = [self._document(text) for text in texts]
        for positions in self._requests(sent):
            yield from in_halves(positions, lambda group: self._embed([sent[n] for n in group]))

    def embed_query(self, text: str) -> list[float]:
        asked = self._cut(self._settings.query_prefix + text)
        return self._service.embed_query(asked, estimate_tokens(asked))

    def close(self) -> None:
        self._service.close()

    def _embed(self, texts: list[str]) -> FloatMatrix:
        try:
            return shortening(texts, self._ask, self._tell_shortened)
        except RequestTooLargeError as exc:
            if len(texts) > 1:
                self._tell("halves", f"{exc.message} Smaller requests are sent. {exc.hint}")
            raise

    def _ask(self, texts: list[str]) -> FloatMatrix:
        return self._service.embed(texts, sum(map(estimate_tokens, texts)))

    def _requests(self, sent: Sequence[str]) -> Iterator[list[int]]:
        return pack([Size(1, 0, estimate_tokens(text)) for text in sent], self._limit)

    def _document(self, text: str) -> str:
        """What is sent of a text that is indexed."""
        whole = self._settings.document_prefix + text
        sent = self._cut(whole)
        if len(sent) < len(whole):
            self._tell(
                "cut",
                f"A text has more than the {self._settings.text_tokens:,} tokens of {SECTION}.text_tokens by our "
                "estimate; its beginning is embedded.",
            )
        return sent

    def _cut(self, text: str) -> str:
        text, limit = encodable(text), self._settings.text_tokens
        # The service takes no empty text.
        return (truncate_tokens(text, limit) if estimate_tokens(text) > limit else text) or " "

    def _tell_shortened(self, kept: int) -> None:
        self._tell(
            "shortened",
            f"The embedding service takes no text as long as one of the corpus; its first {kept:,} characters are "
            f"embedded. Lower {SECTION}.text_tokens to the service's limit.",
        )

    def _tell(self, what: str, sentence: str) -> None:
        """Say something once: the corpus may hold thousands of such texts."""
        if what not in self._told:
            self._told.add(what)
            self._service.tell(sentence)


class PaidOpenAiEmbedder(OpenAiEmbedder):
    """An embedder whose service is paid by the token."""

    def __init__(self, service: EmbeddingsService, settings: OpenAiEmbeddingSettings) -> None:
        super().__init__(service, settings)
        self.cap = service.meter.cap

    def estimate(self, inputs: Sequence[str] | Sequence[ContextBatch]) -> Cost:
        """Requests, tokens and price of encoding these texts."""
        sent = [self._document(text) for text in cast("Sequence[str]", inputs)]
        tokens = sum(map(estimate_tokens, sent))
        return Cost(len(list(self._requests(sent))), tokens, self._price(tokens))

    def spent(self) -> Cost:
        used = self._service.meter.usage.get(self._settings.model, Usage())
        return Cost(used.requests, used.tokens, self._price(used.tokens))

    def _price(self, tokens: int) -> float | None:
        return self._service.meter.price(self._settings.model, tokens)

    def _ask(self, texts: list[str]) -> FloatMatrix:
        self._service.meter.stay_below_the_cap(self._settings.model, sum(map(estimate_tokens, texts)))
        return super()._ask(texts)


def openai_embedder(service: EmbeddingsService, settings: EmbeddingSettings) -> OpenAiEmbedder:
    """The embedder of `embedding.openai`: most servers on this machine cost nothing."""
    is_free = costs_nothing(settings.openai, prices(settings))
    return (OpenAiEmbedder if is_free else PaidOpenAiEmbedder)(service, settings.openai)
