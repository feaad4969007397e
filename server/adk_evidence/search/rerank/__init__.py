"""Rerankers behind one protocol."""
