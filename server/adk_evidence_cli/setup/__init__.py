"""`adk-evidence setup`: enters the MCP server and a skill into the configuration of agents, and takes both back."""
