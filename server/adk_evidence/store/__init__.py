"""The index: one protocol, its embedded implementation and the generations that are published of it."""
