"""Callbacks with names of their own: the ADK passes the values in order where the names do not fit."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, ToolContext


def started(ctx: CallbackContext) -> None:
    ctx.state["started"] = True


def asked(ctx: CallbackContext, request: LlmRequest) -> LlmResponse | None:
    return None


def answered(context: CallbackContext, response: LlmResponse, mark: str = "ok") -> None:
    context.state["mark"] = mark


def called(one: BaseTool, given: dict, context: ToolContext) -> dict | None:
    return None


async def done(_tool: BaseTool, _args: dict, _context: ToolContext, result: dict) -> dict | None:
    return result


agent = LlmAgent(
    name="by_place",
    model="gemini-2.5-flash",
    before_agent_callback=started,
    after_agent_callback=lambda ctx: None,
    before_model_callback=[asked, lambda c, r: None],
    after_model_callback=answered,
    before_tool_callback=called,
    after_tool_callback=done,
    on_model_error_callback=lambda *three: None,
)
