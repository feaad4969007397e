"""Offers an agent to other agents."""

import httpx
from a2a.client import A2ACardResolver
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCard, AgentSkill, Part, TextPart  # wrong: neighbour-import TextPart is gone in a2a 1
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent

skill = AgentSkill(id="tides", name="Tides", description="Tells the tides.", tags=["sea"])
card = AgentCard(
    name="tides",
    description="Tells the tides.",
    version="1.0.0",
    skills=[skill],
)


class TideExecutor(AgentExecutor):
    """Tells the tides."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        updater.start_work()  # wrong: neighbour-await the statement starts nothing
        await updater.add_artifact([Part(text="High water at noon.")])
        await updater.complete()

    async def cancel(self, context: RequestContext) -> None:  # wrong: neighbour-override event_queue is passed
        raise NotImplementedError


async def look(http: httpx.AsyncClient) -> str:
    resolver = A2ACardResolver(http)  # wrong: neighbour-argument base_url is required
    found = await resolver.get_agent_card()
    return found.name


app = to_a2a(LlmAgent(name="tides", model="gemini-2.5-flash"), "localhost", port=8001)  # wrong: extra-argument host is keyword-only
