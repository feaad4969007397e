"""The index: one protocol, an embedded and a server implementation, and the generations that are published of it."""
