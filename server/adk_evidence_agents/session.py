"""What all surfaces for agents share: the services of the indexes, checked arguments, failures as sentences."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from adk_evidence.admission import Admission, Limits
from adk_evidence.errors import EvidenceError, InvalidRequestError, UnknownIndexError
from adk_evidence.index.codebase import MAIN
from adk_evidence.index.registry import ResolvedNames, list_indexes
from adk_evidence.index.versions import ChosenIndex, choose_index, index_name, indexed_versions
from adk_evidence.models.citation import parse_citation
from adk_evidence.models.load import ProcessLoad
from adk_evidence.redaction import where_raised
from adk_evidence.released_versions import is_same_version, version_of
from adk_evidence.settings import Settings, load_settings
from adk_evidence.validation import first_problem

if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.models.pack import EvidencePack, LeftOut
    from adk_evidence.models.request import EvidenceRequest
    from adk_evidence.search.read import CitedSource
    from adk_evidence.search.session import EvidenceService, Session
    from adk_evidence.services.eventloop import Cancelled

# Agents ask the same question of several indexes, and again with other filters.
KEPT_QUERIES = 512
# Indexing takes minutes: such requests do not queue up with questions.
INDEXING = Limits(running=2, waiting=20)
# Look-ups take milliseconds, and tell how busy the others are.
LOOKUPS = Limits(running=2, waiting=1000)
# A project may be upgraded while a server runs; to look takes milliseconds.
LOOK_AGAIN_SECONDS = 20.0

_LOG = logging.getLogger(__name__)
_Model = TypeVar("_Model", bound=BaseModel)
_Read = TypeVar("_Read")


class AgentSession:
    """Opens each index when it is first asked. Methods may be called from several threads.

    Args:
        load: Loads the settings of the main index; called again after a failure and after `close`.
        find_project: Finds the google-adk of the project that agents work on. The index of that version then stands for
            the main index.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        load: Callable[[], Settings] = load_settings,
        find_project: Callable[[Settings], ProjectAdk | None] = lambda settings: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._find_project = find_project
        self._clock = clock
        self._project: tuple[float, ProjectAdk | None] | None = None
        # What asks, what indexes or deletes, and what looks something up. The surfaces let requests in.
        self.admission = Admission()
        self.indexing = Admission(INDEXING)
        self.lookups = Admission(LOOKUPS)
        self._lock = threading.RLock()
        self._settings: Settings | None = None
        self._names: ResolvedNames | None = None
        self._opened: dict[str, EvidenceService] = {}

    @property
    def settings(self) -> Settings:
        with self._lock:
            if self._settings is None:
                self._settings = self._load()
                self._names = ResolvedNames(self._settings)
                load = self._settings.load
                self.admission.limits = Limits.of(load.running, load.waiting)
            return self._settings

    @property
    def time_budget_ms(self) -> int | None:
        """How long a request is willing to wait that does not say so itself; None before the settings are loaded."""
        # An event loop asks, and must not wait for whoever holds the lock.
        settings = self._settings
        return None if settings is None else settings.pack.time_budget_ms

    def load(self) -> ProcessLoad:
        """How far this process is used to capacity; raises where the settings cannot be loaded."""
        service = self.open()
        return ProcessLoad(requests=self.admission.use(), shared=service.door.shared, caches=service.caches())

    def open(self, name: str = MAIN) -> EvidenceService:
        """The service of an index; the main index is that of the project's version. All indexes share their models."""
        return self.open_chosen(self.chosen()) if name == MAIN else self._service(name)

    def open_chosen(self, chosen: ChosenIndex) -> EvidenceService:
        """The service of an index that was chosen before."""
        return self._service(chosen.name or MAIN)

    def _service(self, name: str) -> EvidenceService:
        from adk_evidence.search.session import EvidenceService

        with self._lock:
            try:
                settings = self.settings_of(name)
            except UnknownIndexError:
                if (gone := self._opened.pop(name, None)) is not None:
                    gone.retire()
                raise
            opened = self._opened.get(name)
            if opened is None or opened.settings is not settings:
                if opened is not None:
                    opened.retire()
                opened = self._opened[name] = (
                    EvidenceService(settings, keep_queries=KEPT_QUERIES)
                    if name == MAIN
                    else self._service(MAIN).beside(settings)
                )
            return opened

    def settings_of(self, name: str) -> Settings:
        """The settings of an index; see `ResolvedNames`."""
        with self._lock:
            settings = self.settings
            return settings if self._names is None else self._names.settings_of(name)

    def chosen(self) -> ChosenIndex:
        """The index that answers for the project, with the project's version."""
        with self._lock:
            return choose_index(self.settings, self._wanted())

    def _wanted(self) -> ProjectAdk | None:
        """The project's version, which is looked for again after a while."""
        with self._lock:
            settings, now = self.settings, self._clock()
            if self._project is None or now - self._project[0] > LOOK_AGAIN_SECONDS:
                self._project = (now, self._find_project(settings))
            return self._project[1]

    def chosen_for(self, request: EvidenceRequest) -> ChosenIndex:
        """The index of the version that a question names, or else of the project's version."""
        from adk_evidence.search.choice import index_for

        with self._lock:
            return index_for(self.settings, request.query, self._wanted(), request.filters.repo_ref_hint)

    def find(
        self,
        request: EvidenceRequest,
        cancelled: Cancelled | None = None,
        chosen: ChosenIndex | None = None,
        beside: str | None = None,
    ) -> EvidencePack:
        """Answer a request from an index that was chosen for it before, or else is now; see `Session.ask`.

        `beside` names a second index; see `ask_together`.
        """
        from adk_evidence.search.context import Context
        from adk_evidence.search.together import ask_together, open_side

        chosen = chosen or self.chosen_for(request)
        request = request.model_copy(update={"project": request.project or chosen.project})
        if beside is None:
            return self.open_chosen(chosen).ask(request, cancelled)
        first, second = self.open_chosen(chosen), self._service(beside)
        with (
            open_side(chosen.name or MAIN, first, Context(cancelled), strict=request.strict) as one,
            open_side(beside, second, Context(cancelled), strict=request.strict) as other,
        ):
            return ask_together(request, one, other)

    def release(self, name: str) -> None:
        """Close one index, before it is deleted."""
        with self._lock:
            opened = self._opened.pop(name, None)
        if opened is not None:
            opened.close()

    def close(self) -> None:
        """Release the indexes and the models; the next question opens them anew."""
        with self._lock:
            opened, self._opened = self._opened, {}
            self._settings = self._names = self._project = None
        for service in opened.values():
            service.close()

    def read(self, citation: str) -> CitedSource:
        """The source that a citation points to, in whichever index it was found.

        Citations of a codebase begin with the name of its index, those of the ADK with the name of a repository. Where
        a codebase is called like a repository, the cited commit tells them apart. A version of the ADK that is neither
        the project's nor the main index's is read from its own index.

        Raises:
            InvalidRequestError: The text is not a citation, or it stands for several files.
            NotIndexedError: No index holds such a file or page at that commit.
            IndexMissingError: Nothing was ingested yet.
            SourceError: The source cannot be read, or the file is gone from it.
        """
        return self._found(citation, lambda session: session.read(citation))

    def read_as_reader(self, citation: str) -> tuple[CitedSource, tuple[LeftOut, ...]]:
        """What `read` gives, with the lines that are for readers of other programming languages."""

        def read(session: Session) -> tuple[CitedSource, tuple[LeftOut, ...]]:
            source = session.read(citation)
            return source, session.lines_for_others(source)

        return self._found(citation, read)

    def _found(self, citation: str, read: Callable[[Session], _Read]) -> _Read:
        """What the first index that has a citation gives; the errors are those of `read`."""
        from adk_evidence.search.read import NotIndexedError, is_of_index, most_telling

        named = parse_citation(citation).name
        name = named or MAIN
        is_codebase = name != MAIN
        failures: list[EvidenceError] = []
        for index in dict.fromkeys((name, self.chosen().name or MAIN, MAIN, *self._versions_of(citation))):
            try:
                with self._service(index).session() as session:
                    return read(session)
            except UnknownIndexError:
                is_codebase = False
            except EvidenceError as exc:
                # What the first index says of the file itself counts.
                if not failures and not is_of_index(exc):
                    raise
                failures.append(exc)
        if named is not None and not is_codebase:
            names = sorted({cited_as for index in list_indexes(self.settings) for cited_as in index.cited_as})
            if names and name not in names:
                hint = f"Citations begin with {' or '.join(names)}."
                raise NotIndexedError(f"No index has sources called {name!r}.", hint)
        # The failure of the index that has this name comes first.
        raise most_telling(failures)

    def _versions_of(self, citation: str) -> list[str]:
        """The version index that a citation of the ADK names by its commit, if there is one."""
        version = version_of(parse_citation(citation).commit or "", ())
        known = indexed_versions(self.settings) if version else []
        return [index_name(one) for one in known if is_same_version(one, str(version))]


def valid(model: type[_Model], values: Mapping[str, Any]) -> _Model:
    """Values that a model wrote, checked and typed; the sentence of the `InvalidRequestError` names a bad value."""
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        where, what = first_problem(exc)
        sentence = f"The argument {where or 'request'} is not valid: {what}."
        raise InvalidRequestError(sentence, "Correct it and call again.") from exc


class UnexpectedError(EvidenceError):
    """An unexpected failure."""


class MachineError(EvidenceError):
    """Memory, disk or a file of this machine failed."""


def told(exc: Exception) -> EvidenceError:
    """An expected failure as it is; of any other failure only the type, as its message may quote files or a key."""
    if isinstance(exc, EvidenceError):
        return exc
    if isinstance(exc, MemoryError | OSError):
        reason = getattr(exc, "strerror", None) or type(exc).__name__
        return MachineError(f"The machine cannot do this: {reason}.", "Free memory or disk space, then try again.")
    _LOG.error("a request of an agent failed:\n%s", where_raised(exc))
    return UnexpectedError(f"This failed unexpectedly ({type(exc).__name__}).", "Run `adk-evidence doctor`.")
