"""Code that runs with several versions of its packages."""

from google.adk.agents import LlmAgent

try:
    from google.adk.cli.fast_api import RunEvalRequest
except ImportError:
    RunEvalRequest = None

try:
    from google.adk.tools.mcp_tool import McpToolset as Toolset
except ImportError:
    from google.adk.tools.mcp_tool import MCPTools as Toolset

try:
    from mcp.server.fastmcp import FastMCP as Server
except (ImportError, AttributeError):
    from mcp.server.mcpserver import MCPServer as Server

try:
    from a2a.types import TextPart
except ImportError:
    TextPart = None

server = Server("words")
agent = LlmAgent(name="words", model="gemini-2.5-flash")
if hasattr(agent, "canonical_prompt"):
    print(agent.canonical_prompt)
print(Toolset, TextPart, RunEvalRequest)
