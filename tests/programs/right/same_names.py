"""Own classes with the names of the ADK."""

from dataclasses import dataclass, field

from google.adk.agents import LlmAgent
from google.adk.sessions import InMemorySessionService as AdkSessions


@dataclass
class Runner:
    """Runs along a way."""

    name: str
    way: list[str] = field(default_factory=list)

    def run(self, place: str, *more: str) -> list[str]:
        self.way += [place, *more]
        return self.way


@dataclass
class Event:
    """Something that happens in town."""

    title: str
    is_final_response: bool = False


class InMemorySessionService:
    """Keeps sittings of a committee."""

    def create_session(self, day: str) -> str:
        return f"Sitting on {day}"


runner = Runner("Ada", [])
runner.run("Oslo", "Bergen")
runner.shoes = "red"
event = Event("Market")
if event.is_final_response or event.title:
    print(event.title)
service = InMemorySessionService()
print(service.create_session("Monday").upper())
print(LlmAgent(name="town", model="gemini-2.5-flash").name, AdkSessions())
