"""From a corpus to a published index: sources, chunking, lexical text, pipeline, verification."""
