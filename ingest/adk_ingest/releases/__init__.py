"""Two versions of the code, read in order to compare them."""
