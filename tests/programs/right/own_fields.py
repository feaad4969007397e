"""Agents with fields, private attributes and properties of their own."""

from typing import Any, ClassVar

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from google.genai import types
from pydantic import ConfigDict, Field, PrivateAttr, model_validator


class Counting(BaseAgent):
    limit: int = 3
    notes: list[str] = Field(default_factory=list, alias="remarks")
    made: ClassVar[int] = 0
    _seen: int = PrivateAttr(default=0)

    model_config = ConfigDict(populate_by_name=True)

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._seen = 1
        Counting.made += 1

    @property
    def seen(self) -> int:
        return self._seen

    @seen.setter
    def seen(self, value: int) -> None:
        self._seen = value

    async def _run_async_impl(self, ctx: InvocationContext):
        self._seen += 1
        self.limit -= 1
        yield Event(author=self.name, content=types.ModelContent(str(self.seen)))


class Open(LlmAgent):
    model_config = ConfigDict(extra="allow")


class Renaming(LlmAgent):
    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, data: Any) -> Any:
        if isinstance(data, dict) and "prompt" in data:
            data["instruction"] = data.pop("prompt")
        return data


class Wrapped:
    def __init__(self, agent: LlmAgent) -> None:
        self.agent = agent
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.agent, name)


first = Counting(name="first", remarks=["x"])
first.limit = 5
first.seen = 7
second = Counting(name="second", notes=["y"], limit=2)
third = Open(name="third", model="gemini-2.5-flash", team="billing")
third.owner = "nobody"
fourth = Renaming(name="fourth", prompt="Be short.")
wrapped = Wrapped(LlmAgent(name="fifth"))
wrapped.retries = 2
object.__setattr__(fourth, "hidden", True)
fourth.description = "renamed"
assert first.seen == 7 and fourth.instruction == "Be short." and wrapped.name == "fifth"
