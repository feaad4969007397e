"""A toolset over stdio with a filter, a prefix and confirmation."""

from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from mcp import StdioServerParameters


def make_toolset(command, args):
    server = StdioServerParameters(command=command, args=args)
    return McpToolset(
        connection_params=StdioConnectionParams(server_params=server, timeout=60),
        tool_filter=["read_note", "delete_note"],
        tool_name_prefix="notes",
        require_confirmation=True,
    )
