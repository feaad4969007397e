"""Names that are imported late, by type checkers, by strings or by `getattr`."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

import google.adk.agents
import google.adk.runners as run

if TYPE_CHECKING or typing.TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.memory import BaseMemoryService
    from google.adk.sessions.base_session_service import ListSessionsResponse


def __getattr__(name: str) -> object:
    if name == "root_agent":
        return google.adk.agents.LlmAgent(name="lazy", model="gemini-2.5-flash")
    raise AttributeError(name)


async def note(callback_context: CallbackContext) -> None:
    from google.genai import types as t

    await callback_context.save_artifact("note.txt", t.Part(text=callback_context.agent_name))


async def sizes(runner: run.Runner, memory: "BaseMemoryService") -> int:
    listed: ListSessionsResponse = await runner.session_service.list_sessions(app_name=runner.app_name, user_id="ada")
    found = await memory.search_memory(app_name=runner.app_name, user_id="ada", query="note")
    return len(listed.sessions) + len(found.memories)


def make() -> run.InMemoryRunner:
    from google.adk.agents import LlmAgent as Agent

    Agent = getattr(google.adk.agents, "LlmAgent", Agent)
    return run.InMemoryRunner(Agent(name="made", model="gemini-2.5-flash", after_agent_callback=note))


runner = make()
print(runner.app_name, run.Runner.__name__)
