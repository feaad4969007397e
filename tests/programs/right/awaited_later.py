"""Coroutines that are awaited elsewhere: tasks, gather, lists, and functions that return them."""

import asyncio
from collections.abc import Awaitable

from google.adk.agents import LlmAgent
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService, Session

service = InMemorySessionService()
memory = InMemoryMemoryService()
runner = InMemoryRunner(agent=LlmAgent(name="later", model="gemini-2.5-flash"), app_name="later")


def opening(user: str) -> Awaitable[Session]:
    return service.create_session(app_name="later", user_id=user)


async def open_all(users: list[str]) -> list[str]:
    sessions = await asyncio.gather(*(opening(user) for user in users))
    both = await asyncio.gather(
        service.list_sessions(app_name="later", user_id="ada"),
        memory.search_memory(app_name="later", user_id="ada", query="tea"),
    )
    print(both)
    return [session.id for session in sessions]


async def remember(session: Session) -> None:
    task = asyncio.create_task(memory.add_session_to_memory(session))
    pending = runner.session_service.get_session(app_name="later", user_id="ada", session_id=session.id)
    again = await pending
    if again and not task.done():
        await task
    async with asyncio.TaskGroup() as group:
        group.create_task(runner.close())


async def say(text: str) -> None:
    waiting = [runner.run_debug(text)]
    waiting.append(runner.run_debug("again"))
    for one in waiting:
        await one
    await asyncio.wait_for(runner.close(), timeout=3)
