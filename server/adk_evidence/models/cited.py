"""A cited text with what is needed to find the text again, in its file as the file is now or in another version."""

from __future__ import annotations

from dataclasses import dataclass

from adk_evidence.models.chunk import ChunkPayload, SymbolKind
from adk_evidence.models.lines import LineSpan


@dataclass(frozen=True)
class Cited:
    """The text of some lines of a file, verbatim and with `\\n` newlines.

    The columns are given where only a part of the lines is cited (0-based, end exclusive, in characters of the joined
    lines). `symbol` and `symbols` are qualified names within the file, as in `ChunkPayload`.
    """

    path: str
    lang: str
    body: str
    start_line: int
    end_line: int
    start_col: int | None = None
    end_col: int | None = None
    symbol: str | None = None
    symbol_kind: SymbolKind | None = None
    symbols: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    uri: str | None = None

    @classmethod
    def of(cls, payload: ChunkPayload) -> Cited:
        return cls(
            path=payload.path,
            lang=payload.lang,
            body=payload.body,
            start_line=payload.start_line,
            end_line=payload.end_line,
            start_col=payload.start_col,
            end_col=payload.end_col,
            symbol=payload.symbol,
            symbol_kind=payload.symbol_kind,
            symbols=tuple(payload.symbols),
            headings=tuple(payload.headings),
            uri=payload.uri,
        )

    @property
    def lines(self) -> LineSpan:
        return LineSpan(start=self.start_line, end=self.end_line)

    @property
    def name(self) -> str:
        """The qualified name within the module; empty for the module itself and where no name is known."""
        if self.symbol is None or self.symbol_kind == "module":
            return ""
        return self.symbol.replace("<locals>.", "")
