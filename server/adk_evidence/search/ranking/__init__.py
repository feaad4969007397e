"""From candidates to an order: merge, feedback, the choice of what is shown, and how far it can be relied on."""
