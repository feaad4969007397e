"""Callbacks of many shapes, all of which can be called."""

from functools import partial, partialmethod, wraps
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, ToolContext


def first(context: CallbackContext, /) -> None:
    context.state["first"] = True


def second(request: LlmRequest | None = None, callback_context: CallbackContext | None = None, **_: Any) -> None:
    print(request, callback_context)


def third(tool_context: ToolContext, args: dict, tool: BaseTool, note: str = "") -> dict | None:
    return {"note": note} if note else None


def fourth(a: BaseTool, b: dict, /, *more: Any) -> dict | None:
    return None


class Timed:
    """Measures, by a class that decorates a function."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.function(*given, **named)


@Timed
def fifth(callback_context: CallbackContext, llm_response: LlmResponse) -> None:
    print(llm_response.partial)


class Desk:
    """Has methods that are filled in."""

    def _mark(self, kind: str, callback_context: CallbackContext) -> None:
        callback_context.state["kind"] = kind

    opened = partialmethod(_mark, "open")


def quiet(function: Any) -> Any:
    @wraps(function)
    def call(*given: Any, **named: Any) -> None:
        function(*given, **named)

    return call


shared = [partial(third, note="shared")]
agent = LlmAgent(
    name="shapes",
    model="gemini-2.5-flash",
    before_agent_callback=[first, Desk().opened],
    before_model_callback=second,
    after_model_callback=[fifth, lambda *_, **__: None],
    before_tool_callback=shared + [third, lambda tool, args, tool_context: None],
    after_tool_callback=[fourth],
    after_agent_callback=quiet(lambda callback_context: None),
    on_model_error_callback=lambda callback_context, llm_request, error: None,
)
