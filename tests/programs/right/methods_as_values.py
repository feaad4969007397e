"""Methods that are handed on, compared and looked for, and not called by mistake."""

from collections.abc import Callable

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.adk.sessions import InMemorySessionService

service = InMemorySessionService()
runner = InMemoryRunner(agent=LlmAgent(name="methods", model="gemini-2.5-flash"), app_name="methods")


def finals(events: list[Event]) -> list[Event]:
    return list(filter(Event.is_final_response, events))


def choose(event: Event, strict: bool) -> bool:
    test: Callable[[], object] = event.is_final_response if strict else event.get_function_calls
    return bool(test())


def closers(wanted: bool) -> list[Callable]:
    close = wanted and runner.close
    return [close] if close else []


create = service.create_session
actions = {"get": service.get_session, "list": service.list_sessions}


def has(name: str) -> bool:
    return getattr(service, name, None) is not None and callable(getattr(service, name))


async def act(kind: str) -> None:
    action = actions[kind] or create
    print(await action(app_name="methods", user_id="ada"))


class Watched(Event):
    """An event whose test is a property."""

    @property
    def is_final_response(self) -> bool:
        return bool(self.turn_complete)


watched = Watched(author="model", turn_complete=True)
if watched.is_final_response and not watched.partial:
    print("final")
