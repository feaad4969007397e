"""Models and what stands between them and an agent."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, Protocol


class Model(Protocol):
    """Answers requests."""

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One answer.

        Raises:
            ConnectionError: The model cannot be reached.
        """


class FormError(ValueError):
    """An answer does not have the form that was asked for."""


class FallbackModel:
    """Asks models one after the other until one answers."""

    def __init__(self, models: Sequence[tuple[str, Model]]) -> None:
        self._models = models

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The first answer, with the name of the model that gave it."""
        failure: Exception | None = None
        for name, model in self._models:
            try:
                return {**model.ask(request), "model": name}
            except (ConnectionError, TimeoutError) as exc:
                failure = exc
        raise failure or ConnectionError("no model was given")


def parse_output(text: str, form: type) -> Any:
    """An answer as a dataclass.

    Raises:
        FormError: It is no JSON, or fields are missing.
    """
    try:
        data = json.loads(text)
        return form(**{field.name: data[field.name] for field in dataclasses.fields(form)})
    except (KeyError, TypeError, ValueError) as exc:
        raise FormError(f"The answer does not fit {form.__name__}.") from exc
