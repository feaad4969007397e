"""The table of what each released google-adk has."""
