"""Code that runs at fixed points of a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Hook = Callable[..., Any]
POINTS = ("before_model", "after_model", "before_tool", "after_tool", "on_error")


class Hooks:
    """Hooks by the point at which they run."""

    def __init__(self) -> None:
        self._hooks: dict[str, list[Hook]] = {point: [] for point in POINTS}

    def register(self, point: str, hook: Hook) -> None:
        """Add a hook behind those that are there.

        Raises:
            KeyError: There is no such point.
        """
        self._hooks[point].append(hook)

    def first_answer(self, point: str, *arguments: Any) -> Any | None:
        """Run hooks until one returns something, and return that; later ones are not run."""
        for hook in self._hooks[point]:
            answer = hook(*arguments)
            if answer is not None:
                return answer
        return None


class Plugin:
    """Hooks that hold for every agent of a runner."""

    name = "plugin"

    def install(self, hooks: Hooks) -> None:
        """Register what the plugin wants to see."""


class CostPlugin(Plugin):
    """Counts the tokens of every request to a model."""

    name = "costs"

    def __init__(self) -> None:
        self.tokens = 0

    def install(self, hooks: Hooks) -> None:
        hooks.register("after_model", self._count)

    def _count(self, answer: dict[str, Any]) -> None:
        self.tokens += int(answer.get("tokens", 0))
