"""The MCP server: a thin adapter over the core."""
