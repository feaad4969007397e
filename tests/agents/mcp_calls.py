"""Calls of MCP tools, and what is expected of every answer."""

from __future__ import annotations

from typing import Any

from mcp import Client
from mcp.types import CallToolResult


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


async def answer(client: Client, tool: str, **arguments: Any) -> tuple[str, Any]:
    """The text and the structured content, if the server gives any, of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result), result.structured_content


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence of a call that fails."""
    result = await client.call_tool(tool, arguments)
    text = text_of(result)
    assert result.is_error and "Traceback" not in text and "\n" not in text
    return text
