"""Callbacks and methods behind decorators that change how they are called."""

import functools
from collections.abc import Callable
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool, ToolContext


def only_context(function: Callable[[CallbackContext], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(callback_context: CallbackContext, **_: Any) -> Any:
        return function(callback_context)

    return call


def with_names(function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(self: Any, **keywords: Any) -> Any:
        return function(self, keywords)

    return call


@only_context
def count(callback_context: CallbackContext) -> None:
    callback_context.state["count"] = callback_context.state.get("count", 0) + 1


class NamesPlugin(BasePlugin):
    """Tells what it is called with."""

    @with_names
    def before_tool_callback(self, keywords: dict) -> None:
        print(sorted(keywords))


class EchoTool(BaseTool):
    """Repeats a text."""

    def __init__(self) -> None:
        super().__init__(name="echo", description="Repeats a text.")

    async def run_async(self, *, args: dict, tool_context: ToolContext, **more: Any) -> dict:
        return dict(args, **more)


agent = LlmAgent(
    name="decorated", model="gemini-2.5-flash", before_model_callback=count, after_model_callback=count, tools=[EchoTool()]
)
plugin = NamesPlugin("names")
