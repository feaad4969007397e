"""Tools that save and load artifacts."""

from google.adk.agents import LlmAgent
from google.adk.tools import ToolContext
from google.genai import types


async def save_report(text: str, tool_context: ToolContext) -> dict:
    """Stores a report."""
    part = types.Part.from_bytes(data=text.encode(), mime_type="text/markdown")
    version = await tool_context.save_artifact("report.md", part)
    await tool_context.save_artifact("user:latest.md", part)
    return {"version": version}


async def read_report(version: int, tool_context: ToolContext) -> dict:
    """Reads a version of the report."""
    part = await tool_context.load_artifact("report.md", version=version)
    if part is None:
        return {"error": "not found"}
    return {"text": part.inline_data.data.decode()}


def make_agent(model):
    return LlmAgent(name="reporter", model=model, tools=[save_report, read_report])
