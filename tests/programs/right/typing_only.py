"""Names that only type checkers import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.agents import LlmAgent

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models import LlmRequest
    from google.adk.sessions import Session
    from google.adk.tools import ToolContext


def prepare(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    llm_request.append_instructions([f"You are {callback_context.agent_name}."])


async def look_up(word: str, tool_context: ToolContext) -> dict:
    """Looks up a word."""
    names = await tool_context.list_artifacts()
    return {"word": word, "files": names}


def title_of(session: Session | None) -> str:
    return str(session.state.get("title")) if session else ""


agent = LlmAgent(name="words", model="gemini-2.5-flash", tools=[look_up], before_model_callback=prepare)
