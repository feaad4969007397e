"""Agents and plain classes that carry attributes of their own."""

from functools import cached_property
from typing import Any, ClassVar

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool, FunctionTool, ToolContext
from pydantic import PrivateAttr


class Library(LlmAgent):
    """Keeps books."""

    shelves: ClassVar[int] = 3
    _books: dict[str, int] = PrivateAttr(default_factory=dict)

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self._books = {"Emma": 1}
        self.__pydantic_private__["_books"]["Ulysses"] = 1

    @cached_property
    def count(self) -> int:
        return sum(self._books.values())

    @property
    def title(self) -> str:
        return self.description

    @title.setter
    def title(self, value: str) -> None:
        self.description = value


class Loose(LlmAgent):
    """Puts unknown attributes into a dictionary."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).model_fields or name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self.__dict__.setdefault("_more", {})[name] = value

    def __getattr__(self, name: str) -> Any:
        return self.__dict__.get("_more", {}).get(name)


class CountPlugin(BasePlugin):
    """No pydantic model."""

    async def before_agent_callback(self, *, agent: Any, callback_context: CallbackContext) -> None:
        self.started = callback_context.agent_name


library = Library(name="library", model="gemini-2.5-flash")
library.title = "Books"
print(library.count, Library.shelves)
loose = Loose(name="loose", model="gemini-2.5-flash")
loose.goal = "read"
tool = FunctionTool(lambda text: text)
tool.owner = "ada"
plugin = CountPlugin("count")
plugin.started = ""
print(loose.goal, tool.owner, isinstance(tool, BaseTool), ToolContext)
