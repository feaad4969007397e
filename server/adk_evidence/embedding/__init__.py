"""Encoders, dense and sparse, and the cache of their vectors."""
