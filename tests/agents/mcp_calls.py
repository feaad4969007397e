"""Calls of MCP tools, and what is expected of every answer."""

from __future__ import annotations

import re
from typing import Any

from mcp import Client
from mcp.types import CallToolResult

from tests.injection import outside_fences


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


async def answer(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence of a call that fails."""
    result = await client.call_tool(tool, arguments)
    text = text_of(result)
    assert result.is_error and "Traceback" not in text and "\n" not in text
    return text


def citations(text: str) -> list[str]:
    """The citations of the results in an answer, in their order."""
    shown = re.findall(r"^\[(?:CTX|CODE|DOCS) \d+\] (.+)$", outside_fences(text), re.MULTILINE)
    return [re.sub(r"^(`+)( ?)(.*)\2\1$", r"\3", line) for line in shown]


def paths(text: str) -> list[str]:
    """The paths of the results in an answer, in their order; of pages with an address, the address."""
    return [citation.partition(":")[2].partition("#")[0] for citation in citations(text)]
