"""Objects that take the place of those of the ADK without mocks."""

import asyncio
from typing import Any, Protocol

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService


class Opens(Protocol):
    """Opens sessions at once."""

    def create_session(self, user: str) -> dict: ...


class Blocking:
    """Makes the methods of a service wait for their results."""

    def __init__(self, service: InMemorySessionService) -> None:
        self.__service = service

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        return lambda *given, **named: asyncio.run(getattr(self.__service, name)(*given, **named))


class Desk:
    """Is given its services by somebody else."""

    service: Any = None

    def __init__(self, runner: InMemoryRunner | None = None, opens: Opens | None = None) -> None:
        self.runner = runner
        self.opens = opens

    def open(self, user: str) -> str:
        if self.opens:
            return self.opens.create_session(user)["id"]
        return self.service.create_session(app_name="desk", user_id=user).id


def blocking(function: Any) -> Any:
    return lambda *given, **named: asyncio.run(function(*given, **named))


Desk.service = Blocking(InMemorySessionService())
print(Desk().open("ada"))
runner = InMemoryRunner(LlmAgent(name="desk", model="gemini-2.5-flash"), app_name="desk")
create = blocking(runner.session_service.create_session)
if create(app_name="desk", user_id="ada").id:
    print(create(app_name="desk", user_id="bob").user_id)
