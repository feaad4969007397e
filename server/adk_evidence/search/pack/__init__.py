"""From a ranking to a pack: citations that are checked, the lines that are shown, and what is said beside a result."""
