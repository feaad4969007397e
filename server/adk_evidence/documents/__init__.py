"""A Python document as somebody types it: its scopes and names, and what its expressions mean."""
