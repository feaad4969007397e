"""Functions that a model may call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

HIDDEN = "context"
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


class Tool:
    """A function with the schema that the model sees.

    Args:
        function: What is called.
        needs_consent: Whether a person is asked before each call.
    """

    def __init__(self, function: Callable[..., Any], *, needs_consent: bool = False) -> None:
        self.function = function
        self.needs_consent = needs_consent
        self.name = function.__name__

    def schema(self) -> dict[str, Any]:
        """Names, types and required arguments, as JSON schema."""
        properties, required = {}, []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name == HIDDEN:
                continue
            properties[name] = {"type": _JSON_TYPES.get(parameter.annotation, "string")}
            if parameter.default is inspect.Parameter.empty:
                required.append(name)
        return {"type": "object", "properties": properties, "required": required}

    def missing(self, arguments: dict[str, Any]) -> list[str]:
        """Required arguments that a call lacks."""
        return [name for name in self.schema()["required"] if name not in arguments]


class Toolset:
    """Several tools that are offered together."""

    def __init__(self, tools: list[Tool]) -> None:
        self._tools = tools

    def visible_for(self, owner: str) -> list[Tool]:
        """The tools that a person may use; all of them unless overridden."""
        return list(self._tools)

    def close(self) -> None:
        """Free what the tools hold open."""


def background(tool: Tool) -> Tool:
    """A tool that returns a ticket at once and delivers its result later."""

    def begin(**arguments: Any) -> dict[str, str]:
        return {"ticket": f"{tool.name}-{abs(hash(tuple(arguments)))}"}

    begin.__name__ = tool.name
    return Tool(begin, needs_consent=tool.needs_consent)
