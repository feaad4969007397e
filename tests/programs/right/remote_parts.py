"""MCP and A2A as they are now."""

import asyncio

from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TaskState
from google.adk.agents.remote_a2a_agent import AGENT_CARD_WELL_KNOWN_PATH, RemoteA2aAgent
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import StdioServerParameters
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes", instructions="Keeps notes.")


@server.tool()
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


class Executor(AgentExecutor):
    async def execute(self, request, queue):
        updater = TaskUpdater(queue, request.task_id, request.context_id)
        await asyncio.gather(updater.start_work(), asyncio.sleep(0))
        await updater.update_status(TaskState.TASK_STATE_WORKING, new_text_message("working"))
        await updater.complete(message=updater.new_agent_message([Part(text="done")]))

    async def cancel(self, *_):
        raise NotImplementedError


card = AgentCard(
    name="now",
    description="x",
    version="1",
    supported_interfaces=[AgentInterface(url="http://localhost:1/", protocol_binding="JSONRPC")],
    capabilities=AgentCapabilities(streaming=True, push_notifications=False),
    default_input_modes=["text"],
    skills=[AgentSkill(id="a", name="a", tags=[])],
)
card.icon_url = "http://localhost/x.png"
card.skills.append(AgentSkill(id="b"))
handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), card)
peer = RemoteA2aAgent("peer", f"http://localhost:1{AGENT_CARD_WELL_KNOWN_PATH}", timeout=3, sub_agents=[])
toolsets = [
    McpToolset(connection_params=StdioServerParameters(command="uvx", args=["x"], env={"A": "b"}, cwd="/tmp")),
    McpToolset(connection_params=StdioConnectionParams(server_params={"command": "npx"}, timeout=1)),
    McpToolset(
        connection_params=StreamableHTTPConnectionParams(url="http://localhost/mcp", headers={"A": "b"}),
        tool_filter=lambda tool, readonly_context=None: tool.name != "delete",
        header_provider=lambda context: {"X": context.user_id},
    ),
]
