"""all-MiniLM-L6-v2, computed here: its weights, graphs, adapters, and the static vectors distilled from it."""
