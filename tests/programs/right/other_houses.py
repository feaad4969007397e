"""Right uses of mcp and a2a."""

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, Message, Part, Role, TaskState
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import ClientSession, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent, Tool

server = MCPServer("sums", instructions="Adds.")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds numbers."""
    return a + b


@server.tool("subtract")
async def minus(a: int, b: int) -> CallToolResult:
    """Subtracts numbers."""
    return CallToolResult(content=[TextContent(type="text", text=str(a - b))], structuredContent={"difference": a - b})


local = McpToolset(connection_params=StdioServerParameters(command="python", args=["-V"], env={"A": "b"}))
far = McpToolset(connection_params=StreamableHTTPConnectionParams(url="http://localhost/mcp"), tool_filter=["add"])
slow = StdioConnectionParams(server_params={"command": "python"}, timeout=9)
declared = Tool(name="add", inputSchema={"type": "object"}, outputSchema=None)
card = AgentCard(name="sums", version="1", capabilities=AgentCapabilities(streaming=True))
card.skills.add(id="add", name="Add")
config = ClientConfig(streaming=False, accepted_output_modes=["text/plain"])


class Sums(AgentExecutor):
    """Adds numbers."""

    async def execute(self, request: RequestContext, queue: EventQueue) -> None:
        updater = TaskUpdater(queue, request.task_id or "", request.context_id or "")
        message = updater.new_agent_message([Part(text="3")])
        message.extensions.append("sums")
        await updater.update_status(TaskState.TASK_STATE_WORKING, message=message)
        await queue.enqueue_event(Message(message_id="1", role=Role.ROLE_AGENT, parts=[Part(text="3")]))

    async def cancel(self, *given: object, **named: object) -> None:
        raise NotImplementedError


async def names(url: str) -> list[str]:
    async with streamable_http_client(url) as (read, write), ClientSession(read, write) as session:
        listed = await session.list_tools()
        return [tool.name for tool in listed.tools]


print(A2ACardResolver, ClientFactory(config), InMemoryTaskStore(), Sums())
