"""Values whose class is known only behind a test."""

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.sessions import InMemorySessionService, Session


def show(value: Event | dict | str) -> str:
    if isinstance(value, Event):
        return value.author
    if isinstance(value, dict):
        return value.get("author", "")
    return value.upper()


def tools_of(agent: BaseAgent) -> int:
    if isinstance(agent, LlmAgent):
        return len(agent.tools)
    return len(getattr(agent, "tools", []))


def set_goal(thing: LlmAgent | dict | list) -> None:
    if isinstance(thing, LlmAgent):
        thing.output_key = "goal"
    elif isinstance(thing, dict):
        thing.update(goal=True)
    else:
        thing.append("goal")


class Store:
    """Keeps either sessions or notes."""

    def __init__(self, notes: dict[str, str] | None = None) -> None:
        self.kept = notes if notes is not None else InMemorySessionService()

    def get(self, key: str) -> str | None:
        return self.kept.get(key) if isinstance(self.kept, dict) else None


def is_ready(event: Event | None, session: Session | None) -> bool:
    return event is not None and event.is_final_response() and bool(session)


service = None or InMemoryMemoryService()
if service is not None and hasattr(service, "search_memory"):
    print(show("a"), Store({"a": "b"}).get("a"))
