"""Names of the ADK that the code binds again."""

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner as Runner
from google.adk.sessions import InMemorySessionService

agent = LlmAgent(name="again", model="gemini-2.5-flash")
runner = Runner(agent)


def make(Runner=dict, Event=str) -> tuple:
    return Runner(app="again"), Event("text")


class LlmAgent:
    """Not the agent of the ADK any more."""

    def __init__(self, title: str) -> None:
        self.title = title


other = LlmAgent("other")
other.invocations = 3

for Event in ("one", "two"):
    print(Event.upper())

session_service = InMemorySessionService()
if runner:
    session_service = {"create": lambda name: name}
print(session_service["create"]("one").upper(), make())


def use(agent: LlmAgent) -> None:
    agent.title = "new"
    agent.pages = 4
