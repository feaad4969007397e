"""An agent with a server of the Model Context Protocol."""

from google.adk.agents import LlmAgent
from google.adk.tools.mcp_tool import McpToolset, SseConnectionParams, StdioConnectionParams
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.server.fastmcp import FastMCP  # wrong: neighbour-import the module is gone in mcp 2
from mcp.types import TextContent

server = FastMCP("files")
local = StdioServerParameters(args=["-y", "server-filesystem", "."])  # wrong: neighbour-argument command is required
remote = SseConnectionParams(headers={"x-key": "none"})  # wrong: missing-argument url is required

files = McpToolset(StdioConnectionParams(server_params=local, timeout=10))  # wrong: extra-argument connection_params is keyword-only
notes = McpToolset(tool_filter=["read_file"])  # wrong: missing-argument connection_params is required


async def names() -> list[str]:
    async with stdio_client(local) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = session.list_tools()  # wrong: neighbour-await a coroutine has no tools
        return [tool.name for tool in listed.tools]


def said(text: str) -> TextContent:
    return TextContent(type="text", text=text)


agent = LlmAgent(name="files", model="gemini-2.5-flash", tools=[files, notes, McpToolset(connection_params=remote)])
