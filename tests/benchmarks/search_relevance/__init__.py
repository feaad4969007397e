"""Labelled queries for the search for ranked targets."""
