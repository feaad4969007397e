"""What an index holds, what it repeats, what it lacks, and what to do about that."""
