"""What an enrichment would ask and cost, read from the published index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from adk_evidence.commands import with_options
from adk_evidence.embedding.base import Cost
from adk_evidence.errors import InvalidRequestError, SettingsError
from adk_evidence.identifiers import is_private
from adk_evidence.index.opened import check_readable
from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind
from adk_evidence.services.chat import CHAT
from adk_evidence.services.metering import CostCap
from adk_evidence.services.openai_api import costs_nothing
from adk_evidence.settings import Settings
from adk_evidence.store.base import scroll_all
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence.tokens import estimate_tokens
from adk_ingest.credentials import holds_credential
from adk_ingest.enrichment.prompt import Asked, asked, passages, task
from adk_ingest.questions import written_questions

# A model leaves entries out where it has too many to write.
MAX_CHUNKS = 20
# Six questions of 76 characters with their JSON; many chunks get fewer. 3,490 chunks of the table that ships took 106
# tokens each.
TOKENS_PER_CHUNK = 130


class Coverage(BaseModel):
    """How many chunks of a corpus have questions, how many nobody would ask for, and how many nobody wrote for."""

    kind: Kind
    chunks: int = 0
    with_questions: int = 0
    nothing_to_ask: int = 0
    missing: int = 0


class Plan(BaseModel):
    """What an enrichment would ask. `price_usd` is None where no price is known, and 0 of a server on this machine."""

    index: str
    service: str
    model: str
    coverage: dict[str, Coverage]
    to_write: dict[str, int]
    requests: int
    tokens_in: int
    tokens_out: int
    price_usd: float | None
    above_cap: bool
    withheld: int


@dataclass
class Survey:
    """What a published index has of questions and lacks.

    Attributes:
        coverage: By corpus.
        chunks: Texts without an answer, each once, those first that most people ask for.
        withheld: Chunks that are not sent, because they hold what looks like a credential.
        unindexed: Chunks whose written questions the index does not have yet.
    """

    coverage: dict[str, Coverage] = field(default_factory=dict)
    chunks: list[Asked] = field(default_factory=list)
    withheld: int = 0
    unindexed: int = 0


def survey(settings: Settings) -> Survey:
    """Read which chunks of the published index lack questions.

    Left out are generated pages, which repeat what the code says, and what is for readers of another language than the
    corpus's own.

    Raises:
        InvalidRequestError: Indexes of these settings hold no questions.
        IndexMissingError: Nothing is published.
        IndexMismatchError: Questions refuse the index, which another version or other models built.
    """
    if not settings.has_questions:
        message = "The setting ingestion.questions keeps questions out of the index."
        if settings.ingestion.questions:
            message = f"An index of the profile {settings.profile} holds no questions: its model reads whole chunks."
        raise InvalidRequestError(message, "Use the profile local, with ingestion.questions switched on.")
    found = Survey()
    missing: list[ChunkPayload] = []
    written = written_questions(settings)
    for payload in _chunks(settings):
        name = payload["corpus"]
        coverage = found.coverage.setdefault(name, Coverage(kind=payload["kind"]))
        coverage.chunks += 1
        has = tuple(payload.get("questions", ()))
        digest = payload["source_hash"]
        questions, answer = written.of_text(digest), written.answer(digest)
        found.unindexed += answer is not None and answer != has
        if questions or has:
            coverage.with_questions += 1
        elif questions is not None:
            coverage.nothing_to_ask += 1
        else:
            coverage.missing += 1
            chunk = ChunkPayload.model_validate(payload)
            # Ingestion leaves such files out; a version with fewer patterns may have built the index.
            if holds_credential(chunk.text):
                found.withheld += 1
            else:
                missing.append(chunk)
    texts: dict[str, ChunkPayload] = {}
    for chunk in sorted(missing, key=_rank):
        texts.setdefault(chunk.source_hash, chunk)
    found.chunks = [asked(chunk) for chunk in texts.values()]
    return found


def _chunks(settings: Settings) -> Iterator[Mapping[str, Any]]:
    """The payloads of the index that may have questions."""
    with open_generations(settings).open_current() as lease:
        check_readable(lease.manifest, settings)
        with closing(open_reader(lease.folder, settings)) as store:
            for kind in KINDS:
                for record in scroll_all(store, settings.store.collection(kind)):
                    if _counts(record.payload):
                        yield record.payload


def _counts(payload: Mapping[str, Any]) -> bool:
    """Whether anybody needs questions for a chunk."""
    return payload["origin"] != "api-reference" and payload.get("for_language") is None


def _rank(payload: ChunkPayload) -> tuple[Any, ...]:
    """Orders chunks by how many people ask for them; the rest makes the order the same in every run."""
    return (_is_minor(payload), payload.kind != "doc", payload.corpus, payload.path, payload.chunk_index)


def _is_minor(payload: ChunkPayload) -> bool:
    """Whether few people ask for a chunk: most questions are about sections of documentation and public symbols."""
    if payload.kind == "doc":
        return payload.origin == "sample"
    return payload.fqn is None or payload.symbol is None or is_private(payload.fqn)


@dataclass(frozen=True)
class Enrichment:
    """A survey with the requests that a run would send.

    Args:
        settings: Of the index.
        survey: Of the index.
        limit: Texts to ask for, at most.
    """

    settings: Settings
    survey: Survey
    limit: int | None = None

    @cached_property
    def chunks(self) -> list[Asked]:
        return self.survey.chunks[: self.limit]

    @cached_property
    def requests(self) -> list[list[Asked]]:
        """The texts in their order, in requests of a bounded size."""
        most = self.settings.enrichment.chars_per_request
        made: list[list[Asked]] = []
        size = 0
        for chunk in self.chunks:
            own = len(chunk.title) + len(chunk.shown)
            if not made or size + own > most or len(made[-1]) == MAX_CHUNKS:
                made.append([])
                size = 0
            made[-1].append(chunk)
            size += own
        return made

    @cached_property
    def tokens(self) -> tuple[int, int]:
        """Estimated tokens that the model reads, and that it writes."""
        own = estimate_tokens(task())
        read = sum(own + estimate_tokens(passages(request)[0]) for request in self.requests)
        return read, TOKENS_PER_CHUNK * len(self.chunks)

    @property
    def cost(self) -> Cost | None:
        """What the run would take; None where it costs nothing.

        Raises:
            SettingsError: The settings name no price of the model.
        """
        usd = self.price(*self.tokens)
        return None if _is_free(self.settings) else Cost(len(self.requests), sum(self.tokens), usd)

    @property
    def cap(self) -> CostCap:
        return CostCap(self.settings.enrichment.max_cost_usd, "enrichment")

    def price(self, read: int, written: int) -> float:
        """US dollars for tokens; fails as `cost` does."""
        llm = self.settings.rerank.llm
        if _is_free(self.settings):
            return 0.0
        try:
            prices = self.settings.enrichment.usd_per_million_tokens[llm.model]
        except KeyError:
            raise self.cap.without_price(llm.model) from None
        return (prices.input * read + prices.output * written) / 1_000_000

    def plan(self) -> Plan:
        llm, (tokens_in, tokens_out) = self.settings.rerank.llm, self.tokens
        try:
            price: float | None = round(self.price(tokens_in, tokens_out), 4)
        except SettingsError:
            price = None
        kinds = Counter(chunk.kind for chunk in self.chunks)
        return Plan(
            index=self.settings.exact_subject,
            service=llm.base_url,
            model=llm.model,
            coverage=dict(sorted(self.survey.coverage.items())),
            to_write={kind: kinds[kind] for kind in KINDS},
            requests=len(self.requests),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            price_usd=price,
            above_cap=price is not None and price > self.settings.enrichment.max_cost_usd,
            withheld=self.survey.withheld,
        )


def _is_free(settings: Settings) -> bool:
    return costs_nothing(settings.rerank.llm, settings.enrichment.usd_per_million_tokens)


def remaining(settings: Settings) -> str | None:
    """A sentence on the chunks of a published index that lack questions; None where none does."""
    if not settings.has_questions:
        return None
    found = survey(settings)
    if not found.chunks:
        return None
    chunks = sum(one.chunks for one in found.coverage.values())
    kept = chunks - sum(one.missing for one in found.coverage.values())
    llm, price = settings.rerank.llm, ""
    if _is_free(settings):
        price = f" with {llm.model}, at no cost"
    elif CHAT.at(llm.base_url).has_key() and (usd := Enrichment(settings, found).plan().price_usd) is not None:
        price = f" for about ${usd:.2f}"
    command = f"`{settings.enrich_command}` has a language model write the rest{price}."
    return with_options(f"Questions are written for {kept:,} of {chunks:,} chunks; {command}")
