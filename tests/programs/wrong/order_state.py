"""A callback and a tool that set what the models of the ADK do not have."""

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event, EventActions
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types

agent = LlmAgent(name="orders", model="gemini-2.5-flash")
agent.invocations = 3  # wrong: unknown-attribute LlmAgent has no such field
agent.instruction = "Take orders."

config = RunConfig()
config.max_calls = 20  # wrong: unknown-attribute the field is max_llm_calls
config.max_llm_calls = 20


def shorten(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    llm_request.prompt = "Be short."  # wrong: unknown-attribute LlmRequest has no prompt
    llm_request.append_instructions(["Be short."])
    return None


def close_order(number: int, tool_context: ToolContext) -> str:
    """Closes an order."""
    tool_context.actions.skip_summarisation = True  # wrong: unknown-attribute the field is skip_summarization
    tool_context.state["closed"] = number
    return "closed"


def told(author: str, text: str) -> Event:
    event = Event(author=author, actions=EventActions(state_delta={"told": True}))
    event.text = text  # wrong: unknown-attribute an event has content
    event.content = types.Content(role="model", parts=[types.Part(text=text)])
    return event


agent.before_model_callback = shorten
agent.tools = [close_order]
