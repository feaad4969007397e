"""Trains the adapter for questions, from the questions that were written for the chunks of an index."""
