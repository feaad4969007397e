"""Code that works with many versions of the libraries."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.tools.mcp_tool.mcp_session_manager import SseServerParams

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.tools import ToolContext

try:
    from google.adk.agents import StreamingMode
except ImportError:
    from google.adk.agents.run_config import StreamingMode

try:
    from mcp.server.fastmcp import FastMCP
except ImportError:
    from mcp.server.mcpserver import MCPServer as FastMCP

try:
    from google.adk.models import LiteLlm
except ImportError:
    LiteLlm = None

try:
    import google.adk.callbacks as callbacks
except ModuleNotFoundError:
    callbacks = None


def optional(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None


Apps = optional("google.adk.apps", "AppConfig")
server = FastMCP("many")
fields = {"name": "many", "model": LiteLlm(model="openai/x") if LiteLlm else "gemini-2.5-flash"}
if "system_instruction" in LlmAgent.model_fields:
    fields["system_instruction"] = "Be short."
root_agent = LlmAgent(**fields)
if hasattr(root_agent, "set_prompt"):
    root_agent.set_prompt("Be short.")
mode = getattr(StreamingMode, "BIDIRECTIONAL", StreamingMode.BIDI)
connection = SseServerParams(url="http://localhost:1/sse")


async def save(context: ToolContext | CallbackContext, name: str, part: Any) -> int:
    saved = context.save_artifact(name, part)
    if inspect.isawaitable(saved):
        saved = await saved
    return saved
