"""An agent that preloads memories and adds its sessions to memory."""

from google.adk.agents import LlmAgent
from google.adk.tools.preload_memory_tool import PreloadMemoryTool


async def remember(callback_context):
    await callback_context.add_session_to_memory()


def make_agent(model):
    return LlmAgent(name="friend", model=model, tools=[PreloadMemoryTool()], after_agent_callback=remember)
