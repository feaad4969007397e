"""Functions that are not asynchronous, although their neighbours are."""

import asyncio

from google import genai
from google.adk.agents import LiveRequestQueue, LlmAgent
from google.adk.models import BaseLlm, LlmRequest
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import ToolContext
from google.genai import types

sessions = InMemorySessionService()
session = asyncio.run(sessions.create_session(app_name="plain", user_id="ada"))
if not session.events and not session.state:
    print(session.id)

agent = LlmAgent(name="plain", model="gemini-2.5-flash")
if agent.find_agent("other") is None and agent.root_agent:
    print(agent.clone({"name": "copy"}).name)


def say(runner: InMemoryRunner, text: str) -> list[str]:
    message = types.UserContent(text)
    return [event.author for event in runner.run(user_id="ada", session_id=session.id, new_message=message)]


def speak(queue: LiveRequestQueue, text: str) -> None:
    if queue.closed:
        return
    queue.send_activity_start()
    queue.send_content(types.UserContent(text), True)
    queue.close()


def confirm(tool_context: ToolContext) -> bool:
    """Asks a person."""
    if tool_context.state.has_delta() and not tool_context.is_aborted:
        tool_context.request_confirmation(hint="Go on?")
    return bool(tool_context.tool_confirmation and tool_context.tool_confirmation.confirmed)


async def live(model: BaseLlm, request: LlmRequest) -> None:
    async with model.connect(request) as connection:
        async for response in connection.receive():
            print(response.get_function_calls())
    async for response in model.generate_content_async(request, True):
        print(response.partial)


def ask(client: genai.Client) -> str:
    return client.models.generate_content(model="gemini-2.5-flash", contents=["Hi"]).text or ""
