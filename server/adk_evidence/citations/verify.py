"""Checks a citation against the source as it is now, and finds where its text went (design section 5)."""

from __future__ import annotations

import functools

from adk_evidence.errors import SourceError
from adk_evidence.index.sources import CACHED_FILES, SourceReader
from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_evidence.models.pack import LineSpan, Verification
from adk_evidence.readers.sections import find_section
from adk_evidence.readers.syntax import find_same_tree, find_symbol
from adk_evidence.textfile import split_lines


def verify(payload: ChunkPayload, reader: SourceReader | None) -> Verification:
    """Compare what a chunk cites with its source.

    Args:
        payload: The chunk; its `source_hash` is what the cited lines must hash to.
        reader: The source of the chunk's corpus; None where the source is not known.

    Returns:
        `exact`: the cited lines are there. `moved`: their text, or code with the same syntax tree under the
        same name, stands at other lines. `changed`: only the symbol or heading is left, at the given lines.
        `gone`: nothing is left. `unverified`: the source is not known or cannot be read.
    """
    if reader is None:
        return Verification(state="unverified", reason="The source of this corpus is not known.")
    try:
        text = reader.read(payload.path)
    except SourceError as exc:
        return Verification(state="unverified", reason=exc.message)
    if text is None:
        return _gone("The file is no longer there.", payload, reader)
    lines = _lines(text)
    if sha256_text(_cited(payload, lines)) == payload.source_hash:
        return Verification(state="exact")
    span = _find_text(payload, text)
    if span is not None:
        return Verification(state="moved", lines=span, reason="The same text stands at other lines.")
    return _by_name(payload, text) or _gone("Neither its text nor its name is in the file any more.", payload, reader)


# As many as a reader keeps: several chunks of one answer, and of many answers, come from one file.
@functools.lru_cache(maxsize=CACHED_FILES)
def _lines(text: str) -> list[str]:
    return split_lines(text)


def _cited(payload: ChunkPayload, lines: list[str]) -> str:
    joined = "\n".join(lines[payload.start_line - 1 : payload.end_line])
    return joined if payload.start_col is None else joined[payload.start_col : payload.end_col]


def _find_text(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines where the cited text stands, the nearest to the old ones."""
    body = payload.body
    if not body.strip():
        return None
    # Whole lines were cited, unless columns say otherwise.
    edge = "\n" if payload.start_col is None else ""
    haystack, needle = f"{edge}{text}{edge}", f"{edge}{body}{edge}"
    best: int | None = None
    line, counted_to = 1, 0
    found = haystack.find(needle)
    while found >= 0:
        # The edge before the first line makes up for the newline before the match.
        line += haystack.count("\n", counted_to, found)
        counted_to = found
        if best is None or abs(line - payload.start_line) < abs(best - payload.start_line):
            best = line
        found = haystack.find(needle, found + 1)
    return None if best is None else LineSpan(start=best, end=best + body.count("\n"))


def _by_name(payload: ChunkPayload, text: str) -> Verification | None:
    if payload.lang == "py":
        same = find_same_tree(payload, text)
        if same is not None:
            return Verification(state="moved", lines=same, reason="Only formatting or comments changed.")
        named = find_symbol(payload, text)
        reason = f"{payload.symbol or 'The module'} is there, but its code changed."
    else:
        named = find_section(payload, text)
        reason = "The heading is there, but the text below it changed."
    return Verification(state="changed", lines=named, reason=reason) if named else None


def _gone(reason: str, payload: ChunkPayload, reader: SourceReader) -> Verification:
    kept = reader.read_at_commit(payload.path)
    if kept is not None and sha256_text(_cited(payload, split_lines(kept))) == payload.source_hash:
        reason += f" Commit {payload.commit[:12]} still holds it."
    return Verification(state="gone", reason=reason)
