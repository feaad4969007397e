"""The language server: the core's evidence, symbols and sources for editors. No retrieval logic of its own."""
