"""From a question to an Evidence Pack."""
