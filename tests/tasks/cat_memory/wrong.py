"""The model has to ask for memories by itself."""

from google.adk.agents import LlmAgent
from google.adk.tools import load_memory


async def remember(callback_context):
    await callback_context.add_session_to_memory()


def make_agent(model):
    return LlmAgent(name="friend", model=model, tools=[load_memory], after_agent_callback=remember)
