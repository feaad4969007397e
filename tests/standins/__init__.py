"""Stand-ins for services that tests cannot reach, on loopback, spoken to by the real clients."""
