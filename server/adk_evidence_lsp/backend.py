"""The core behind the server: one service for the settings as they are, replaced when they change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_evidence.commands import remember_options
from adk_evidence.settings import Settings, load_settings
from adk_evidence_lsp.protocol import ClientSettings

if TYPE_CHECKING:
    from adk_evidence.search.pipeline import EvidenceService
    from adk_evidence.symbols.current import CurrentSymbols

_LOG = logging.getLogger(__name__)

OpenService = Callable[[Settings], "EvidenceService"]


def open_service(settings: Settings) -> EvidenceService:
    """The service that the settings name; what it is made of is imported here, after the server has answered."""
    from adk_evidence.search.pipeline import EvidenceService

    return EvidenceService(settings)


@dataclass
class Session:
    """A service with the symbols and the ranked targets of its index, for the length of a request."""

    settings: Settings
    service: EvidenceService
    symbols: CurrentSymbols
    users: int = 0
    retired: bool = False


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
        self._session: Session | None = None

    def configure(self, client: ClientSettings) -> None:
        """Take the client's home and profile; another service answers from now on if they changed."""
        remember_options(client.home, client.profile)
        key = (client.home, client.profile)
        with self._lock:
            if key == self._key:
                return
            self._key = key
            retired, self._session = self._session, None
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
    def use(self) -> Iterator[Session]:
        """The service for one request; it stays open until the request ends.

        Raises:
            SettingsError: The settings are not valid.
        """
        session = self._acquire()
        try:
            yield session
        finally:
            with self._lock:
                session.users -= 1
                closing = session.retired and session.users == 0
            if closing:
                session.service.close()

    def _acquire(self) -> Session:
        from adk_evidence.symbols.current import CurrentSymbols

        with self._opening:
            session = self._known()
            if session is None:
                key = self._key
                settings = self.settings()
                service = self._open(settings)
                symbols = CurrentSymbols(settings, service.pin, service.dense)
                session = Session(settings, service, symbols, users=1)
                with self._lock:
                    # With other settings by now, it serves this request alone.
                    session.retired = key != self._key
                    self._session = self._session if session.retired else session
            return session

    def _known(self) -> Session | None:
        with self._lock:
            if self._session is not None:
                self._session.users += 1
            return self._session

    def close(self) -> None:
        """Close the service once nobody uses it."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            self._retire(session)

    def _retire(self, session: Session) -> None:
        with self._lock:
            session.retired = True
            closing = session.users == 0
        if closing:
            session.service.close()
