"""`adk-evidence eval judge`: people and language models grade what two systems show for the same questions."""
