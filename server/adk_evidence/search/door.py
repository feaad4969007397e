"""The door of a server: equal requests that run at the same time are computed once, and complete answers are kept.

Requests are equal if they are the same to the letter and are asked of the same generation, with the same settings,
ranked symbols and table of released versions. An answer is kept with the state of every file that was read for it: its
check of citations, its remarks and its pasted errors depend on nothing else. It is given again only while each of these
files is in that state, so that its citations are as good as those that are checked anew. Two kinds of answers are not
kept: those that lack a part, and those for which more than single files was looked at (a cited text moved or is gone).

The stages of a request know nothing of this. Each request has its own id, event and cancellation.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from adk_evidence.errors import EvidenceError
from adk_evidence.index.sources import Reads, Stamp, noting_reads
from adk_evidence.models.load import CacheUse
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.models.warning import LOST_PARTS
from adk_evidence.search.event import shared_event
from adk_evidence.services.eventloop import POLL_SECONDS, Cancelled
from adk_evidence.settings import LoadSettings

if TYPE_CHECKING:
    from adk_evidence.index.opened import Index
    from adk_evidence.search.context import Context
    from adk_evidence.settings import Settings

# Of kept answers in memory; an answer has some 100 kB.
MAX_BYTES = 100_000_000
# What an answer takes beside its text and the names of files.
_ENTRY_BYTES = 2_000
_FILE_BYTES = 200


class Asked(Protocol):
    """What answers behind the door: a session on one pinned index."""

    settings: Settings
    index: Index
    context: Context

    def find(self, request: EvidenceRequest) -> EvidencePack: ...
    def imports(self) -> object | None: ...
    def on_behalf_of(self, cancelled: Cancelled) -> Asked: ...
    def log(self, event: Mapping[str, Any]) -> None: ...


class _Key(NamedTuple):
    """What makes two requests equal; settings and imports are told apart by their identity."""

    request: EvidenceRequest
    settings: int
    state: tuple[str, int]


class _Flight:
    """One computation, and the requests that wait for its result."""

    def __init__(self, cancelled: Cancelled | None) -> None:
        self.result: Future[EvidencePack] = Future()
        self.wanted_by = [cancelled]


@dataclass(frozen=True)
class _Kept:
    """An answer as JSON, which cannot be changed and has a size, and the files that it holds for."""

    pack: bytes
    query_id: str
    files: tuple[tuple[str, str, Stamp], ...]
    at: float
    # What the key names by its identity: another object could take the place of one that is gone.
    held: tuple[object, ...] = field(repr=False)

    @property
    def size(self) -> int:
        return len(self.pack) + _ENTRY_BYTES + _FILE_BYTES * len(self.files)


class Door:
    """Answers the requests of a process, on all of its indexes. Safe between threads.

    Args:
        limits: How long answers are kept, and how many bytes of them.
        clock: Seconds that only grow.
    """

    def __init__(self, limits: LoadSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._flights: dict[Hashable, _Flight] = {}
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        # The state of each index that was answered from last, by the identity of its settings.
        self._states: dict[int, tuple[str, int]] = {}
        self._bytes = self._hits = self._misses = self._shared = 0

    @property
    def shared(self) -> int:
        """How many answers were taken from an equal request that ran at the same time."""
        return self._shared

    def use(self, name: str) -> CacheUse:
        """How full the cache of answers is, and how often it had one."""
        with self._lock:
            limit = f"{MAX_BYTES} bytes, {self._limits.cache_ttl_seconds} seconds"
            return CacheUse.of(name, entries=len(self._kept), limit=limit, hits=self._hits, misses=self._misses)

    def find(self, session: Asked, request: EvidenceRequest) -> EvidencePack:
        """`Session.find`, but for answers that are kept or are computed already; `debug.answered_from` names these."""
        key, held = _key(session, request)
        found = self._look_up(key, session)
        if found is not None:
            kept, age = found
            pack = EvidencePack.model_validate_json(kept.pack)
            return _as_own(session, request, pack, {"cache": kept.query_id, "age_seconds": round(age, 3)})

        pack, is_own = self._once(key, session, request, held)
        if is_own:
            return pack
        # What the other request left out for want of time, this one has time for.
        if any(warning.code == "time_budget" for warning in pack.warnings):
            return session.find(request)
        return _as_own(session, request, pack, {"equal_request": pack.query_id})

    def _once(
        self, key: _Key, session: Asked, request: EvidenceRequest, held: tuple[object, ...]
    ) -> tuple[EvidencePack, bool]:
        """The answer to an equal request that runs, or else to this one, and whether it is to this one."""
        while True:
            with self._lock:
                flight = self._flights.get(key)
                joins = flight is not None
                if flight is None:
                    flight = self._flights[key] = _Flight(session.context.cancelled)
                else:
                    flight.wanted_by.append(session.context.cancelled)
            if not joins:
                return self._compute(key, flight, session, request, held), True
            while not flight.result.done():
                wait((flight.result,), POLL_SECONDS)
                session.context.stop_if_cancelled()
            if flight.result.cancelled():
                # The thread that computed was interrupted, which has nothing to do with the request.
                continue
            with self._lock:
                self._shared += 1
            failure = flight.result.exception()
            if isinstance(failure, EvidenceError):
                query_id = str(uuid.uuid4())
                session.log(_shared(session, request, query_id, {"equal_request": None}, failure=failure))
            return flight.result.result(), False

    def _compute(
        self, key: _Key, flight: _Flight, session: Asked, request: EvidenceRequest, held: tuple[object, ...]
    ) -> EvidencePack:
        def abandoned() -> bool:
            with self._lock:
                if not all(cancelled is not None and cancelled() for cancelled in flight.wanted_by):
                    return False
                # Nobody may join a computation that is about to stop.
                self._end(key, flight)
                return True

        try:
            with noting_reads() as reads:
                pack = session.on_behalf_of(abandoned).find(request)
            self._keep(key, pack, reads, session, held)
        except BaseException as exc:
            with self._lock:
                self._end(key, flight)
            if isinstance(exc, Exception):
                flight.result.set_exception(exc)
            else:
                flight.result.cancel()
            raise
        with self._lock:
            self._end(key, flight)
        flight.result.set_result(pack)
        # Others may have wanted the result when this caller had gone.
        session.context.stop_if_cancelled()
        return pack

    def _end(self, key: _Key, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _look_up(self, key: _Key, session: Asked) -> tuple[_Kept, float] | None:
        """An answer that still holds, and its age in seconds."""
        with self._lock:
            kept = self._kept.get(key)
        holds = kept is not None and self._holds(kept, session)
        with self._lock:
            if kept is None or not holds:
                self._misses += 1
                if kept is not None and self._kept.get(key) is kept:
                    self._drop(key)
                return None
            self._hits += 1
            if key in self._kept:
                self._kept.move_to_end(key)
            return kept, self._clock() - kept.at

    def _holds(self, kept: _Kept, session: Asked) -> bool:
        if self._clock() - kept.at >= self._limits.cache_ttl_seconds:
            return False
        sources = session.index.sources
        return all(sources[name].stamp(path) == stamp for name, path, stamp in kept.files)

    def _keep(self, key: _Key, pack: EvidencePack, reads: Reads, session: Asked, held: tuple[object, ...]) -> None:
        names = {reader: name for name, reader in session.index.sources.items()}
        lacks = any(warning.code in LOST_PARTS for warning in pack.warnings)
        strange = not reads.complete or any(reader not in names for reader, _ in reads.files)
        if lacks or strange or not self._limits.cache_ttl_seconds:
            return
        kept = _Kept(
            pack=pack.model_dump_json().encode(),
            query_id=pack.query_id,
            files=tuple((names[reader], path, stamp) for (reader, path), stamp in reads.files.items()),
            at=self._clock(),
            held=held,
        )
        if kept.size > MAX_BYTES:
            return
        with self._lock:
            if self._states.get(key.settings) != key.state:
                # No request meets the answers of an earlier state again.
                for old in [old for old in self._kept if old.settings == key.settings and old.state != key.state]:
                    self._drop(old)
                self._states[key.settings] = key.state
            if key in self._kept:
                self._drop(key)
            self._kept[key] = kept
            self._bytes += kept.size
            while self._bytes > MAX_BYTES:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        self._bytes -= self._kept.pop(key).size


def _key(session: Asked, request: EvidenceRequest) -> tuple[_Key, tuple[object, ...]]:
    """The key of a request, and what must live as long as the key, since its identity is a part of the key."""
    settings = session.settings
    imports = session.imports()
    state = (session.index.manifest.generation, id(imports))
    return _Key(request, id(settings), state), (settings, imports)


def _shared(session: Asked, request: EvidenceRequest, query_id: str, origin: dict[str, Any], **found: Any) -> Any:
    generation = session.index.manifest.generation
    return shared_event(session.context, session.settings, generation, request, query_id, origin, **found)


def _as_own(session: Asked, request: EvidenceRequest, pack: EvidencePack, origin: dict[str, Any]) -> EvidencePack:
    """A pack of an earlier or an equal request as the answer to this one, with an id and an event of its own."""
    debug = {**pack.debug, "answered_from": origin}
    own = pack.model_copy(update={"query_id": str(uuid.uuid4()), "debug": debug})
    session.log(_shared(session, request, own.query_id, origin, pack=own))
    return own
