"""Coroutines that are awaited later or by somebody else."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import ToolContext
from google.genai import types

service = InMemorySessionService()
runner = InMemoryRunner(LlmAgent(name="later", model="gemini-2.5-flash"), app_name="later")


def open_session(user: str):
    return service.create_session(app_name="later", user_id=user)


def open_now(user: str) -> Session:
    return asyncio.run(service.create_session(app_name="later", user_id=user))


async def open_many(users: list[str]) -> list[Session]:
    pending = [service.create_session(app_name="later", user_id=user) for user in users]
    extra = service.create_session(app_name="later", user_id="extra")
    first, *rest = await asyncio.gather(*pending, extra)
    task = asyncio.create_task(service.get_session(app_name="later", user_id="extra", session_id=first.id))
    await task
    listing = service.list_sessions(app_name="later")
    found = await asyncio.wait_for(listing, timeout=5)
    async with asyncio.TaskGroup() as group:
        group.create_task(runner.session_service.create_session(app_name="later", user_id="grouped"))
    assert found.sessions
    return [first, *rest]


async def keep(tool_context: ToolContext, texts: list[str]) -> list[int]:
    """Keeps texts."""
    return await asyncio.gather(
        *(tool_context.save_artifact(f"{n}.txt", types.Part(text=text)) for n, text in enumerate(texts))
    )


async def ask(text: str) -> list:
    events = runner.run_async(user_id="u", session_id="s", new_message=types.UserContent(text))
    return [event async for event in events if event.is_final_response()]


if __name__ == "__main__":
    print(open_now("b").id, len(asyncio.run(open_many(["c", "d"]))))
    asyncio.run(open_session("e"))
