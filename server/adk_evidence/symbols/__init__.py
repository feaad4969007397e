"""Symbols: what the index defines, and what the names of a Python document mean."""
