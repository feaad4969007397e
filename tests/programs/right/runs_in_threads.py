"""Coroutines that loops, threads and stacks run."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.adk.sessions import Session
from google.genai import types

loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


@contextlib.asynccontextmanager
async def running(name: str) -> AsyncIterator[InMemoryRunner]:
    runner = InMemoryRunner(LlmAgent(name=name, model="gemini-2.5-flash"), app_name=name)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(runner.close)
        yield runner


def session_now(runner: InMemoryRunner, user: str) -> Session:
    made = runner.session_service.create_session(app_name=runner.app_name, user_id=user)
    return asyncio.run_coroutine_threadsafe(made, loop).result(timeout=5)


async def first_event(runner: InMemoryRunner, session: Session) -> Event | None:
    events = runner.run_async(user_id=session.user_id, session_id=session.id, new_message=types.UserContent("Hi"))
    async with contextlib.aclosing(events) as stream:
        return await anext(stream, None)


async def either(runner: InMemoryRunner, known: str) -> Session | None:
    service = runner.session_service
    return await (
        service.get_session(app_name=runner.app_name, user_id="ada", session_id=known)
        if known
        else service.create_session(app_name=runner.app_name, user_id="ada")
    )


async def main() -> None:
    async with running("threads") as runner:
        print(session_now(runner, "ada").id)
        jobs = {asyncio.ensure_future(either(runner, key)) for key in ("", "a")}
        jobs.add(asyncio.ensure_future(either(runner, "b")))
        for done in asyncio.as_completed(jobs):
            print(await done)


asyncio.run(main())
