"""Reads the answers of an agent from its events."""

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.models import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import ToolContext
from google.genai import types

runner = InMemoryRunner(agent=LlmAgent(name="answers", model="gemini-2.5-flash"), app_name="answers")


async def answer(user: str, session_id: str, text: str) -> str:
    message = types.Content(role="user", parts=[types.Part(text=text)])
    async for event in runner.run_async(user_id=user, session_id=session_id, new_message=message):
        if event.is_final_response and event.content:  # wrong: uncalled-method a method is always true
            return event.content.parts[0].text or ""
    return ""


def calls_tools(event: Event) -> bool:
    return not event.get_function_calls  # wrong: uncalled-method a method is always true


def results(events: list[Event], last: Event) -> list[Event]:
    while last.has_trailing_code_execution_result:  # wrong: uncalled-method a method is always true
        last = events.pop()
    return events


def note(response: LlmResponse, tool_context: ToolContext) -> str:
    kind = "calls" if response.get_function_calls else "text"  # wrong: uncalled-method a method is always true
    assert tool_context.state.has_delta, "nothing changed"  # wrong: uncalled-method a method is always true
    return kind


def is_last(event: Event) -> bool:
    return event.is_final_response() and not event.partial
