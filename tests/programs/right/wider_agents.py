"""Agents with fields, private attributes and settings of their own."""

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent, InvocationContext, LlmAgent
from google.adk.events import Event
from pydantic import ConfigDict, Field, PrivateAttr


class CountingAgent(LlmAgent):
    """Counts its invocations."""

    invocations: int = 0
    labels: list[str] = Field(default_factory=list)
    _seen: set[str] = PrivateAttr(default_factory=set)

    def see(self, name: str) -> None:
        self._seen.add(name)
        self.invocations += 1


class OpenAgent(BaseAgent):
    """Takes any attribute."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=self.name, invocation_id=ctx.invocation_id)


class SlowAgent(LlmAgent):
    """Takes its delay by another name."""

    delay: float = Field(default=0, alias="wait")

    @property
    def speed(self) -> float:
        return 1 / self.delay if self.delay else 0

    @speed.setter
    def speed(self, value: float) -> None:
        self.delay = 1 / value

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)


agent = CountingAgent(name="counting", model="gemini-2.5-flash", labels=["a"])
agent.invocations = 3
agent._started = True
open_agent = OpenAgent(name="open", colour="red")
open_agent.size = 4
print(open_agent.colour)
slow = SlowAgent(name="slow", model="gemini-2.5-flash", wait=2)
slow.speed = 4
