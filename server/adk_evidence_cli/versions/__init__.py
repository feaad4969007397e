"""What in code and docs does not fit a version of google-adk, what mends that, and what differs between versions."""
