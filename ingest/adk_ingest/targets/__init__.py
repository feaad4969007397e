"""Ranked targets from a code corpus: public symbols, their references, their rank."""
