"""Objects that are made, copied and filled without the usual checks."""

import dataclasses
import pickle
from types import SimpleNamespace
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events import Event, EventActions
from google.adk.models import LlmRequest
from google.adk.sessions import Session
from google.genai import types

event = Event.model_validate({"author": "a", "turnComplete": True, "unknown": 1})
rough = EventActions.model_construct(_fields_set=None, anything=1)
copied = event.model_copy(update={"author": "b"}, deep=True)
again = Event.model_validate_json(copied.model_dump_json(by_alias=True))
session = Session.model_construct(**{"id": "one"})
session.__dict__.update(title="One")
setattr(again, "branch", "a.b")  # noqa: B010
request = LlmRequest()
request.config.temperature = 0.1
request.config = types.GenerateContentConfig(temperature=0)
agent = LlmAgent(name="copies", model="gemini-2.5-flash")
twin = agent.clone(update={"name": "twin"})
twin.description = "The twin."
type(agent).nickname = property(lambda self: self.name[:3])
print(agent.nickname, rough, pickle.loads(pickle.dumps(again)).branch)


@dataclasses.dataclass
class Context:
    """Stands in for the context of a tool."""

    state: dict = dataclasses.field(default_factory=dict)
    actions: Any = dataclasses.field(default_factory=SimpleNamespace)

    def save_artifact(self, name: str, part: Any, *more: Any) -> int:
        return len(name)


def tool(text: str, tool_context: Any) -> int:
    """Keeps a text."""
    tool_context.actions.mood = "good"
    return tool_context.save_artifact(text, None, 1, 2) + 1


print(tool("a", Context()))
