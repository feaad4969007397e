"""Calls that may fail, and are allowed to."""

import contextlib

from google.adk.agents import LlmAgent
from google.adk.events import Event
from pydantic import ValidationError

with contextlib.suppress(ImportError):
    from google.adk.tools.retired_tool import RetiredTool

agent = LlmAgent(name="suppressed", model="gemini-2.5-flash")

with contextlib.suppress(AttributeError):
    print(agent.canonical_history)

try:
    LlmAgent(name="strict", model="gemini-2.5-flash", colour="red")
except ValidationError as error:
    print(error.error_count())

with contextlib.suppress(ValueError):
    agent.colour = "red"

with contextlib.suppress(TypeError):
    Event("positional")
