"""Has a language model write the questions that the table of the product lacks for the chunks of an index."""
