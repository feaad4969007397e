"""`adk/source`: the text of a cited file. Only what the index holds is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adk_evidence_lsp.protocol import SOURCE, SourceParams

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer


class SourceFeature:
    """Opens citations."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(SOURCE, SourceParams, self.answer)

    async def answer(self, params: SourceParams) -> dict[str, Any]:
        """The cited source as JSON."""
        return await self._server.executor.run(lambda _: self._open(params))

    def _open(self, params: SourceParams) -> dict[str, Any]:
        with self._server.backend.session() as session:
            if params.candidate_id is not None:
                cited = session.read_candidate(params.candidate_id)
            elif params.citation is not None:
                cited = session.read(params.citation)
            else:
                cited = session.read_file(params.path or "", params.repo, params.commit, params.lines)
            site = session.index.manifest.corpora[cited.corpus].site_url
        return {**cited.model_dump(mode="json"), "site_url": site}
