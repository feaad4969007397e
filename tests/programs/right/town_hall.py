"""A town hall whose words are those of the ADK, with other meanings."""

from types import SimpleNamespace
from typing import NamedTuple

from google.adk import agents
from google.adk.agents import LlmAgent as Model


class types:
    """Sorts of letters."""

    class Content:
        def __init__(self, text: str, *more: str) -> None:
            self.text = " ".join([text, *more])

    @staticmethod
    def Part(text: str, size: int = 0) -> str:
        return text * size


class Session(NamedTuple):
    """A session of the council."""

    day: str
    create_session: bool = True


def Event(name, /, **rest):
    return SimpleNamespace(name=name, is_final_response=False, **rest)


class LlmAgent(Model):
    """An official, who has a room."""

    room: int = 0

    def visit(self, room: int) -> None:
        self.room = room


official = LlmAgent(name="clerk", model="gemini-2.5-flash", room=3)
official.room = 4
official.visit(5)
letter = types.Content("Dear", "Ada")
letter.stamp = "red"
event = Event("market", place="square")
event.guests = 3
if event.is_final_response or Session("Monday").create_session:
    print(types.Part("ha", 2), letter.text, event.place)
for Runner in (lambda agent, app: f"{agent} {app}", max):
    print(Runner("a", "b"))
print([InMemoryRunner(1, 2) for InMemoryRunner in (divmod, pow)], agents.LlmAgent.__name__)
