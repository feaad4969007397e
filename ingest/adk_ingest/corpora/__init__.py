"""Which files an index is made of: discovery, what changed since the last run, and what is left out."""
