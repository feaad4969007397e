"""One opened index of whatever was ingested: its manifest, its settings, its place among the others."""
