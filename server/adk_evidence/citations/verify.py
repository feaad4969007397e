"""Checks a citation against the source as it is now, and finds where its text went (design section 5)."""

from __future__ import annotations

from adk_evidence.citations.anchor import Corpus, anchor, cited_lines
from adk_evidence.errors import SourceError
from adk_evidence.index.sources import SourceReader
from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import Verification
from adk_evidence.text.textfile import split_lines


def verify(payload: ChunkPayload, reader: SourceReader | None, corpus: Corpus | None = None) -> Verification:
    """Compare what a chunk cites with its source.

    Args:
        payload: The chunk.
        reader: The source of the chunk's corpus; None where the source is not known.
        corpus: The files of that source, where several citations are checked together.

    Returns:
        A state of `anchor`, or `unverified`: the source is not known or cannot be read.
    """
    if reader is None:
        return Verification(state="unverified", reason="The source of this corpus is not known.")
    try:
        found = anchor(Cited.of(payload), corpus or Corpus(reader))
    except SourceError as exc:
        return Verification(state="unverified", reason=exc.message)
    return _kept(found, payload, reader) if found.state == "gone" else found


def _kept(found: Verification, payload: ChunkPayload, reader: SourceReader) -> Verification:
    """Say so where the indexed commit still holds the text."""
    kept = reader.read_at_commit(payload.path)
    if kept is None or sha256_text(cited_lines(Cited.of(payload), split_lines(kept))) != payload.source_hash:
        return found
    return found.model_copy(update={"reason": f"{found.reason} Commit {payload.commit[:12]} still holds it."})
