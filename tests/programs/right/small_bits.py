"""Values of the ADK in small, right expressions."""

import asyncio

from google.adk.agents import InvocationContext, LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.events import Event, EventActions
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import ToolContext
from google.genai import types

CONFIG = RunConfig(streaming_mode=StreamingMode.SSE, max_llm_calls=3)
service = InMemorySessionService()


async def keep(tool_context: ToolContext, name: str = "a") -> int | None:
    """Keeps a name."""
    if name in (await tool_context.list_artifacts()):
        return None
    part, version = await tool_context.load_artifact(name), 0
    if (part or version) and not (await tool_context.search_memory(name)).memories:
        version = await tool_context.save_artifact(name, part or types.Part(text=name))
    tool_context.actions.escalate = tool_context.actions.escalate or not version
    tool_context.state["version"] = tool_context.state.get("version", 0) + 1
    return version


def ends(context: InvocationContext, events: list[Event]) -> bool:
    context.end_invocation = any(event.is_final_response() for event in events)
    return context.end_invocation or context.should_pause_invocation(events[-1]) or context.is_resumable


async def run(runner: InMemoryRunner) -> list[str]:
    session = await (make := service.create_session)(app_name="small", user_id="ada")
    events = [event async for event in runner.run_async(user_id="ada", session_id=session.id, run_config=CONFIG)]
    events += await runner.run_debug(["one", "two"], quiet=True)
    texts = [part.text or "" for event in events if event.content for part in event.content.parts or []]
    print(make, *(await asyncio.gather(*map(one_state, "ab"))))
    return texts


async def one_state(user: str) -> dict:
    await service.append_event(
        session := await service.create_session(app_name="small", user_id=user),
        Event(author=user, actions=EventActions(state_delta={"user": user})),
    )
    return session.state


agent = LlmAgent(name="small", model="gemini-2.5-flash", tools=[keep])
agent.tools, agent.output_key = [*agent.tools, ends], "small"
agent.disallow_transfer_to_peers |= True
print(asyncio.run(one_state("ada")))
