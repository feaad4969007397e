"""A service for pupils: it keeps sessions, and runs an agent for each question."""

from dataclasses import dataclass

from google.adk.agents import InvocationContext, LlmAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import BaseSessionService


def runner_for(subject: str) -> InMemoryRunner:
    return InMemoryRunner(LlmAgent(name=subject, model="gemini-2.5-flash"), app_name="tutor")


@dataclass
class Tutor:
    """Helps pupils."""

    runner: Runner
    sessions: BaseSessionService
    latest: BaseSessionService | None = None

    def pupils(self) -> list[str]:
        return [one.user_id for one in self.sessions.list_sessions(app_name="tutor").sessions]  # wrong: await-on-attribute a coroutine has no sessions

    async def leave(self, pupil: str, session_id: str) -> None:
        self.latest.delete_session(app_name="tutor", user_id=pupil, session_id=session_id)  # wrong: await-on-attribute the statement deletes nothing

    async def describe(self, pupil: str, session_id: str) -> str:
        return f"Now: {self.runner.session_service.get_session(app_name='tutor', user_id=pupil, session_id=session_id)}"  # wrong: await-on-attribute the text of a coroutine

    async def stop(self) -> None:
        if not self.runner.close():  # wrong: await-in-condition a coroutine is always true
            print("closed")


async def mark(ctx: InvocationContext, text: str) -> None:
    ctx.session_service.append_event(ctx.session, Event(author=text))  # wrong: await-on-attribute the event is not appended


async def ask(question: str) -> None:
    service = runner_for("history").session_service
    await service.create_session(app_name="tutor", user_id="ada")
    runner_for("history").run_debug(question)  # wrong: await-on-attribute the result of a function of this file
