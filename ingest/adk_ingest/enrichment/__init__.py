"""Has a language model write the questions that the chunks of an index lack."""
