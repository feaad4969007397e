"""An agent that works on files and on a web service through MCP."""

import os

from google.adk.agents import LlmAgent
from google.adk.tools.mcp_tool import McpToolset, MCPToolset, StdioConnectionParams, StreamableHTTPConnectionParams  # wrong: deprecated-name it is McpToolset
from google.adk.tools.mcp_tool.mcp_toolset import SseServerParams  # wrong: unknown-import it is not there any more
from mcp import StdioServerParameters
from mcp.server.fastmcp import FastMCP  # wrong: foreign mcp 2 has MCPServer

ROOT = os.path.dirname(os.path.abspath(__file__))

server = FastMCP("notes")

files = McpToolset(
    connection_params=StdioConnectionParams(
        server_params=StdioServerParameters(
            cmd="npx",  # wrong: foreign the field is command
            args=["-y", "@modelcontextprotocol/server-filesystem", ROOT],
        ),
        timeout=15,
    ),
    tool_filter=["read_file", "list_directory"],
)

tickets = MCPToolset(
    connection_params=StreamableHTTPConnectionParams(
        url="http://localhost:8931/mcp",
        header={"Authorization": "Bearer none"},  # wrong: unknown-keyword dropped silently, it is headers
    ),
)


async def search_tools():
    found, stack = await MCPToolset.from_server(connection_params=SseServerParams(url="http://localhost:8932/sse"))  # wrong: unknown-name gone since 1.0
    return found, stack


root_agent = LlmAgent(name="clerk", model="gemini-2.5-flash", tools=[files, tickets])
