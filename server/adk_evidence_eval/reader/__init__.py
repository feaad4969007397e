"""Trains an adapter for the reader from the questions that were written for an index's chunks."""
