"""Lantern, a small kit that was written for these tests alone."""
