"""Go to Definition, where no google-adk is installed that the editor's own Python tools could open."""

from __future__ import annotations

from contextlib import suppress

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.services.eventloop import Cancelled
from adk_evidence_lsp.server import EvidenceServer


async def definition(server: EvidenceServer, params: types.DefinitionParams) -> types.Location | None:
    """The indexed definition of the name at a place; None of names that are not ADK's, and beside an installed ADK."""
    snapshot = server.snapshot(params.text_document.uri)
    if snapshot.language != "python":
        return None
    project = server.project(snapshot.uri)

    def look_up(cancelled: Cancelled) -> types.Location | None:
        from adk_evidence.symbols.resolution import resolve_at
        from adk_evidence.targets.about import code_corpus_name

        # The index is missing, or other models built it: `adk/status` says so.
        with suppress(EvidenceError), server.desk.session(project) as (session, chosen):
            if chosen.wanted is not None and chosen.wanted.python is not None:
                return None
            entry = resolve_at(server.documents.parsed(snapshot), session.symbols, *snapshot.place(params.position))
            info = session.symbols.info(entry) if entry else None
            index = session.index
            file = index.file_of(code_corpus_name(index.manifest), info.path) if info else None
            if info is not None and file is not None:
                start = types.Position(info.lines.start - 1, 0)
                return types.Location(file.as_uri(), types.Range(start, start))
        return None

    return await server.executor.run(look_up, lane="lookup")
