"""Where corpora come from, and what generated pages and sites look like."""
