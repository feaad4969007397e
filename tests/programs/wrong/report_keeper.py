"""Tools that keep reports as artifacts."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.tools import ToolContext
from google.genai import types


async def keep(text: str, tool_context: ToolContext) -> dict:
    """Keeps a report."""
    part = types.Part.from_bytes(data=text.encode(), mime_type="text/plain")
    version = tool_context.save_artifact("report.txt", part)  # wrong: missing-await the version is a coroutine
    return {"kept": version + 1}


async def show(tool_context: ToolContext) -> dict:
    """Shows the newest report."""
    if tool_context.list_artifacts():  # wrong: await-in-condition a coroutine is always true
        part = await tool_context.load_artifact("report.txt")
        return {"report": part.inline_data.data.decode() if part and part.inline_data else ""}
    return {"report": "none"}


def count(tool_context: ToolContext) -> int:
    """Counts the reports."""
    return len([name for name in tool_context.list_artifacts() if name.endswith(".txt")])  # wrong: missing-await a coroutine cannot be iterated


def remember(callback_context: CallbackContext) -> None:
    """Keeps what the agent said."""
    note = types.Part.from_text(text=str(callback_context.state.get("note")))
    callback_context.save_artifact("note.txt", note)  # wrong: missing-await the statement saves nothing
    callback_context.add_session_to_memory()  # wrong: missing-await the statement adds nothing


agent = LlmAgent(
    name="reports",
    model="gemini-2.5-flash",
    tools=[keep, show, count],
    after_agent_callback=remember,
)
