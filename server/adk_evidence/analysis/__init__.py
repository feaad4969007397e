"""What an index holds and repeats, which files it could not read, and how far it is behind its sources."""
