"""A talk as the documentation has it, with everything awaited."""

import asyncio

from google.adk.agents import Agent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.artifacts import InMemoryArtifactService
from google.adk.events import Event, EventActions
from google.adk.plugins import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import AgentTool, ToolContext
from google.genai import types


class Marks(BasePlugin):
    """Marks each event."""

    async def on_event_callback(self, *, invocation_context, event: Event) -> Event | None:
        event.custom_metadata = {"app": invocation_context.app_name}
        return event


async def keep(text: str, tool_context: ToolContext) -> dict:
    """Keeps a text."""
    version = await tool_context.save_artifact("kept.txt", types.Part(text=text), {"kind": "text"})
    if await tool_context.list_artifacts() and not tool_context.actions.skip_summarization:
        tool_context.actions.skip_summarization = True
    return {"version": version}


async def greet(callback_context: CallbackContext) -> types.Content | None:
    names = await callback_context.list_artifacts()
    return types.ModelContent("Hello!") if not names else None


helper = Agent(name="helper", model="gemini-2.5-flash", description="Helps.")
root = Agent(
    name="root", model="gemini-2.5-flash", tools=[keep, AgentTool(helper, True)], before_agent_callback=[greet]
)


async def main() -> None:
    runner = Runner(
        app=App(name="talk", root_agent=root, plugins=[Marks("marks")]),
        session_service=InMemorySessionService(),
        artifact_service=InMemoryArtifactService(),
    )
    service = runner.session_service
    session = await service.create_session(app_name="talk", user_id="ada", session_id="one")
    await service.append_event(session, Event(author="user", actions=EventActions(state_delta={"a": 1})))
    async for event in runner.run_async(user_id="ada", session_id=session.id, new_message=types.UserContent("Hello")):
        if event.is_final_response() and event.content:
            print(event.content.parts)
    await runner.close()


if __name__ == "__main__":
    asyncio.run(main())
