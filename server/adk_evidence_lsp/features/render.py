"""`adk/render`: a pack as Markdown or as a prompt, the same text as on every other surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adk_evidence.models.pack import EvidencePack
from adk_evidence_lsp.protocol import RENDER, RenderParams, RenderResult

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer


class RenderFeature:
    """Renders packs."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(RENDER, RenderParams, self.answer)

    async def answer(self, params: RenderParams) -> dict[str, Any]:
        """The text as JSON."""
        return await self._server.executor.run(lambda _: render(params).model_dump(mode="json"), quick=True)


def render(params: RenderParams) -> RenderResult:
    """The pack, or those of its results that were chosen, as text."""
    from adk_evidence.render.markdown import to_markdown
    from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS, to_prompt
    from adk_evidence.tokens import estimate_tokens

    pack = _chosen(params.pack, params.candidate_ids)
    if params.format == "markdown":
        text = to_markdown(pack)
        return RenderResult(text=text, tokens=estimate_tokens(text), included=len(pack.candidates), note="")
    block = to_prompt(
        pack,
        params.max_tokens or DEFAULT_MAX_TOKENS,
        system=params.system,
        history=params.history,
        max_documents=params.max_documents,
        max_document_tokens=params.max_document_tokens,
    )
    return RenderResult(text=block.text, tokens=block.tokens, included=block.included, note=block.note)


def _chosen(pack: EvidencePack, candidate_ids: tuple[str, ...] | None) -> EvidencePack:
    if candidate_ids is None:
        return pack
    kept = tuple(candidate for candidate in pack.candidates if candidate.candidate_id in candidate_ids)
    return pack.model_copy(update={"candidates": kept})
