"""What the server answers: one small class a feature, which registers itself."""
