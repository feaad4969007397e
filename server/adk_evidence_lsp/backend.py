"""The core behind the server: one service for the settings as they are, replaced when they change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adk_evidence.commands import remember_options
from adk_evidence.settings import Settings, load_settings
from adk_evidence_lsp.protocol import ClientSettings

if TYPE_CHECKING:
    from adk_evidence.search.session import EvidenceService, Session
    from adk_evidence.services.eventloop import Cancelled

_LOG = logging.getLogger(__name__)

OpenService = Callable[[Settings], "EvidenceService"]


def open_service(settings: Settings) -> EvidenceService:
    """The service that the settings name; what it is made of is imported here, after the server has answered."""
    from adk_evidence.search.session import EvidenceService

    return EvidenceService(settings)


class _Users:
    """How many requests use a service, and whether it closes with the last of them."""

    def __init__(self, service: EvidenceService) -> None:
        self.service = service
        self.count = 1
        self.retired = False


class Backend:
    """Hands out the service. Methods may be called from several threads.

    Args:
        open_service: Makes a service of settings.
    """

    def __init__(self, open_service: OpenService = open_service) -> None:
        self._open = open_service
        # Two locks: opening a service takes long, and the event loop must not wait for it to change the settings.
        self._opening = threading.Lock()
        self._lock = threading.Lock()
        self._key: tuple[str | None, str | None] = (None, None)
        self._users: _Users | None = None

    def configure(self, client: ClientSettings) -> None:
        """Take the client's home and profile; another service answers from now on if they changed."""
        remember_options(client.home, client.profile)
        key = (client.home, client.profile)
        with self._lock:
            if key == self._key:
                return
            self._key = key
            retired, self._users = self._users, None
        if retired is not None:
            _LOG.info("Home or profile changed: the index is opened anew")
            self._retire(retired)

    def settings(self) -> Settings:
        """The core's settings as they are now.

        Raises:
            SettingsError: A value is not valid, or there is no such profile.
        """
        home, profile = self._key
        overrides: dict[str, Any] = {"home": home} if home else {}
        return load_settings(overrides, profile=profile)

    @contextmanager
    def session(self, cancelled: Cancelled | None = None) -> Iterator[Session]:
        """A session on the published index for one request.

        Raises:
            SettingsError: The settings are not valid.
            EvidenceError: No index, or one of other models.
        """
        from adk_evidence.search.context import Context

        with self.use() as service, service.session(Context(cancelled)) as session:
            yield session

    @contextmanager
    def use(self) -> Iterator[EvidenceService]:
        """The service for one request; it stays open until the request ends.

        Raises:
            SettingsError: The settings are not valid.
        """
        users = self._acquire()
        try:
            yield users.service
        finally:
            with self._lock:
                users.count -= 1
                closing = users.retired and users.count == 0
            if closing:
                users.service.close()

    def _acquire(self) -> _Users:
        with self._opening:
            users = self._known()
            if users is None:
                key = self._key
                users = _Users(self._open(self.settings()))
                with self._lock:
                    # With other settings by now, it serves this request alone.
                    users.retired = key != self._key
                    self._users = self._users if users.retired else users
            return users

    def _known(self) -> _Users | None:
        with self._lock:
            if self._users is not None:
                self._users.count += 1
            return self._users

    def close(self) -> None:
        """Close the service once nobody uses it."""
        with self._lock:
            users, self._users = self._users, None
        if users is not None:
            self._retire(users)

    def _retire(self, users: _Users) -> None:
        with self._lock:
            users.retired = True
            closing = users.count == 0
        if closing:
            users.service.close()
