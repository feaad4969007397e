"""The operations for agents: index, search, find similar code, gather context, analyze (vector-agent.md)."""
