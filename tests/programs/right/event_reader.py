"""Reads events; methods are handed on before they are called."""

from collections.abc import Callable, Iterable

from google.adk.events import Event, EventActions, RequestInput
from google.genai import types


def finals(events: Iterable[Event]) -> list[Event]:
    return list(filter(Event.is_final_response, events))


def first(events: Iterable[Event], test: Callable[[Event], bool] | None = None) -> Event | None:
    test = test or Event.is_final_response
    return next((event for event in events if test(event)), None)


def calls(event: Event) -> list[str]:
    get = event.get_function_calls
    if found := get():
        return [call.name for call in found]
    if event.partial or event.content is None:
        return []
    return [part.text for part in event.content.parts if part.text and not part.thought]


def is_done(event: Event) -> bool:
    done = event.is_final_response
    return done() and event.author != "user"


def handler(event) -> Callable | None:
    if getattr(event, "is_final_response", None) and callable(event.is_final_response):
        return event.is_final_response
    return None


class Turn:
    """An own event: here is_final_response is data."""

    is_final_response = False

    def __init__(self, text: str) -> None:
        self.text = text


def read(turns: list[Turn]) -> str:
    for turn in turns:
        if turn.is_final_response:
            return turn.text
    return ""


events = [
    Event(author="a", content=types.ModelContent("x")),
    Event(author="b", message="hello"),
    Event(author="c", state={"k": 1}),
    Event(author="d", actions=EventActions(escalate=True), partial=True),
]
ask = RequestInput(message="Which one?", payload={"a": 1})
assert first(events) is events[0] and finals(events) and not read([Turn("x")]) and handler(events[0])()
assert events[1].content.parts[0].text == "hello" and events[2].actions.state_delta == {"k": 1}
