"""What a run would ask and cost, read from the published index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from adk_evidence.errors import CostCapError, InvalidRequestError
from adk_evidence.index.opened import check_readable
from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind
from adk_evidence.services.openai_api import is_own_server
from adk_evidence.settings import Settings
from adk_evidence.store.base import scroll_all
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence.text.identifiers import is_private
from adk_evidence.text.tokens import estimate_tokens
from adk_ingest.corpora.credentials import holds_credential
from adk_ingest.records.questions import written_questions
from tests.quality.writing.answers import Answer
from tests.quality.writing.prompt import Asked, asked, passages, task

# A model leaves entries out where it has too many to write.
MAX_CHUNKS = 20
# Characters of texts that the model reads at once.
CHARS_PER_REQUEST = 25_000
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


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens that the model reads, and that it writes; and what a run may cost."""

    read: float
    written: float
    most: float

    def of(self, read: int, written: int) -> float:
        """What tokens cost."""
        return (self.read * read + self.written * written) / 1_000_000


class Plan(BaseModel):
    """What a run would ask. `price_usd` is None where no price is known, and 0 of a server on this machine."""

    index: str
    service: str
    model: str
    coverage: dict[str, Coverage]
    to_write: dict[str, int]
    requests: int
    tokens_in: int
    tokens_out: int
    price_usd: float | None
    withheld: int


@dataclass
class Survey:
    """For which chunks of a published index questions were written.

    Attributes:
        coverage: By corpus.
        chunks: Texts without an answer, each once, those first that most people ask for.
        withheld: Chunks that are not sent, because they hold what looks like a credential.
    """

    coverage: dict[str, Coverage] = field(default_factory=dict)
    chunks: list[Asked] = field(default_factory=list)
    withheld: int = 0


def survey(settings: Settings, answers: Mapping[str, Answer]) -> Survey:
    """Read which chunks of the published index lack questions, in the table that ships and in the answers.

    Left out are generated pages, which repeat what the code says, and what is for readers of another language than the
    corpus's own.

    Raises:
        InvalidRequestError: Indexes of these settings hold no questions.
        IndexMissingError: Nothing is published.
        IndexMismatchError: Questions refuse the index, which another version or other models built.
    """
    if not settings.has_questions:
        raise InvalidRequestError(
            f"An index of the profile {settings.profile} holds no questions.",
            "Use the profile local, with ingestion.questions switched on.",
        )
    found = Survey()
    missing: list[ChunkPayload] = []
    shipped = written_questions(settings)
    for payload in _chunks(settings):
        coverage = found.coverage.setdefault(payload["corpus"], Coverage(kind=payload["kind"]))
        coverage.chunks += 1
        digest = payload["source_hash"]
        questions = shipped.of_text(digest)
        if questions is None and digest in answers:
            questions = answers[digest].questions
        if questions or payload.get("questions"):
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
class Job:
    """A survey with the requests that a run would send.

    Args:
        settings: Of the index.
        survey: Of the index.
        prices: Of the model; None where nobody knows them.
        limit: Texts to ask for, at most.
    """

    settings: Settings
    survey: Survey
    prices: Prices | None = None
    limit: int | None = None

    @cached_property
    def chunks(self) -> list[Asked]:
        return self.survey.chunks[: self.limit]

    @cached_property
    def requests(self) -> list[list[Asked]]:
        """The texts in their order, in requests of a bounded size."""
        made: list[list[Asked]] = []
        size = 0
        for chunk in self.chunks:
            own = len(chunk.title) + len(chunk.shown)
            if not made or size + own > CHARS_PER_REQUEST or len(made[-1]) == MAX_CHUNKS:
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

    def price(self, read: int, written: int) -> float | None:
        """US dollars for tokens; None where nobody knows the prices of a service elsewhere."""
        if self.prices is not None:
            return self.prices.of(read, written)
        return 0.0 if is_own_server(self.settings.rerank.llm) else None

    def plan(self) -> Plan:
        llm, (tokens_in, tokens_out) = self.settings.rerank.llm, self.tokens
        price = self.price(tokens_in, tokens_out)
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
            price_usd=None if price is None else round(price, 4),
            withheld=self.survey.withheld,
        )

    def check(self) -> None:
        """Refuse a run that nobody knows the price of, or that would cost too much.

        Raises:
            InvalidRequestError: The prices of the model are not known.
            CostCapError: The run would cost more than the cap.
        """
        price = self.price(*self.tokens)
        if price is None:
            raise InvalidRequestError(
                f"Nobody said what {self.settings.rerank.llm.model} costs.", "Name its prices with --usd-per-million."
            )
        if self.prices is not None and price > self.prices.most:
            raise CostCapError(
                f"The run would cost about ${price:.2f}, above ${self.prices.most:g}; nothing was spent.",
                "Raise --max-cost, or use --limit.",
            )
