"""What is said of a chunk: metadata, lines around it, and whether its citation holds."""

from __future__ import annotations

from adk_evidence.errors import SourceError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_evidence.models.pack import LineSpan, Verification
from adk_evidence.textfile import split_lines
from adk_evidence_agents.operations.responses import ResultMetadata, Surroundings


def metadata_of(payload: ChunkPayload) -> ResultMetadata:
    """Where a chunk stands and what it is."""
    return ResultMetadata(
        file_path=payload.path,
        file_type=payload.lang,
        line_start=payload.start_line,
        line_end=payload.end_line,
        function_name=_function(payload),
        class_name=_class(payload),
        tags=tags_of(payload),
    )


def tags_of(payload: ChunkPayload) -> tuple[str, ...]:
    """What results can be filtered by besides file type and folder."""
    origin = () if payload.origin == "repository" else (payload.origin,)
    kind = (payload.symbol_kind,) if payload.symbol_kind else ()
    return tuple(dict.fromkeys((payload.source_type, payload.lang, *kind, *payload.code_langs, *origin)))


def holds(verification: Verification) -> bool:
    """Whether the cited lines are in the source, be it at another place."""
    return verification.state in ("exact", "moved")


def surroundings(index: Index, payload: ChunkPayload, found: Verification, count: int) -> Surroundings | None:
    """The lines around a chunk as they were when it was indexed, else those where it is now.

    Args:
        index: The open index.
        payload: The chunk.
        found: Whether its citation holds.
        count: Most lines before, and after.

    Returns:
        None where the source no longer has the chunk's lines.
    """
    reader = index.source_of(payload)
    if reader is None or found.state == "unverified":
        return None
    try:
        text = reader.read(payload.path)
        if not holds(found):
            text = reader.read_at_commit(payload.path)
            if text is None or sha256_text(text) != payload.file_hash:
                return None
    except SourceError:
        return None
    span = found.lines if found.state == "moved" else None
    return _around(text or "", span or LineSpan(start=payload.start_line, end=payload.end_line), count)


def _around(text: str, span: LineSpan, count: int) -> Surroundings:
    lines = split_lines(text)
    first = span.start - 1
    return Surroundings(
        before="\n".join(lines[max(0, first - count) : first]), after="\n".join(lines[span.end : span.end + count])
    )


def _function(payload: ChunkPayload) -> str | None:
    if payload.symbol is None or payload.symbol_kind not in ("function", "method"):
        return None
    return payload.symbol.rpartition(".")[2]


def _class(payload: ChunkPayload) -> str | None:
    if payload.symbol is None:
        return None
    if payload.symbol_kind in ("class", "methods"):
        return payload.symbol
    return payload.symbol.rpartition(".")[0] or None if payload.symbol_kind == "method" else None
