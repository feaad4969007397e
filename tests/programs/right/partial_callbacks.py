"""Callbacks that are completed by functools.partial, and by a function that makes them."""

import functools

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse


def limit(most: int, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    calls = callback_context.state.get("calls", 0)
    callback_context.state["calls"] = calls + 1
    return LlmResponse(error_code="LIMIT") if calls >= most else None


def note(prefix: str, suffix: str):
    def callback(callback_context: CallbackContext) -> None:
        print(prefix, callback_context.agent_name, suffix)

    return callback


with_limit = functools.partial(limit, 5)

agent = LlmAgent(
    name="limited",
    model="gemini-2.5-flash",
    before_model_callback=[with_limit, functools.partial(limit, most=9)],
    before_agent_callback=note("start", "!"),
    after_agent_callback=note("end", "."),
)
