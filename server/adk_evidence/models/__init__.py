"""The only definition of each wire type."""
