"""Trains adapters from the questions that were written for an index's chunks: for questions, and for a reader."""
