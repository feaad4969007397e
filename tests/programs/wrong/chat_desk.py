"""A chat desk that keeps sessions and memories."""

from google.adk.agents import LlmAgent
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types


class ChatDesk:
    """Talks with one person."""

    def __init__(self, agent: LlmAgent, memory: BaseMemoryService | None = None) -> None:
        self.memory = memory or InMemoryMemoryService()
        self.runner = Runner(
            agent=agent,
            app_name="desk",
            session_service=InMemorySessionService(),
            memory_service=self.memory,
        )

    def open(self, user: str) -> str:
        session = self.runner.session_service.create_session(app_name="desk", user_id=user)  # wrong: await-on-attribute a coroutine has no id
        return session.id

    async def say(self, user: str, session_id: str, text: str) -> list[str]:
        said = []
        message = types.Content(role="user", parts=[types.Part(text=text)])
        for event in self.runner.run_async(user_id=user, session_id=session_id, new_message=message):  # wrong: await-on-attribute an asynchronous generator needs async for
            said.append(event.author)
        return said

    async def leave(self, user: str, session_id: str) -> None:
        session = await self.runner.session_service.get_session(app_name="desk", user_id=user, session_id=session_id)
        if session is not None:
            self.memory.add_session_to_memory(session)  # wrong: await-on-attribute both alternatives are asynchronous
        self.runner.close()  # wrong: await-on-attribute the coroutine is lost
