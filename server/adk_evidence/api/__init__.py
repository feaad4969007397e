"""What the ADK has to offer in each of its versions: a model of an API, read from source, kept in a table, compared."""
