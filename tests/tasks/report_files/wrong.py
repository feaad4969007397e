"""Does not wait for the store, whose methods were once not asynchronous."""

from google.adk.agents import LlmAgent
from google.adk.tools import ToolContext
from google.genai import types


def save_report(text: str, tool_context: ToolContext) -> dict:
    """Stores a report."""
    part = types.Part.from_bytes(data=text.encode(), mime_type="text/markdown")
    version = tool_context.save_artifact("report.md", part)
    tool_context.save_artifact("user:latest.md", part)
    return {"version": version}


def read_report(version: int, tool_context: ToolContext) -> dict:
    """Reads a version of the report."""
    part = tool_context.load_artifact("report.md", version=version)
    return {"text": part.inline_data.data.decode()} if part else {"error": "not found"}


def make_agent(model):
    return LlmAgent(name="reporter", model=model, tools=[save_report, read_report])
