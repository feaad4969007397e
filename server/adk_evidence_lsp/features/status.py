"""`adk/status`: what is installed, indexed, stale or missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adk_evidence import __version__
from adk_evidence.errors import EvidenceError
from adk_evidence.models.pack import IndexInfo
from adk_evidence_lsp.protocol import STATUS, FindingInfo, ServerStatus, StatusParams

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer


class StatusFeature:
    """Reports the state of things."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(STATUS, StatusParams, self.answer)

    async def answer(self, params: StatusParams) -> dict[str, Any]:
        """The status as JSON."""
        ingesting, problem = self._server.ingest.running, self._server.configuration.problem
        return await self._server.executor.run(lambda _: self._look(ingesting, problem))

    def _look(self, ingesting: bool, problem: str | None) -> dict[str, Any]:
        from adk_evidence.embedding.factory import fingerprint
        from adk_evidence.store.factory import open_generations
        from adk_ingest.doctor import examine

        settings = self._server.backend.settings()
        findings = tuple(FindingInfo(**asdict(finding)) for finding in examine(settings))
        generations = open_generations(settings)
        return ServerStatus(
            version=__version__,
            home=settings.paths.root,
            profile=settings.profile,
            index=self._index(),
            generations=tuple(item.id for item in generations.published()),
            models=fingerprint(settings),
            findings=findings,
            ingesting=ingesting or generations.is_being_written(),
            settings_problem=problem,
        ).model_dump(mode="json")

    def _index(self) -> IndexInfo | None:
        try:
            with self._server.backend.session() as session:
                return session.index.info
        except EvidenceError:
            return None
