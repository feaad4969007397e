"""Runs over question files and their scores."""
