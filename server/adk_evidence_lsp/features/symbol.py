"""`adk/symbol`: what the index knows of a name, without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adk_evidence_lsp.protocol import SYMBOL, SymbolParams

if TYPE_CHECKING:
    from adk_evidence.symbols.lookup import Symbols
    from adk_evidence.symbols.table import SymbolEntry
    from adk_evidence_lsp.documents import Snapshot
    from adk_evidence_lsp.server import EvidenceServer

MAX_OTHERS = 20


class SymbolFeature:
    """Looks symbols up."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(SYMBOL, SymbolParams, self.answer)

    async def answer(self, params: SymbolParams) -> dict[str, Any] | None:
        """The symbol with the paths of `others` that the name may mean; None where it means nothing indexed."""
        server = self._server
        snapshot = None
        if params.name is None and params.text_document is not None:
            snapshot = server.documents.snapshot(server.workspace, params.text_document.uri)
        return await server.executor.run(lambda _: self._look_up(params, snapshot), quick=True)

    def _look_up(self, params: SymbolParams, snapshot: Snapshot | None) -> dict[str, Any] | None:
        with self._server.backend.session() as session:
            symbols = session.symbols
            found = self._entries(params, snapshot, symbols)
            if not found:
                return None
            others = [entry.fqn for entry in found[1 : MAX_OTHERS + 1]]
            return {**symbols.info(found[0]).model_dump(mode="json"), "others": others}

    def _entries(self, params: SymbolParams, snapshot: Snapshot | None, symbols: Symbols) -> list[SymbolEntry]:
        from adk_evidence.symbols.resolution import resolve_at

        if snapshot is None:
            name = params.name or ""
            exact = symbols.resolve(name)
            return [exact] if exact else symbols.table.find(name)
        if snapshot.language != "python" or params.position is None:
            return []
        place = snapshot.place(params.position)
        entry = resolve_at(self._server.documents.parsed(snapshot), symbols, *place)
        return [entry] if entry else []
