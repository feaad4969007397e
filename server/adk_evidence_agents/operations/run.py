"""What the parts of one operation share: the session, the notes, and the numbers of its metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.embedding.queries import Embedded, RememberedQueries
from adk_evidence.errors import EvidenceError, IndexMissingError, UnknownIndexError
from adk_evidence.index.names import MAIN
from adk_evidence.index.registry import list_indexes, settings_of
from adk_evidence.search.pipeline import RequestCancelledError
from adk_evidence.settings import Settings
from adk_evidence_agents.operations.indexer import Cancelled, Indexer, Progress
from adk_evidence_agents.operations.records import Notes
from adk_evidence_agents.operations.requests import ALL_INDEXES, EmbeddingConfig, OperationRequest
from adk_evidence_agents.session import AgentSession, Opened

MakeIndexer = Callable[[Settings], Indexer]
T = TypeVar("T")


@dataclass
class Run:
    """One operation while it is carried out.

    Args:
        session: Opens the indexes.
        request: What was asked.
        cancelled: Whether the answer is no longer wanted.
        progress: Where to tell how far an indexing run is.
        make_indexer: Makes what writes indexes; None where the adapter can only read.
    """

    session: AgentSession
    request: OperationRequest
    cancelled: Cancelled
    progress: Progress
    make_indexer: MakeIndexer | None
    notes: Notes = field(default_factory=Notes)
    vectors_searched: int = 0
    cache_hit: bool = False
    embedding_ms: float = 0.0

    @property
    def config(self) -> EmbeddingConfig:
        """What the caller takes the index to be embedded with."""
        return self.request.embedding_config

    def names(self, asked: str | tuple[str, ...] | None) -> tuple[str, ...]:
        """The indexes that a `collection_name` means.

        Raises:
            IndexMissingError: All were asked for, and there is none.
        """
        if asked == ALL_INDEXES:
            found = tuple(known.name for known in list_indexes(self.session.settings))
            if not found:
                raise IndexMissingError("Nothing has been indexed yet.", "Run `adk-ingest all`, or index a codebase.")
            return found
        if asked is None:
            return (self._default_name(),)
        return (asked,) if isinstance(asked, str) else tuple(dict.fromkeys(asked))

    def ask_each(self, names: tuple[str, ...], ask: Callable[[str, Opened], T]) -> list[T]:
        """What each index answers; the failure of one does not keep the others from answering.

        Raises:
            EvidenceError: The only index that was asked for cannot answer, or none of several can.
        """
        answers: list[T] = []
        failure: EvidenceError | None = None
        for name in names:
            self.stop_if_cancelled()
            try:
                opened = self.session.open(name)
                self.session.hold(opened)
                answers.append(ask(name, opened))
            except RequestCancelledError:
                raise
            except EvidenceError as exc:
                if len(names) == 1:
                    raise
                failure = exc
                self.notes.fail(exc, "warning", name)
        if failure is not None and not answers:
            raise failure
        return answers

    def stop_if_cancelled(self) -> None:
        """End here if nobody waits any more.

        Raises:
            RequestCancelledError: Nobody does.
        """
        if self.cancelled():
            raise RequestCancelledError("The operation was cancelled.")

    def _default_name(self) -> str:
        project = self.request.context.project_name
        for name in (project, f"{project}-codebase") if project else ():
            try:
                settings_of(self.session.settings, name)
            except UnknownIndexError:
                continue
            return name
        return MAIN


class QueryTimer:
    """Notes in a run what the vector of its question cost. All indexes share the encoders, and so the vector."""

    def __init__(self, run: Run, text: str) -> None:
        self._run = run
        self._text = text
        pair, _ = run.session.open().service.encoders
        self._encoders = pair.each
        self._known = all(kept(encoder, text) for encoder in self._encoders)

    def done(self) -> None:
        """To be called when the question was answered."""
        vectors = [found for encoder in self._encoders if (found := kept(encoder, self._text))]
        self._run.cache_hit = self._known
        if not self._known:
            self._run.embedding_ms = sum(found.milliseconds for found in vectors)


def kept(encoder: DenseEmbedder, text: str) -> Embedded | None:
    """The vector that an encoder of a session keeps of a question."""
    return encoder.kept(text) if isinstance(encoder, RememberedQueries) else None
