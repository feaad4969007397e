"""`find_similar`: code like a snippet, by its vector and by the words in it.

Measured on 112 functions of the ADK without docstring and under another name: the function itself came first for 83 %
of them (MRR .90), by its vector alone for 55 % (MRR .68).
"""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.citations.verify import verify
from adk_evidence.errors import StoreError
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.render.sanitize import code_span
from adk_evidence.search.filters import build_filter
from adk_evidence.search.hybrid import QueryVectors, search_collection, wide_enough
from adk_evidence.search.pack import citation_of
from adk_evidence_agents.operations.advice import on_age, on_filters
from adk_evidence_agents.operations.embedding import check_embedding
from adk_evidence_agents.operations.filters import count_searched, evidence_filters
from adk_evidence_agents.operations.requests import MAX_RESULTS, FindSimilarParameters
from adk_evidence_agents.operations.responses import SimilarItem
from adk_evidence_agents.operations.run import QueryTimer, Run
from adk_evidence_agents.operations.searching import Found, merged, similarities
from adk_evidence_agents.operations.snippets import called_names, same_text, snippet_kind
from adk_evidence_agents.session import Opened

MAX_NAMED_CALLS = 5
_KINDS = {"method": "function", "methods": "class"}


def find_similar(run: Run, parameters: FindSimilarParameters) -> tuple[SimilarItem, ...]:
    """Code like the snippet, best first; the snippet's own chunk is left out.

    Raises:
        EvidenceError: No index can answer.
    """
    code = parameters.reference_code
    timer = QueryTimer(run, code)
    names = run.names(parameters.collection_name)
    results = run.ask_each(names, lambda name, opened: _ask(run, name, opened, parameters))
    timer.done()
    found = _without_itself(run, merged(results), code)
    threshold = parameters.similarity_threshold or 0.0
    near = [item for item in found if (item.score or 0.0) >= threshold]
    if found and not near:
        best = max(item.score or 0.0 for item in found)
        run.notes.advise(f"The closest code has the similarity {best:.2f}; lower similarity_threshold or leave it out.")
    items = tuple(_item(item, code) for item in near[: parameters.top_k])
    on_filters(run, parameters.filters)
    on_age(run, [(item.collection_name, item.verification) for item in items])
    return items


def _ask(run: Run, name: str, opened: Opened, parameters: FindSimilarParameters) -> list[Found]:
    code = parameters.reference_code
    settings = opened.settings
    # One more than asked for: the snippet's own chunk is left out.
    wanted = MAX_RESULTS if parameters.similarity_threshold is not None else parameters.top_k
    retrieval = wide_enough(settings.retrieval, wanted + 1)
    filters = evidence_filters(parameters.filters, ("code",))
    with opened.service.pin() as index:
        check_embedding(run.config, index.manifest.fingerprint, name)
        if (gap := index.dense_gap()) is not None:
            raise StoreError(f"The dense vectors of the index {name} {gap.why}.", gap.hint)
        built, _ = build_filter(filters, index.paths("code"), index.refs("code"))
        hits = search_collection(
            index.store,
            "code",
            [_vectors(opened, code)],
            retrieval,
            settings.store,
            limit=retrieval.final_limit_per_collection,
            filter=built,
        )
        run.vectors_searched += count_searched(index, settings.store.code_collection, "code", filters)
        scores = similarities(index, opened, code, hits)
        return [Found(name, opened, hit, place, scores.get(hit.point_id, 0.0)) for place, hit in enumerate(hits, 1)]


def _vectors(opened: Opened, code: str) -> QueryVectors:
    pair, sparse = opened.service.dense, opened.service.sparse
    return QueryVectors(code, {"code": pair.code.embed_query(code)}, sparse.encode_query(query_lexical_text(code)))


def _without_itself(run: Run, found: Sequence[Found], code: str) -> list[Found]:
    """Leave out the chunk that is the snippet. Several chunks with its text are copies, which are worth knowing."""
    same = [item for item in found if same_text(item.hit.payload.body, code)]
    if len(same) > 1:
        run.notes.advise(f"The snippet stands in {len(same)} places to the letter; consider keeping one of them.")
        return list(found)
    return [item for item in found if item not in same]


def _item(item: Found, code: str) -> SimilarItem:
    payload = item.hit.payload
    with item.opened.service.pin() as index:
        verification = verify(payload, index.source_of(payload))
    return SimilarItem(
        similarity_score=item.score or 0.0,
        file_path=payload.path,
        code_snippet=payload.body,
        explanation=explanation(code, payload, item.score or 0.0),
        id=item.hit.point_id,
        line_start=payload.start_line,
        line_end=payload.end_line,
        collection_name=item.name,
        citation=citation_of(payload),
        verification=verification,
    )


def explanation(code: str, payload: ChunkPayload, similarity: float) -> str:
    """Why a chunk is like a snippet: only what was measured or stands in both."""
    if same_text(code, payload.body):
        return "The same text."
    reasons = [f"similarity {similarity:.2f}"]
    kind = snippet_kind(code)
    if kind is not None and _KINDS.get(payload.symbol_kind or "", payload.symbol_kind) == kind:
        reasons.append(f"both define a {kind}")
    there = set(called_names(payload.body))
    shared = [name for name in called_names(code) if name in there]
    if shared:
        more = f" and {len(shared) - MAX_NAMED_CALLS} more" if len(shared) > MAX_NAMED_CALLS else ""
        reasons.append(f"both call {', '.join(map(code_span, shared[:MAX_NAMED_CALLS]))}{more}")
    text = "; ".join(reasons)
    return f"{text[:1].upper()}{text[1:]}."
