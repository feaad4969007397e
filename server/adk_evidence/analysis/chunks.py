"""The chunks of an index as an analysis needs them: where they stand, how long they are, and of which words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_evidence.analysis.shingles import Shingler
from adk_evidence.index.opened import Index
from adk_evidence.models.analysis import CodePlace
from adk_evidence.models.chunk import ChunkPayload, SymbolKind, sha256_text
from adk_evidence.models.citation import citation_of
from adk_evidence.models.pack import LineSpan
from adk_evidence.readers.licences import licence_lines
from adk_evidence.store.base import scroll_all
from adk_evidence.store.manifest import is_beside
from adk_evidence.tokens import estimate_tokens

if TYPE_CHECKING:
    from adk_evidence.analysis.shingles import Shingles

# How programs sign the files that they write, within the first lines.
_GENERATED = re.compile(
    r"@generated\b|\bdo not (?:edit|modify)\b|\b(?:auto-?|automatically )generated\b"
    r"|\bgenerated (?:by|from|with|automatically)\b|\bcode generated\b|\bmachine[- ]generated\b",
    re.IGNORECASE,
)
# A mark stands in a comment or in the docstring that opens the file.
_REMARK = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%|<!--|\"\"\"|''')")
_HEAD_LINES = 12
# A chunk of a generated corpus repeats the docstrings that it was made of: nobody can mend that.
_MADE = "api-reference"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk.

    `edition` tells two versions of a corpus apart, which are not copies of each other. `hash`, `bytes` and `shingles`
    are those of its lines without the licence that opens its file; `hash` is empty where nothing else is there.
    """

    edition: str
    repo: str
    commit: str
    path: str
    start: int
    end: int
    column: int
    citation: str
    lang: str
    kind: str
    symbol: str | None
    symbol_kind: SymbolKind | None
    hash: str
    tokens: int
    bytes: int
    generated: bool
    made: bool
    shingles: Shingles | None

    @property
    def order(self) -> tuple[str, str, str, int, int]:
        return (self.edition, self.repo, self.path, self.start, self.column)

    @property
    def file(self) -> tuple[str, str, str]:
        return (self.edition, self.repo, self.path)

    def at(self) -> CodePlace:
        return CodePlace(
            citation=self.citation,
            path=self.path,
            lines=LineSpan(start=self.start, end=self.end),
            symbol=self.symbol,
        )


def read_chunks(index: Index, progress: Callable[[int, int], None]) -> list[Chunk]:
    """All chunks of an index, by path and line. `progress` hears how many of how many were read, and may stop it.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    total = index.points
    beside = {entry.commit for name, entry in index.manifest.corpora.items() if is_beside(name)}
    shingler = Shingler()
    chunks: list[Chunk] = []
    for payload in _payloads(index):
        if len(chunks) % 500 == 0:
            progress(len(chunks), total)
        chunks.append(_chunk(ChunkPayload.model_construct(**payload), beside, shingler))
    return sorted(chunks, key=lambda chunk: chunk.order)


def _payloads(index: Index) -> Iterator[Mapping[str, Any]]:
    for collection in index.manifest.collections:
        for record in scroll_all(index.store, collection):
            yield record.payload


def _chunk(payload: ChunkPayload, beside: set[str], shingler: Shingler) -> Chunk:
    made = payload.origin == _MADE
    opens = payload.chunk_index == 0
    # Lines for readers of another language are a chunk of their own, and every file may have the same licence.
    body = payload.searched_body
    text = _without_licence(body) if opens else body
    return Chunk(
        edition=payload.commit if payload.commit in beside else "",
        repo=payload.repo,
        commit=payload.commit,
        path=payload.path,
        start=payload.start_line,
        end=payload.end_line,
        column=payload.start_col or 0,
        citation=citation_of(payload),
        lang=payload.lang,
        kind=payload.symbol_kind or "page",
        symbol=payload.symbol,
        symbol_kind=payload.symbol_kind,
        hash=sha256_text(text) if text.strip() else "",
        tokens=estimate_tokens(body),
        bytes=len(text.encode("utf-8", "surrogatepass")),
        generated=opens and not made and _says_generated(body),
        made=made,
        shingles=None if made else shingler.shingles(text),
    )


def _says_generated(body: str) -> bool:
    head = body.split("\n", _HEAD_LINES)[:_HEAD_LINES]
    return any(_GENERATED.search(line) for line in head if _REMARK.match(line))


def _without_licence(body: str) -> str:
    """The first chunk of a file without the comment that opens it, if that is a licence in any comment style."""
    lines = body.split("\n")
    opening = next((at for at, line in enumerate(lines) if line.strip() and not _REMARK.match(line)), len(lines))
    return "\n".join(lines[licence_lines(lines, opening) :])
