"""What is written of a file: its chunks with the words, questions and texts that are searched."""
