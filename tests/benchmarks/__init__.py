"""Benchmarks: commands that print numbers. No test asserts a time."""
