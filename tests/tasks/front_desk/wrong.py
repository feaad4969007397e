"""Methods of the context that are not there."""

from google.adk.agents import LlmAgent
from google.adk.tools import ToolContext


def route(topic: str, tool_context: ToolContext) -> dict:
    """Hands a question over to the agent for its topic."""
    tool_context.state["topic"] = topic
    tool_context.transfer_to("billing" if topic == "invoice" else "technology")
    return {"status": "handed over"}


def opening_hours(tool_context: ToolContext) -> dict:
    """Returns the opening hours."""
    tool_context.actions.skip_summarization = True
    return {"hours": "9 to 5"}


def make_agent(model):
    below = [
        LlmAgent(name=name, model=model, disallow_transfer_to_parent=True, disallow_transfer_to_peers=True)
        for name in ("billing", "technology")
    ]
    return LlmAgent(name="front_desk", model=model, tools=[route, opening_hours], sub_agents=below)
