"""What texts are made of: headings, definitions, tokens."""
