"""Named indexes: those of codebases and of versions, kept up to date and removed."""
