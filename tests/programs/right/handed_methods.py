"""Bound methods as values: registered, chosen, kept and compared."""

import atexit
import signal
from collections.abc import Callable

from google.adk.agents import LiveRequestQueue, LlmAgent
from google.adk.events import Event
from google.adk.models import LlmResponse
from google.adk.runners import InMemoryRunner

queue = LiveRequestQueue()
atexit.register(queue.close)
signal.signal(signal.SIGUSR1, lambda *_: queue.close())
runner = InMemoryRunner(LlmAgent(name="methods", model="gemini-2.5-flash"))


class Menu:
    """Offers actions."""

    def __init__(self, event: Event, action: Callable[[], object] | None = None) -> None:
        self.action = action or event.is_final_response
        self.default = self.action is None
        self.is_default = self.action == event.is_final_response

    def act(self) -> object:
        return self.action() if self.action else None


def checks(event: Event) -> dict[str, Callable]:
    return {"final": event.is_final_response, "calls": event.get_function_calls}


def any_of(event: Event) -> bool:
    return any(check() for check in checks(event).values())


def sort(events: list[Event]) -> list[Event]:
    return sorted(events, key=Event.is_final_response)


def tested(response: LlmResponse) -> bool:
    if (calls := response.get_function_calls()) and not response.partial:
        return bool(calls)
    return response.turn_complete is True or response.content is None


print(Menu(Event(author="a")).act(), any_of(Event(author="b")), sort([]), tested(LlmResponse()), runner.close)
