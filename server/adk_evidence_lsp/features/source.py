"""`adk/source`: the text of a cited file. Only what the index holds is opened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.pack import LineSpan
from adk_evidence_lsp.protocol import SOURCE, SourceParams

if TYPE_CHECKING:
    from adk_evidence.citations.cited import CitedSource
    from adk_evidence.index.opened import Index
    from adk_evidence.settings import StoreSettings
    from adk_evidence_lsp.server import EvidenceServer

_CANDIDATE = re.compile(r"(?P<repo>[^@]+)@(?P<commit>[^:]+):(?P<path>.+):(?P<chunk>[0-9a-f]{40})", re.DOTALL)


class SourceFeature:
    """Opens citations."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(SOURCE, SourceParams, self.answer)

    async def answer(self, params: SourceParams) -> dict[str, Any]:
        """The cited source as JSON."""
        return await self._server.executor.run(lambda _: self._open(params))

    def _open(self, params: SourceParams) -> dict[str, Any]:
        from adk_evidence.citations.cited import open_citation

        with self._server.backend.use() as session, session.symbols.pin() as (index, symbols):
            store = session.settings.store
            if params.candidate_id is not None:
                cited = _open_candidate(index, store, params.candidate_id)
            elif params.citation is not None:
                cited = open_citation(index, store, symbols, params.citation)
            else:
                cited = _open_path(index, store, params)
            site = index.manifest.corpora[cited.corpus].site_url
        return {**cited.model_dump(mode="json"), "site_url": site}


def _open_path(index: Index, store: StoreSettings, params: SourceParams) -> CitedSource:
    from adk_evidence.citations.cited import read_cited

    return read_cited(index, store, path=params.path or "", name=params.repo, commit=params.commit, lines=params.lines)


def _open_candidate(index: Index, store: StoreSettings, candidate_id: str) -> CitedSource:
    from adk_evidence.citations.cited import NotIndexedError, read_cited
    from adk_evidence.models.chunk import ChunkPayload, point_id

    match = _CANDIDATE.fullmatch(candidate_id)
    if match is None:
        raise InvalidRequestError("This is no candidate's id.", "Take candidate_id from a pack.")
    for collection in (store.code_collection, store.docs_collection):
        for record in index.store.retrieve(collection, [point_id(match["chunk"])]):
            payload = ChunkPayload.model_validate(record.payload)
            if payload.candidate_id == candidate_id:
                return read_cited(
                    index,
                    store,
                    path=payload.path,
                    name=payload.repo,
                    commit=payload.commit,
                    lines=LineSpan(start=payload.start_line, end=payload.end_line),
                    url=payload.uri,
                    chunk_id=payload.chunk_id,
                )
    raise NotIndexedError("The index does not hold this candidate.", "Ask again: it was of an earlier index.")
