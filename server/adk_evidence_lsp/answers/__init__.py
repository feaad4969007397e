"""What the server answers: hovers, code actions, diagnostics, and the requests of the product."""
