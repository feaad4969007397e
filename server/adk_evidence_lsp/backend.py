"""The core behind the server: one service for the current settings, replaced when the settings change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from adk_evidence.commands import remember_options
from adk_evidence.errors import EvidenceError, IndexMissingError
from adk_evidence.settings import Settings, load_settings
from adk_evidence_lsp.projects import Project, chosen_for
from adk_evidence_lsp.protocol import ClientSettings

if TYPE_CHECKING:
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.search.session import EvidenceService, Session
    from adk_evidence.services.eventloop import Cancelled

_LOG = logging.getLogger(__name__)

_Read = TypeVar("_Read")
OpenService = Callable[[Settings], "EvidenceService"]


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

    Services of other versions of the ADK stand beside it and share its models.
    """

    def __init__(self, service: EvidenceService) -> None:
        self.service = service
        self.count = 1
        self._beside: dict[str, EvidenceService] = {}
        self._lock = threading.Lock()

    def of(self, settings: Settings) -> EvidenceService:
        """The service on the main index, or on the index of a version, whose settings are given."""
        from adk_evidence.index.versions import VersionSettings

        if not isinstance(settings, VersionSettings):
            return self.service
        with self._lock:
            found = self._beside.get(settings.adk_version)
            if found is None:
                found = self._beside[settings.adk_version] = self.service.beside(settings)
            return found

    def close(self) -> None:
        for service in self._beside.values():
            service.close()
        self.service.close()


class Backend:
    """Hands out the service, and closes a replaced one with its last request. Safe to share between threads."""

    def __init__(self, open_service: OpenService = open_service) -> None:
        self._open = open_service
        # Two locks: opening a service takes long, and the event loop must not wait for that to change the settings.
        self._opening = threading.Lock()
        self._lock = threading.Lock()
        self._key: tuple[str | None, str | None] = (None, None)
        self._users: _Users | None = None

    def configure(self, client: ClientSettings) -> None:
        """Take the client's home and profile; if they changed, another service answers from now on."""
        remember_options(client.home, client.profile)
        key = (client.home, client.profile)
        with self._lock:
            if key == self._key:
                return
            self._key = key
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
        from adk_evidence.search.context import Context

        with self.use(project, question, ref) as (service, chosen), service.session(Context(cancelled)) as session:
            yield Pinned(session, chosen)

    @contextmanager
    def use(
        self, project: Project | None = None, question: str = "", ref: str | None = None
    ) -> Iterator[tuple[EvidenceService, ChosenIndex]]:
        """The service for one request, and why its index was chosen; the service stays open until the request ends.

        Raises:
            SettingsError: The settings are not valid.
        """
        users = self._acquire()
        try:
            chosen = chosen_for(users.service.settings, project, question, ref)
            yield users.of(chosen.settings), chosen
        finally:
            self._release(users)

    def read(self, project: Project | None, read: Callable[[Session], _Read]) -> _Read:
        """What the first index holds that has it: that of the project's version, the main index, other versions.

        Raises:
            SettingsError: The settings are not valid.
            EvidenceError: No index has it; this is the failure of the project's own.
        """
        from adk_evidence.search.read import NotIndexedError

        users = self._acquire()
        try:
            failures: list[EvidenceError] = []
            for service in _services(users, project):
                try:
                    with service.session() as session:
                        return read(session)
                except (NotIndexedError, IndexMissingError) as exc:
                    failures.append(exc)
            raise failures[0]
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
        with self._lock:
            users.count -= 1
            unused = users.count == 0
        if unused:
            users.close()


def _services(users: _Users, project: Project | None) -> Iterator[EvidenceService]:
    """The services of all indexes of the ADK, that of the project first."""
    from adk_evidence.index.versions import indexed_versions, settings_for_version

    main = users.service.settings
    settings = [chosen_for(main, project).settings, main]
    settings += [settings_for_version(main, version) for version in reversed(indexed_versions(main))]
    yield from dict.fromkeys(users.of(each) for each in settings)
