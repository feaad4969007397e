"""Names of parameters that the builder does not have."""

from a2a.types import AgentCapabilities
from google.adk.a2a.utils.agent_card_builder import AgentCardBuilder
from google.adk.a2a.utils.agent_to_a2a import to_a2a


async def make_card(agent):
    return AgentCardBuilder(
        agent=agent,
        url="https://agents.example.com/weather",
        capabilities=AgentCapabilities(streaming=False),
        documentation_url="https://example.com/docs",
        version="2.1.0",
    ).build()


def make_server(agent, card):
    return to_a2a(agent, agent_card=card)
