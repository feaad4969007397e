"""An agent that remembers the journeys of its user."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.memory import InMemoryMemoryService, VertexAiMemoryBankService
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService, VertexAiSessionService

remote = "AGENT_ENGINE" in os.environ
memories = VertexAiMemoryBankService(agent_engine_id=os.environ["AGENT_ENGINE"]) if remote else InMemoryMemoryService()
sessions = InMemorySessionService()
agent = LlmAgent(name="travel", model="gemini-2.5-flash")
runner = InMemoryRunner(agent=agent, app_name="travel")


def journeys(user: str) -> int:
    found = memories.search_memory(app_name="travel", user_id=user, query="journey")  # wrong: await-on-attribute both alternatives are asynchronous
    return len(found.memories)


async def forget(user: str) -> None:
    listed = await sessions.list_sessions(app_name="travel", user_id=user)
    for session in listed.sessions:
        sessions.delete_session(app_name="travel", user_id=user, session_id=session.id)  # wrong: missing-await nothing is deleted


async def first_or_new(user: str) -> str:
    if not sessions.get_session(app_name="travel", user_id=user, session_id="first"):  # wrong: await-in-condition a coroutine is never false
        await sessions.create_session(app_name="travel", user_id=user, session_id="first")
    return "first"


async def main() -> None:
    service = VertexAiSessionService(project="travel", location="us-central1") if remote else sessions
    session = await service.create_session(app_name="travel", user_id="ada")
    runner.run_debug("Where was I in May?", session_id=session.id)  # wrong: missing-await nobody asks
    while (listed := runner.session_service.list_sessions(app_name="travel", user_id="ada")) is None:  # wrong: await-in-condition a coroutine is not None
        await asyncio.sleep(1)
    print(listed)
