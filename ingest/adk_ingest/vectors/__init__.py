"""The vectors that an index lacks, from the cache or computed, and what they cost."""
