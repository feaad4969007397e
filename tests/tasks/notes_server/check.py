"""A small MCP server, its tools as the model sees them, and a call that waits for approval."""

import sys

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from tests.tasks.model import ScriptedModel, answer, answers, call, calls, offered, say

SERVER = """
import asyncio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

NAMES = ("read_note", "delete_note", "format_disk")
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name=name, description=name, input_schema=SCHEMA) for name in NAMES])

async def call_tool(context, params):
    text = f"{params.name} {params.arguments['title']}: buy milk"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

async def main():
    server = Server("notes", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

asyncio.run(main())
"""


async def check(solution):
    toolset = solution.make_toolset(sys.executable, ["-c", SERVER])
    model = ScriptedModel.of(call("notes_read_note", title="today"))
    runner = InMemoryRunner(agent=LlmAgent(name="notes", model=model, tools=[toolset]), app_name="notes")
    try:
        events = await say(runner, "What is in my note of today?")
        assert offered(model.requests[0]) == {"notes_read_note", "notes_delete_note"}, (
            "The model is offered other tools."
        )
        asked = calls(events, "adk_request_confirmation")
        assert len(asked) == 1 and "buy milk" not in str(events), "The call did not wait for approval."
        await say(runner, answer(asked[0], {"confirmed": True}))
        assert "read_note today: buy milk" in str(answers(model.requests[-1])), "The note does not reach the model."
    finally:
        await runner.close()
    assert toolset._connection_params.timeout == 60, "The connection may take another time."
