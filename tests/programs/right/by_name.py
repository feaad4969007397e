"""Attributes that are set by their names, objects that are made without checks."""

import copy
from typing import Any

from google.adk.agents import LlmAgent, RunConfig
from google.adk.events import Event
from google.adk.sessions import Session
from google.genai import types

agent = LlmAgent(name="names", model="gemini-2.5-flash")
for name, value in {"description": "By name.", "output_key": "said"}.items():
    setattr(agent, name, value)

object.__setattr__(agent, "tenant", "one")
print(agent.tenant)

session = Session.model_construct(id="one", app_name="names")
event = Event.model_construct(author="model", content=types.Content(role="model"), extra_note="x")
config = RunConfig.model_validate({"max_llm_calls": 3})
second = config.model_copy(update={"max_llm_calls": 4})
third = copy.copy(agent)
third.description = "The third."
agent.__dict__["visits"] = 3
print(agent.visits)


def overwrite(target: Any, **fields: Any) -> Any:
    for field, value in fields.items():
        setattr(target, field, value)
    return target


overwrite(agent, instruction="Be kind.").description = "Kind."
vars(session)["user_id"] = "ada"
