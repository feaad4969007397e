"""What agents call: sessions on the published index, and the tool for the ADK."""
