"""The desk at which every surface asks: it keeps the services of all indexes and chooses the index that answers.

The editor's server, the servers for agents and the command line differ in where their settings come from and in how
they find the google-adk of a project. Everything else about indexes is here. Heavy modules are imported when a request
comes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from adk_evidence.errors import EvidenceError, UnknownIndexError
from adk_evidence.settings import Settings

if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.models.warning import Warning
    from adk_evidence.search.context import Context
    from adk_evidence.search.session import EvidenceService, Session
    from adk_evidence.search.together import Answering
    from adk_evidence.services.eventloop import Cancelled

_Read = TypeVar("_Read")
OpenService = Callable[[Settings], "EvidenceService"]
# Finds the google-adk of a project, by the settings of the main index. What a project is, the surface knows.
FindAdk = Callable[[Settings, Hashable], "ProjectAdk | None"]
# Takes the settings of the main index and of the index that is asked, and whether the request was cancelled. Brings the
# index of a codebase up to date if that is quick; returns a warning if the index stays behind its files.
Freshen = Callable[[Settings, Settings, "Cancelled | None"], "Warning | None"]


def open_service(settings: Settings) -> EvidenceService:
    """The service of the settings."""
    from adk_evidence.search.session import EvidenceService

    return EvidenceService(settings)


def as_it_is(main: Settings, asked: Settings, cancelled: Cancelled | None) -> Warning | None:
    """Where the files of codebases are not looked at."""


def no_adk(settings: Settings, project: Hashable) -> None:
    """Where no project is looked at."""


class Indexes:
    """The services of the indexes of one home, each made when it is first asked. Safe to share between threads.

    Services of versions of the ADK and of codebases stand beside the main one and share its models.

    Args:
        settings: Of the main index.
        find_adk: Finds the google-adk of a project.
        open_service: Makes the service of the main index.
        freshen: Called before an index is opened.
    """

    def __init__(
        self,
        settings: Settings,
        find_adk: FindAdk = no_adk,
        open_service: OpenService = open_service,
        freshen: Freshen = as_it_is,
    ) -> None:
        self.settings = settings
        self.freshened = partial(freshen, settings)
        # How many use the services: requests, and the desk as long as it hands them out.
        self.users = 1
        self._find_adk = find_adk
        self._open = open_service
        self._lock = threading.RLock()
        self._main: EvidenceService | None = None
        self._beside: dict[str, EvidenceService] = {}

    def choose(self, project: Hashable = None, question: str = "") -> ChosenIndex:
        """The index that answers a question: that of the version that the question or else the project names."""
        from adk_evidence.search.choice import index_for

        return index_for(self.settings, question, self._find_adk(self.settings, project))

    def named(self, name: str) -> ChosenIndex:
        """The index of a name.

        Raises:
            UnknownIndexError: No index has this name; the hint lists the existing ones.
        """
        from adk_evidence.index.registry import settings_of
        from adk_evidence.index.versions import ChosenIndex

        return ChosenIndex(settings_of(self.settings, name), None, None, exact=True)

    def service(self, settings: Settings | None = None) -> EvidenceService:
        """The service of an index, whose settings are given, or else of the main index."""
        name = None if settings is None else settings.index_name
        with self._lock:
            if self._main is None:
                self._main = self._open(self.settings)
            if settings is None or name is None:
                return self._main
            found = self._beside.get(name)
            if found is None or found.settings != settings:
                if found is not None:
                    found.retire()
                found = self._beside[name] = self._main.beside(settings)
            return found

    @contextmanager
    def answering(
        self,
        chosen: ChosenIndex,
        beside: Settings | None = None,
        context: Context | None = None,
        *,
        strict: bool | None,
    ) -> Iterator[Answering]:
        """The chosen index, and perhaps a second one beside it, open for one request.

        Where there are two, one that cannot be opened is a side that fails; see `open_side`.

        Raises:
            EvidenceError: The only index cannot be opened, or in strict mode one of them cannot.
        """
        from adk_evidence.search.context import Context
        from adk_evidence.search.together import Answering, Side, open_side

        context = context or Context()
        asked = [each for each in (chosen.settings, beside) if each is not None]
        older = tuple(filter(None, [self.freshened(each, context.cancelled) for each in asked]))
        services = [self.service(each) for each in asked]
        with ExitStack() as stack:
            if beside is None:
                sides = [Side.of(chosen.settings, stack.enter_context(services[0].session(context)))]
            else:
                sides = [stack.enter_context(open_side(one, context, strict=strict)) for one in services]
            yield Answering(chosen, tuple(sides), older)

    def read(self, read: Callable[[Session], _Read], project: Hashable = None, name: str | None = None) -> _Read:
        """What the first index holds that has it: that of the project's version, the main index, other versions.

        Where `name`, by which sources are cited, is that of a codebase, its index comes before all. A codebase may
        be called like a repository of the ADK: the cited commit tells them apart.

        Raises:
            NotIndexedError: No index has it.
            EvidenceError: An index has it and cannot read it, or no index can be opened; see `most_telling`.
        """
        from adk_evidence.search.read import is_of_index, most_telling

        failures: list[EvidenceError] = []
        for settings in self._holding(project, name):
            try:
                with self.service(settings).session() as session:
                    return read(session)
            except EvidenceError as exc:
                # What the first index says of the file itself counts.
                if not failures and not is_of_index(exc):
                    raise
                failures.append(exc)
        raise most_telling(failures)

    def _holding(self, project: Hashable, name: str | None) -> Iterator[Settings]:
        """The settings of a named codebase and of all indexes of the ADK."""
        from adk_evidence.index.settings import CodebaseSettings
        from adk_evidence.index.versions import index_name, indexed_versions, settings_for_version

        if name is not None:
            with suppress(UnknownIndexError):
                own = self.named(name).settings
                if isinstance(own, CodebaseSettings):
                    yield own
        chosen = self.choose(project)
        yield chosen.settings
        if chosen.name is not None:
            yield self.settings
        for version in reversed(indexed_versions(self.settings)):
            if index_name(version) != chosen.name:
                yield settings_for_version(self.settings, version)

    def gone(self) -> list[str]:
        """The names of indexes that have a service here, and do not exist any more."""
        from adk_evidence.index.registry import codebases
        from adk_evidence.index.versions import index_name, indexed_versions

        with self._lock:
            kept = list(self._beside)
        if not kept:
            return []
        known = {*map(index_name, indexed_versions(self.settings)), *(one.name for one in codebases(self.settings))}
        return [name for name in kept if name not in known]

    def release(self, *names: str) -> None:
        """Close the services of these indexes; before an index is deleted, or afterwards."""
        with self._lock:
            released = [self._beside.pop(name) for name in names if name in self._beside]
        for service in released:
            service.close()

    def close(self) -> None:
        """Release all indexes and the models."""
        self.release(*self._beside)
        if self._main is not None:
            self._main.close()


class Desk:
    """Hands out the indexes of the current settings. Settings that change take effect with the next request.

    What was handed out before is closed with the last request that uses it. Safe to share between threads.

    Args:
        load: Loads the settings of the main index: at the first request, and again after a failure, `close` and
            `change`.
        find_adk: See `Indexes`, also for the other arguments.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        find_adk: FindAdk = no_adk,
        open_service: OpenService = open_service,
        freshen: Freshen = as_it_is,
    ) -> None:
        self.load = load
        self._make = partial(Indexes, find_adk=find_adk, open_service=open_service, freshen=freshen)
        self._lock = threading.Lock()
        self._current: Indexes | None = None

    @contextmanager
    def open(self) -> Iterator[Indexes]:
        """The indexes for one request, which stay open until the request ends.

        Raises:
            SettingsError: The settings are not valid.
        """
        with self._lock:
            if self._current is None:
                self._current = self._make(self.load())
            indexes = self._current
            indexes.users += 1
        try:
            yield indexes
        finally:
            self._leave(indexes)

    @contextmanager
    def use(self, project: Hashable = None) -> Iterator[tuple[EvidenceService, ChosenIndex]]:
        """The service of the index that answers for a project, and why it was chosen."""
        with self.open() as indexes:
            chosen = indexes.choose(project)
            yield indexes.service(chosen.settings), chosen

    @contextmanager
    def session(self, project: Hashable = None) -> Iterator[tuple[Session, ChosenIndex]]:
        """A session on the published index that answers for a project, and why it was chosen.

        Raises:
            SettingsError: The settings are not valid.
            EvidenceError: There is no index, or other models built it.
        """
        with self.use(project) as (service, chosen), service.session() as session:
            yield session, chosen

    @property
    def settings(self) -> Settings | None:
        """The settings that answer now; None before they are loaded. An event loop may ask."""
        current = self._current
        return None if current is None else current.settings

    def change(self, load: Callable[[], Settings]) -> None:
        """Take the settings from elsewhere from now on."""
        with self._lock:
            self.load = load
        self.close()

    def close(self) -> None:
        """Release the indexes once no request uses them; the next request opens them anew."""
        with self._lock:
            closed, self._current = self._current, None
        if closed is not None:
            self._leave(closed)

    def _leave(self, indexes: Indexes) -> None:
        gone: list[str] = []
        # A folder that cannot be listed must not keep a service open for ever.
        with suppress(EvidenceError, OSError):
            gone = indexes.gone()
        with self._lock:
            indexes.users -= 1
            unused = indexes.users == 0
            # With the last request: another one may still use the service.
            is_idle = indexes is self._current and indexes.users == 1
        if is_idle:
            indexes.release(*gone)
        if unused:
            indexes.close()
