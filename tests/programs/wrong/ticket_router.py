"""A router agent of its own, with own tools."""

from typing import AsyncGenerator

from google.adk.agents import BaseAgent, InvocationContext, LlmAgent
from google.adk.events import Event, EventActions
from google.adk.tools import AgentTool, BaseTool, FunctionTool


def count_tickets(team: str) -> dict:
    """Counts the open tickets of a team."""
    return {"team": team, "open": 3}


class WeatherTool(BaseTool):
    def __init__(self) -> None:
        super().__init__("weather", "Tells the weather of a city.")  # wrong: positional keywords only
        self.calls = 0

    async def run_async(self, *, args, tool_context):
        self.calls += 1
        return {"city": args["city"], "weather": "sunny"}


class TicketRouter(BaseAgent):
    billing: LlmAgent

    def __init__(self, billing: LlmAgent) -> None:
        super().__init__(name="router", billing=billing, sub_agents=[billing])
        self.seen_count = 0  # wrong: unknown-attribute the model has no such field

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=self.name, actions=EventActions(state_update={"routed": True}))  # wrong: unknown-keyword it is state_delta
        async for event in self.billing.run_async(ctx):
            yield event


tools = [
    FunctionTool(count_tickets, name="tickets"),  # wrong: unknown-keyword the name comes from the function
    AgentTool(agent=LlmAgent(name="poet", description="Writes poems.")),
]
