"""`adk/targets` and workspace/symbol: ADK symbols by name and by meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence_lsp.protocol import TARGETS, TargetsParams

if TYPE_CHECKING:
    from adk_evidence.index.opened import Index
    from adk_evidence.symbols.target import RankedTarget
    from adk_evidence_lsp.server import EvidenceServer

WORKSPACE_SYMBOLS = 20

_KINDS = {
    "class": types.SymbolKind.Class,
    "function": types.SymbolKind.Function,
    "method": types.SymbolKind.Method,
    "property": types.SymbolKind.Property,
    "attribute": types.SymbolKind.Field,
    "variable": types.SymbolKind.Variable,
}


class TargetsFeature:
    """Finds targets. The symbols of a workspace come with their whole location, so there is nothing to resolve."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(TARGETS, TargetsParams, self.answer)

        async def symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
            await server.configuration.settled()
            return await server.executor.run(lambda _: self._symbols(params.query))

        server.feature(types.WORKSPACE_SYMBOL)(symbols)

    async def answer(self, params: TargetsParams) -> dict[str, Any]:
        """The answer as JSON."""
        key = f"targets:{params.supersede_key}" if params.supersede_key is not None else None
        with self._server.superseding.alone(key):
            return await self._server.executor.run(lambda _: self._find(params))

    def _find(self, params: TargetsParams) -> dict[str, Any]:
        python = Path(params.python) if params.python is not None else None
        with self._server.backend.use() as service:
            answer = service.symbols.find(params.query, params.limit, params.mode, python)
        return answer.model_dump(mode="json")

    def _symbols(self, query: str) -> list[types.WorkspaceSymbol]:
        try:
            with self._server.backend.session() as session:
                found = session.service.symbols.find(query, WORKSPACE_SYMBOLS)
                symbols = [_symbol(target, session.index) for target in found.results]
        except EvidenceError:
            # No index, no targets, no query: `adk/status` says so, not every key that is pressed.
            return []
        return [symbol for symbol in symbols if symbol is not None]


def _symbol(target: RankedTarget, index: Index) -> types.WorkspaceSymbol | None:
    """The symbol at its definition, or None where that file is not on this machine."""
    from adk_evidence.symbols.target_sets import code_corpus_name

    name = code_corpus_name(index.manifest)
    file = index.file_of(name, target.path)
    if file is None:
        return None
    corpus = index.manifest.corpora[name]
    start = types.Position(target.lines.start - 1, 0)
    return types.WorkspaceSymbol(
        name=target.symbol,
        kind=_KINDS[target.type],
        location=types.Location(file.as_uri(), types.Range(start, start)),
        container_name=target.import_path.removesuffix(f".{target.symbol}"),
        tags=[types.SymbolTag.Deprecated] if target.deprecated else None,
        # What `adk/source` takes, for clients that show the file read-only.
        data={"repo": corpus.repo, "commit": corpus.commit, "path": target.path},
    )
