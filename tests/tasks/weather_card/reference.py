"""A card of one's own, and the application that serves it."""

from a2a.types import AgentCapabilities
from google.adk.a2a.utils.agent_card_builder import AgentCardBuilder
from google.adk.a2a.utils.agent_to_a2a import to_a2a


async def make_card(agent):
    builder = AgentCardBuilder(
        agent=agent,
        rpc_url="https://agents.example.com/weather",
        capabilities=AgentCapabilities(streaming=False),
        doc_url="https://example.com/docs",
        agent_version="2.1.0",
    )
    return await builder.build()


def make_server(agent, card):
    return to_a2a(agent, agent_card=card)
