"""What a text says in itself: names, versions, languages, tokens, globs; without any format or index."""
