"""Ranked targets: the public symbols of the indexed code, and the searches in them."""
