"""What is asked: the kind of a question, pasted errors and code in it, the version it names, and what is searched."""
