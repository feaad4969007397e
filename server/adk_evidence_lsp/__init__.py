"""The language server: the core's evidence, symbols and sources for editors. It has no retrieval logic."""
