"""Serves an agent over A2A, and uses one."""

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication  # wrong: foreign gone in a2a-sdk 1.0
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart  # wrong: foreign TextPart is gone
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent


class EchoExecutor(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        updater.start_work()  # wrong: missing-await nothing happens
        await updater.add_artifact([Part(text=context.get_user_input())], name="echo")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


card = AgentCard(
    name="echo",
    description="Says it again.",
    version="1.0.0",
    url="http://localhost:9999/",  # wrong: foreign the field is gone
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text"],
    default_output_modes=["text"],
    skills=[AgentSkill(id="echo", name="Echo", description="Says it again.", tags=["echo"])],
)

echo = RemoteA2aAgent(name="echo", agent_url="http://localhost:9999/.well-known/agent-card.json")  # wrong: missing-argument agent_card
