"""Chunkers: from a file to chunks that a person would have cut."""
