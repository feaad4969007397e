"""Names that hold different things at different times."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService

agent = LlmAgent(name="rebound", model="gemini-2.5-flash")
service: InMemorySessionService | dict = InMemorySessionService()


def use_plain() -> None:
    global service
    service = {"list": [1]}


def counted() -> int:
    return len(service["list"]) if isinstance(service, dict) else 0


use_plain()
print(counted(), service["list"][0])


async def later() -> list:
    made = InMemorySessionService().create_session(app_name="a", user_id="b")
    made = asyncio.ensure_future(made)
    made.add_done_callback(print)
    await made
    result = InMemoryRunner(agent).run_debug("Hi")
    try:
        return await result
    except Exception:
        return []
    finally:
        result.close()


def outer() -> str:
    event = Event(author="a")

    def inner() -> None:
        nonlocal event
        event = "text"

    inner()
    return event.upper()


with open(__file__, encoding="utf-8") as agent:
    agent.readline()
del agent
try:
    agent = dict(goal=1)
    agent.update(goal=2)
except KeyError as agent:
    print(agent.args)
print(outer())
