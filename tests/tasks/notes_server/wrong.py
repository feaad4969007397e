"""Names of parameters that the toolset does not have."""

from google.adk.tools.mcp_tool import McpToolset
from mcp import StdioServerParameters


def make_toolset(command, args):
    return McpToolset(
        connection_params=StdioServerParameters(command=command, args=args, timeout=60),
        allowed_tools=["read_note", "delete_note"],
        prefix="notes_",
        confirm=True,
    )
