"""Callbacks of a night shift: asynchronous ones, lambdas and one that is set later."""

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event
from google.adk.models import LlmResponse
from google.adk.tools import BaseTool, ToolContext


async def wake(*, context: CallbackContext) -> None:
    print(context.agent_name)


async def look(tool: BaseTool, tool_args: dict, *, ctx: ToolContext) -> dict | None:
    return None


def sleep(callback_context: CallbackContext, event: Event) -> None:
    print(event.author)


def short(response: LlmResponse) -> LlmResponse | None:
    return response if response.content else None


class Guard(BaseAgent):
    """Guards the night."""


night = LlmAgent(
    name="night",
    model="gemini-2.5-flash",
    before_agent_callback=wake,  # wrong: unfit-callback the keyword-only parameter has another name
    before_model_callback=lambda ctx: None,  # wrong: unfit-callback llm_request cannot be passed
    before_tool_callback=[look],  # wrong: unfit-callback ctx is keyword-only and never passed
    sub_agents=[Guard(name="guard", after_agent_callback=sleep)],  # wrong: unfit-callback nobody passes an event
)
night.after_model_callback = short  # wrong: unfit-callback callback_context cannot be passed
