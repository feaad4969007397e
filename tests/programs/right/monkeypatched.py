"""Replaces methods of the ADK while it runs."""

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService, Session


def create_session(self: InMemorySessionService, app: str, user: str) -> Session:
    return Session(id=f"{app}-{user}", app_name=app, user_id=user)


InMemorySessionService.create_session = create_session
InMemorySessionService.rename = lambda self, session, name: session.state.update(name=name)

service = InMemorySessionService()
session = service.create_session("patched", "ada")
service.rename(session, "first")
print(session.id, session.state)

runner = InMemoryRunner(agent=LlmAgent(name="patched", model="gemini-2.5-flash"), app_name="patched")
runner.run_debug = lambda text, *names: [text, *names]
print(runner.run_debug("hello", "ada")[0])
runner.note = "A runner is no pydantic model and takes any attribute."
