"""What agents ask through: one service with its symbols and targets, opened at the first question."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.settings import Settings, load_settings

if TYPE_CHECKING:
    from adk_evidence.models.request import EvidenceRequest
    from adk_evidence.retrieval.pipeline import EvidenceService
    from adk_evidence.symbols.lookup import CurrentSymbols
    from adk_evidence.symbols.targets.service import CurrentTargets


@dataclass(frozen=True)
class Opened:
    """The parts behind the tools; each follows the published index by itself."""

    settings: Settings
    service: EvidenceService
    symbols: CurrentSymbols
    targets: CurrentTargets


class AgentSession:
    """Opens the service when it is first needed. Methods may be called from several threads.

    Args:
        load: Gives the settings; called again until it once succeeded.
    """

    def __init__(self, load: Callable[[], Settings] = load_settings) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._opened: Opened | None = None

    def open(self) -> Opened:
        """The service with its symbols and targets; takes seconds the first time.

        Raises:
            SettingsError: The settings are not valid.
            ModelError: A model that they name cannot be had.
        """
        from adk_evidence.retrieval.pipeline import EvidenceService
        from adk_evidence.symbols.lookup import CurrentSymbols
        from adk_evidence.symbols.targets.service import CurrentTargets

        with self._lock:
            if self._opened is None:
                settings = self._load()
                service = EvidenceService(settings)
                symbols = CurrentSymbols(service.pin, settings.store)
                self._opened = Opened(settings, service, symbols, CurrentTargets.beside(settings, service.dense))
            return self._opened

    def close(self) -> None:
        """Release the index and the models; the next question opens them anew."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.service.close()


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
    problem = exc.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "request"
    message = problem["msg"].removeprefix("Value error, ")
    return InvalidRequestError(f"The argument {where} is not valid: {message}.", "Correct it and call again.")
