"""One operation while it is carried out: a session on each index, notes, and metrics."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID, uuid4

from adk_evidence.desk import Indexes
from adk_evidence.embedding.queries import Embedded, RememberedQueries
from adk_evidence.errors import (
    EvidenceError,
    IndexMissingError,
    ModelError,
    RequestCancelledError,
    UnknownIndexError,
)
from adk_evidence.index.codebase import MAIN
from adk_evidence.index.indexer import Progress
from adk_evidence.index.registry import names_of_all
from adk_evidence.search.context import Context
from adk_evidence.search.session import Session
from adk_evidence.settings import Settings
from adk_evidence.telemetry import event_log
from adk_evidence.text.redaction import told
from adk_evidence_agents.operations.notes import Notes
from adk_evidence_agents.operations.requests import ALL_INDEXES, EmbeddingConfig, RequestContext
from adk_evidence_agents.operations.responses import ResponseStatus
from adk_evidence_agents.session import AgentSession

if TYPE_CHECKING:
    from adk_ingest.indexes.codebase import CodebaseIndexer

MakeIndexer = Callable[[Settings], "CodebaseIndexer"]
T = TypeVar("T")

_PAIR = re.compile(r"docs (?P<docs>.+), code (?P<code>.+)")


class EmbeddingMismatchError(ModelError):
    """A caller names another model or dimension than the index has."""

    code = "embedding_mismatch"


def silent(done: float, total: float | None, message: str) -> None:
    """Progress that nobody asked for."""


def codebase_indexer(settings: Settings) -> CodebaseIndexer:
    """What builds, updates, looks at and removes the named indexes beside a main index."""
    from adk_ingest.indexes.codebase import CodebaseIndexer

    return CodebaseIndexer(settings)


@dataclass
class Run:
    """One operation, which reads each index in one state, whatever is published meanwhile.

    A run is a context manager. At its end a failure becomes a note, an unexpected exception becomes an
    `EvidenceError`, and one event is logged.

    Args:
        agents: Opens the indexes.
        action: Name of the operation in the event.
        asked: The indexes as the request names them: one, several, `*` for all, or None for the default.
        make_indexer: Makes the indexer of the main index's settings.
        config: The embedding that the caller expects.
    """

    agents: AgentSession
    action: str
    asked: str | tuple[str, ...] | None
    context: Context = field(default_factory=Context)
    progress: Progress = silent
    make_indexer: MakeIndexer = codebase_indexer
    request_id: UUID = field(default_factory=uuid4)
    config: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    asker: RequestContext = field(default_factory=RequestContext)

    notes: Notes = field(default_factory=Notes)
    vectors_searched: int = 0
    cache_hit: bool = False
    embedding_ms: float = 0.0
    _begin: float = field(default_factory=time.perf_counter)
    _open: ExitStack = field(default_factory=ExitStack)
    _sessions: dict[str, Session] = field(default_factory=dict)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        failure = exc
        try:
            self._open.close()
        except Exception as not_closed:
            failure = exc or not_closed
        if failure is not None and not isinstance(failure, Exception):
            return
        error = told(failure) if failure is not None else None
        if error is not None:
            self.notes.fail(error, "critical")
        self._log()
        if error is not None and error is not exc:
            raise error from failure

    @cached_property
    def indexes(self) -> Indexes:
        """The indexes, which stay open until the operation ends."""
        return self._open.enter_context(self.agents.desk.open())

    def cancelled(self) -> bool:
        return self.context.cancelled is not None and self.context.cancelled()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._begin

    @property
    def status(self) -> ResponseStatus:
        severities = {error.severity for error in self.notes.errors}
        return "failed" if "critical" in severities else "partial" if "warning" in severities else "success"

    def ask_each(self, ask: Callable[[str, Session], T], *, freshen: bool = True) -> list[T]:
        """What each index answers; raises the last failure where none can answer.

        Codebases are brought up to date first, unless the question is how far they are behind.
        """
        answers: list[T] = []
        failure: EvidenceError | None = None
        names = self._names()
        for name in names:
            self.context.stop_if_cancelled()
            try:
                answers.append(ask(name, self._session(name, freshen=freshen)))
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

    def check_embedding(self, fingerprint: Mapping[str, str | int], name: str) -> None:
        """Refuse a request that expects another embedding than the index has: its thresholds would mean something else.

        What the request leaves out is not compared.
        """
        config = self.config
        models, dimensions = str(fingerprint["dense_model"]), str(fingerprint["dense_dimension"])
        other_model = config.model is not None and _model(config.model) not in map(_model, _each(models))
        if other_model or (config.dimensions is not None and str(config.dimensions) not in _each(dimensions)):
            raise EmbeddingMismatchError(
                f"The index {name} is embedded with {models} ({dimensions} dimensions), not as embedding_config says.",
                "Leave embedding_config out, or index again with a profile that has that model.",
            )

    @contextmanager
    def timing_query(self, text: str) -> Iterator[None]:
        """Measure what the vectors of a question cost. Indexes of one model share its encoder, and so the vector."""
        service = self.indexes.service()

        def kept() -> dict[tuple[int, str], Embedded]:
            encoders = (each for each in service.encoders if isinstance(each, RememberedQueries))
            return {(id(each), how): vector for each in encoders for how, vector in each.kept(text).items()}

        before = kept()
        yield
        after = kept()
        computed = [vector.milliseconds for encoder, vector in after.items() if encoder not in before]
        self.embedding_ms = sum(computed) if computed else self.embedding_ms
        # An operation may ask the same question twice; what the first search computed was not in the cache.
        self.cache_hit = bool(after) and not self.embedding_ms

    def _names(self) -> tuple[str, ...]:
        if self.asked == ALL_INDEXES:
            # Evidence of two versions side by side would contradict itself.
            found = names_of_all(self.indexes.settings)
            if not found:
                raise IndexMissingError("Nothing has been indexed yet.", "Run `adk-ingest all`, or index a codebase.")
            return found
        if self.asked is None:
            return (self._default_name(),)
        return (self.asked,) if isinstance(self.asked, str) else tuple(dict.fromkeys(self.asked))

    def _default_name(self) -> str:
        project = self.asker.project_name
        for name in (project, f"{project}-codebase") if project else ():
            try:
                self.indexes.named(name)
            except UnknownIndexError:
                continue
            return name
        return MAIN

    def _session(self, name: str, *, freshen: bool) -> Session:
        if name not in self._sessions:
            # The main index is that of the project's version.
            chosen = self.indexes.choose() if name == MAIN else self.indexes.named(name)
            if freshen and (older := self.indexes.freshened(chosen.settings, self.context.cancelled)):
                self.notes.take_warnings([older])
            service = self.indexes.service(chosen.settings)
            self._sessions[name] = self._open.enter_context(service.session(self.context))
        return self._sessions[name]

    def _log(self) -> None:
        """Write one line for the operation (vector-agent.md section 9.2), without texts of request and corpora."""
        try:
            settings = self.agents.settings
        except EvidenceError:
            return
        log = event_log(settings)
        if log is None:
            return
        log.write(
            {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "event": "operation",
                "request_id": str(self.request_id),
                "action": self.action,
                "collection_name": self.asked,
                "status": self.status,
                "execution_time_seconds": round(self.seconds, 6),
                "vectors_searched": self.vectors_searched,
                "cache_hit": self.cache_hit,
                "errors": [error.type for error in self.notes.errors],
                "project_name": self.asker.project_name,
                "project_type": self.asker.project_type,
                "priority": self.asker.priority,
            }
        )


def _each(value: str) -> tuple[str, ...]:
    pair = _PAIR.fullmatch(value)
    return (pair["docs"], pair["code"]) if pair else (value,)


def _model(name: str) -> str:
    """A model's name without its publisher and parameters."""
    return name.partition(";")[0].rpartition("/")[2].strip().lower()
