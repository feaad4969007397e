"""Makes a transcript from events."""

from google.adk.agents import InvocationContext
from google.adk.events import Event
from google.adk.models import LlmResponse


def finals(events: list[Event]) -> list[Event]:
    found = []
    for position in range(len(events)):
        event: Event = events[position]
        if event.partial:
            continue
        elif event.is_final_response:  # wrong: uncalled-method a method is always true
            found.append(event)
    return found


def waits(context: InvocationContext, event: Event) -> bool:
    if event.get_function_responses is None:  # wrong: uncalled-method a method is never None
        return False
    return True if context.should_pause_invocation else False  # wrong: uncalled-method a method is always true


def answer(event: Event) -> str:
    if event.is_final_response == True and event.author != "user":  # noqa: E712  # wrong: uncalled-method a method equals nothing but itself
        return event.author
    return ""


def strange(first: Event, response: LlmResponse) -> str:
    kinds = [kind for kind in ("a", "b") if not response.get_function_calls]  # wrong: uncalled-method a method is always true
    while not first.is_final_response or kinds:  # wrong: uncalled-method a method is always true
        kinds.pop()
    return "".join(kinds)


def tool_names(event: Event) -> list[str]:
    return [call.name or "" for call in event.get_function_calls()]
