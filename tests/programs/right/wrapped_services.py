"""A synchronous face of the asynchronous services."""

import asyncio
from typing import Any

from google.adk.memory import InMemoryMemoryService
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService, Session


class Sessions:
    """Has the methods of a session service, but not asynchronous ones."""

    def __init__(self) -> None:
        self._service = InMemorySessionService()

    def create_session(self, app_name: str, user_id: str) -> Session:
        return asyncio.run(self._service.create_session(app_name=app_name, user_id=user_id))

    def list_sessions(self, app_name: str) -> list[str]:
        listed = asyncio.run(self._service.list_sessions(app_name=app_name))
        return [session.id for session in listed.sessions]


class Synchronous:
    """Runs each coroutine method of a service to its end."""

    def __init__(self, service: Any) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._service, name)
        return lambda **keywords: asyncio.run(method(**keywords))


sessions = Sessions()
first = sessions.create_session("face", "ada")
print(first.id, sessions.list_sessions("face"))

memory = Synchronous(InMemoryMemoryService())
found = memory.search_memory(app_name="face", user_id="ada", query="tea")
if memory.search_memory(app_name="face", user_id="ada", query="milk").memories:
    print(found.memories)


def open_room(runner: InMemoryRunner) -> Session:
    loop = asyncio.new_event_loop()
    return loop.run_until_complete(runner.session_service.create_session(app_name=runner.app_name, user_id="ada"))
