"""The chat behind a web service: opens, answers and closes conversations."""

from __future__ import annotations

from dataclasses import dataclass, field

from google.adk.agents import Agent
from google.adk.memory import InMemoryMemoryService
from google.adk.runners import InMemoryRunner
from google.genai import types

APP = "chat_service"


@dataclass
class Answer:
    text: str
    tools: list[str] = field(default_factory=list)


class ChatService:
    def __init__(self, agent: Agent) -> None:
        self.runner = InMemoryRunner(agent, APP)  # wrong: positional app_name is keyword-only
        self.memory = InMemoryMemoryService()

    async def open(self, user: str) -> str:
        known = await self.runner.session_service.list_sessions(app_name=APP, user_id=user)
        if known.sessions:
            return known.sessions[0].id
        made = self.runner.session_service.create_session(app_name=APP, user_id=user)  # wrong: missing-await made is a coroutine
        return made.id

    async def say(self, user: str, session_id: str, text: str) -> Answer:
        answer = Answer("")
        message = types.UserContent(text)
        async for event in self.runner.run_async(user_id=user, session_id=session_id, new_message=message):
            if event.get_function_calls:  # wrong: uncalled-method always true
                answer.tools.extend(call.name for call in event.get_function_calls())
            if event.is_final_response() and event.content:
                answer.text = event.content.parts[0].text or ""
        return answer

    async def close(self, user: str, session_id: str) -> None:
        session = await self.runner.session_service.get_session(APP, user, session_id)  # wrong: positional keywords only
        if session:
            self.memory.add_session_to_memory(session)  # wrong: missing-await never kept

    async def recall(self, user: str, text: str) -> list[types.Content]:
        found = await self.memory.search_memory(app_name=APP, user_id=user, query=text)
        return [entry.content for entry in found.memories]
