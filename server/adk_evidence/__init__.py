"""The core of ADK Evidence: models, embedding, store, retrieval and citations. No editor, CLI or MCP import."""

__version__ = "0.1.0"
