"""What agents ask through: a service with symbols and targets for each index, opened at the first question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.names import MAIN
from adk_evidence.index.registry import settings_of
from adk_evidence.settings import Settings, load_settings
from adk_evidence.validation import first_problem

if TYPE_CHECKING:
    from adk_evidence.models.request import EvidenceRequest
    from adk_evidence.search.pipeline import EvidenceService
    from adk_evidence.symbols.lookup import CurrentSymbols
    from adk_evidence.symbols.targets.service import CurrentTargets

# Agents ask the same question of several indexes, and again with other filters.
KEPT_QUERIES = 512


@dataclass(frozen=True)
class Opened:
    """The parts behind the tools; each follows the published index by itself."""

    settings: Settings
    service: EvidenceService
    symbols: CurrentSymbols
    targets: CurrentTargets


class AgentSession:
    """Opens each index when it is first asked. Methods may be called from several threads.

    Args:
        load: Gives the settings; called again until it once succeeded.
    """

    def __init__(self, load: Callable[[], Settings] = load_settings) -> None:
        self._load = load
        self._lock = threading.RLock()
        self._states = threading.local()
        self._settings: Settings | None = None
        self._opened: dict[str, Opened] = {}

    @property
    def settings(self) -> Settings:
        """The settings of the main index.

        Raises:
            SettingsError: They are not valid.
        """
        with self._lock:
            if self._settings is None:
                self._settings = self._load()
            return self._settings

    def open(self, name: str = MAIN) -> Opened:
        """The service on an index with its symbols and targets. All indexes share the models of the main one.

        Args:
            name: Of the index.

        Raises:
            SettingsError: The settings are not valid.
            ModelError: A model that they name cannot be had.
            EvidenceError: There is no index of this name.
        """
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open(name)
            return self._opened[name]

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Within it, this thread reads every index that it holds as that was at first, whatever is published meanwhile.

        `hold` holds one. Both may be nested.
        """
        if getattr(self._states, "held", None) is not None:
            yield
            return
        self._states.held = held = ExitStack()
        try:
            yield
        finally:
            self._states.held = None
            held.close()

    def hold(self, opened: Opened) -> None:
        """Hold an index until `one_state` ends.

        Raises:
            EvidenceError: The index is not there, or cannot be opened.
        """
        self._states.held.enter_context(opened.service.hold())

    def release(self, name: str) -> None:
        """Close one index, before it is deleted."""
        with self._lock:
            opened = self._opened.pop(name, None)
        if opened is not None:
            opened.service.close()

    def close(self) -> None:
        """Release the indexes and the models; the next question opens them anew."""
        with self._lock:
            opened, self._opened = self._opened, {}
            self._settings = None
        for each in opened.values():
            each.service.close()

    def _open(self, name: str) -> Opened:
        from adk_evidence.search.pipeline import EvidenceService
        from adk_evidence.symbols.lookup import CurrentSymbols
        from adk_evidence.symbols.targets.service import CurrentTargets

        if name == MAIN:
            settings = self.settings
            service = EvidenceService(settings, keep_queries=KEPT_QUERIES)
        else:
            settings = settings_of(self.settings, name)
            service = self.open().service.beside(settings)
        symbols = CurrentSymbols(service.pin, settings.store)
        return Opened(settings, service, symbols, CurrentTargets.beside(settings, service.dense))


def agent_request(values: dict[str, Any]) -> EvidenceRequest:
    """A validated request from what a model wrote.

    Raises:
        InvalidRequestError: A value is outside its contract; the sentence names it.
    """
    from adk_evidence.models.request import EvidenceRequest

    try:
        return EvidenceRequest.model_validate(values)
    except ValidationError as exc:
        raise invalid_argument(exc) from exc


def invalid_argument(exc: ValidationError) -> InvalidRequestError:
    """The first problem that a validation found, as a sentence that a model can act on."""
    where, what = first_problem(exc)
    return InvalidRequestError(f"The argument {where or 'request'} is not valid: {what}.", "Correct it and call again.")
