"""The core behind the server: one service for the current settings, replaced when the settings change."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from adk_evidence.commands import remember_options
from adk_evidence.errors import EvidenceError, UnknownIndexError
from adk_evidence.settings import Settings, load_settings
from adk_evidence_lsp.projects import Project, chosen_for, used_adk
from adk_evidence_lsp.protocol import ClientSettings

if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.search.session import EvidenceService, Session
    from adk_evidence.search.together import Side
    from adk_evidence.services.eventloop import Cancelled

_LOG = logging.getLogger(__name__)

_Read = TypeVar("_Read")
OpenService = Callable[[Settings], "EvidenceService"]
# Takes the settings of the main index.
Choose = Callable[[Settings], "ChosenIndex"]
# A project may be upgraded while somebody types; to look takes milliseconds.
LOOK_AGAIN_SECONDS = 5.0


def open_service(settings: Settings) -> EvidenceService:
    """The service of the settings. Its parts are imported here, after the server has answered its first request."""
    from adk_evidence.search.session import EvidenceService

    return EvidenceService(settings)


@dataclass(frozen=True)
class Pinned:
    """A session for one request, and why its index was chosen."""

    session: Session
    chosen: ChosenIndex


class _Users:
    """A service, and how many use it: requests, and the backend as long as it hands the service out.

    Services of other versions of the ADK, and of codebases, stand beside it and share its models.
    """

    def __init__(self, service: EvidenceService) -> None:
        self.service = service
        self.count = 1
        self._beside: dict[str, EvidenceService] = {}
        self._lock = threading.Lock()

    def of(self, settings: Settings) -> EvidenceService:
        """The service on the main index, or on the index of a version or codebase, whose settings are given."""
        name = _name_beside(settings)
        if name is None:
            return self.service
        with self._lock:
            found = self._beside.get(name)
            if found is None or found.settings != settings:
                if found is not None:
                    found.retire()
                found = self._beside[name] = self.service.beside(settings)
            return found

    def gone(self) -> list[str]:
        """The names of indexes that have a service here, and do not exist any more."""
        from adk_evidence.index.registry import codebases
        from adk_evidence.index.versions import index_name, indexed_versions

        with self._lock:
            kept = list(self._beside)
        if not kept:
            return []
        main = self.service.settings
        known = {*map(index_name, indexed_versions(main)), *(one.name for one in codebases(main))}
        return [name for name in kept if name not in known]

    def drop(self, names: Iterable[str]) -> list[EvidenceService]:
        """Hand out the services of these indexes no longer; the caller closes them."""
        with self._lock:
            return [self._beside.pop(name) for name in names if name in self._beside]

    def close(self) -> None:
        for service in self._beside.values():
            service.close()
        self.service.close()


def _name_beside(settings: Settings) -> str | None:
    """The name of the index of a version or codebase; None for the main index."""
    from adk_evidence.index.settings import CodebaseSettings
    from adk_evidence.index.versions import VersionSettings, index_name

    if isinstance(settings, CodebaseSettings):
        return settings.codebase.name
    return index_name(settings.adk_version) if isinstance(settings, VersionSettings) else None


class Backend:
    """Hands out the service, and closes a replaced one with its last request. Safe to share between threads."""

    def __init__(self, open_service: OpenService = open_service, clock: Callable[[], float] = time.monotonic) -> None:
        self._open = open_service
        # Two locks: opening a service takes long, and the event loop must not wait for that to change the settings.
        self._opening = threading.Lock()
        self._lock = threading.Lock()
        self._key: tuple[str | None, str | None] = (None, None)
        self._users: _Users | None = None
        self._clock = clock
        self._used: dict[Project, tuple[float, ProjectAdk | None]] = {}

    def configure(self, client: ClientSettings) -> None:
        """Take the client's home and profile; if they changed, another service answers from now on."""
        remember_options(client.home, client.profile)
        key = (client.home, client.profile)
        with self._lock:
            if key == self._key:
                return
            self._key = key
            self._used = {}
            replaced, self._users = self._users, None
        if replaced is not None:
            _LOG.info("Home or profile changed: the index is opened anew")
            self._release(replaced)

    def settings(self) -> Settings:
        """The core's current settings.

        Raises:
            SettingsError: A value is not valid, or there is no such profile.
        """
        home, profile = self._key
        return load_settings({"home": home} if home else {}, profile=profile)

    @contextmanager
    def session(
        self, project: Project | None, cancelled: Cancelled | None = None, question: str = "", ref: str | None = None
    ) -> Iterator[Pinned]:
        """A session for one request, on the published index of the version that the project uses.

        See `chosen_for` for what a question and a filter's `ref` change.

        Raises:
            SettingsError: The settings are not valid.
            EvidenceError: There is no index, or other models built it.
        """
        with self.session_on(lambda main: chosen_for(main, project, question, ref), cancelled) as pinned:
            yield pinned

    @contextmanager
    def session_on(self, choose: Choose, cancelled: Cancelled | None = None) -> Iterator[Pinned]:
        """A session for one request on the index that `choose` takes; fails as `session` does."""
        from adk_evidence.search.context import Context

        with self._use(choose) as (service, chosen), service.session(Context(cancelled)) as session:
            yield Pinned(session, chosen)

    @contextmanager
    def side(self, name: str, cancelled: Cancelled | None = None, *, strict: bool | None = None) -> Iterator[Side]:
        """The index of a codebase as one of two that answer a request; see `open_side`.

        An index that was deleted since its name was found is a side that fails.
        """
        from adk_evidence.index.registry import settings_of
        from adk_evidence.search.context import Context
        from adk_evidence.search.together import Side, open_side

        users = self._acquire()
        try:
            main = users.service.settings
            try:
                service = users.of(settings_of(main, name))
            except EvidenceError as exc:
                if main.retrieval.strict if strict is None else strict:
                    raise
                yield Side(name, exc, of_codebase=True)
            else:
                with open_side(name, service, Context(cancelled), strict=strict) as side:
                    yield side
        finally:
            self._release(users)

    @contextmanager
    def use(
        self, project: Project | None = None, question: str = "", ref: str | None = None
    ) -> Iterator[tuple[EvidenceService, ChosenIndex]]:
        """The service for one request, and why its index was chosen; the service stays open until the request ends.

        Raises:
            SettingsError: The settings are not valid.
        """
        with self._use(lambda main: chosen_for(main, project, question, ref)) as used:
            yield used

    @contextmanager
    def use_recent(self, project: Project | None) -> Iterator[tuple[EvidenceService, ChosenIndex]]:
        """`use` for requests that come with every key: a project's new version is noticed some seconds later."""
        from adk_evidence.index.versions import choose_index

        with self._use(lambda main: choose_index(main, self._recently_used(main, project))) as used:
            yield used

    @contextmanager
    def _use(self, choose: Choose) -> Iterator[tuple[EvidenceService, ChosenIndex]]:
        users = self._acquire()
        try:
            chosen = choose(users.service.settings)
            yield users.of(chosen.settings), chosen
        finally:
            self._release(users)

    def ask_versions(
        self, projects: Sequence[Project], ask: Callable[[Pinned], _Read]
    ) -> list[tuple[str | None, _Read]]:
        """What the index of each version answers that the projects use, with the version; None where it is not known.

        For requests that come with every key: an index that fails is left out, and a project that changes its version
        is noticed some seconds later.

        Raises:
            SettingsError: The settings are not valid.
        """
        from adk_evidence.index.versions import choose_index

        users = self._acquire()
        try:
            main = users.service.settings
            chosen = [choose_index(main, self._recently_used(main, project)) for project in projects or (None,)]
            found: list[tuple[str | None, _Read]] = []
            for each in {each.name: each for each in chosen}.values():
                with suppress(EvidenceError), users.of(each.settings).session() as session:
                    found.append((each.version, ask(Pinned(session, each))))
            return found
        finally:
            self._release(users)

    def _recently_used(self, settings: Settings, project: Project | None) -> ProjectAdk | None:
        """The google-adk of a project, looked up again after some seconds."""
        if project is None:
            return None
        now = self._clock()
        known = self._used.get(project)
        if known is None or now - known[0] > LOOK_AGAIN_SECONDS:
            known = self._used[project] = (now, used_adk(settings, project))
        return known[1]

    def read(
        self,
        project: Project | None,
        read: Callable[[Session], _Read],
        name: str | None = None,
        *,
        alone: bool = False,
    ) -> _Read:
        """What the first index holds that has it: that of the project's version, the main index, other versions.

        Where `name`, by which sources are cited, is that of a codebase, its index comes before all, and where `alone`,
        no other one is asked.

        Raises:
            SettingsError: The settings are not valid.
            EvidenceError: No index has it; see `most_telling`.
        """
        from adk_evidence.search.read import is_of_index, most_telling

        users = self._acquire()
        try:
            failures: list[EvidenceError] = []
            for service in _services(users, project, name, alone=alone):
                try:
                    with service.session() as session:
                        return read(session)
                except EvidenceError as exc:
                    # What the project's own index says of the file itself counts.
                    if not failures and not is_of_index(exc):
                        raise
                    failures.append(exc)
            raise most_telling(failures)
        finally:
            self._release(users)

    def close(self) -> None:
        """Close the service once no request uses it."""
        with self._lock:
            users, self._users = self._users, None
        if users is not None:
            self._release(users)

    def _acquire(self) -> _Users:
        with self._opening:
            with self._lock:
                if self._users is not None:
                    self._users.count += 1
                    return self._users
                key = self._key
            users = _Users(self._open(self.settings()))
            with self._lock:
                # Where the settings have changed meanwhile, the service serves this request alone.
                if key == self._key:
                    users.count += 1
                    self._users = users
            return users

    def _release(self, users: _Users) -> None:
        gone: list[str] = []
        # A folder that cannot be listed must not keep a service open for ever.
        with suppress(EvidenceError, OSError):
            gone = users.gone()
        with self._lock:
            users.count -= 1
            unused = users.count == 0
            # With the last request: another one may still use the service.
            idle = users is self._users and users.count == 1
            dropped = users.drop(gone) if idle else []
        for service in dropped:
            service.close()
        if unused:
            users.close()


def _services(users: _Users, project: Project | None, name: str | None, *, alone: bool) -> Iterator[EvidenceService]:
    """The services of a named codebase and of all indexes of the ADK, each made when it is asked for.

    Where `alone`, that of the codebase is the only one, if there is one.
    """
    from adk_evidence.index.registry import settings_of
    from adk_evidence.index.settings import CodebaseSettings
    from adk_evidence.index.versions import index_name, indexed_versions, settings_for_version

    main = users.service.settings
    if name is not None:
        with suppress(UnknownIndexError):
            own = settings_of(main, name)
            if isinstance(own, CodebaseSettings):
                yield users.of(own)
                if alone:
                    return
    chosen = chosen_for(main, project)
    yield users.of(chosen.settings)
    if chosen.name is not None:
        yield users.service
    for version in reversed(indexed_versions(main)):
        if index_name(version) != chosen.name:
            yield users.of(settings_for_version(main, version))
