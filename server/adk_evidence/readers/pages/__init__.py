"""Pages of documentation: headings, sections, includes, snippets, whose lines are for which readers."""
