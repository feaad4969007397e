"""Ranked targets: the public symbols of the indexed code, found by name and by meaning."""
