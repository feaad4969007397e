"""What in code and docs does not fit a version of the ADK."""
