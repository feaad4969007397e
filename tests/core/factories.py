"""Small chunks and hits for tests of retrieval."""

from __future__ import annotations

from typing import Any

from adk_evidence.models.chunk import KINDS, ChunkPayload, make_chunk_id, point_id, sha256_text
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.pack import Coverage, EvidencePack, Quality, Verification
from adk_evidence.models.request import MAX_QUERY_CHARS, EvidenceRequest
from adk_evidence.render.wording import named_label
from adk_evidence.search.calibration import Measures, Support
from adk_evidence.search.context import Context
from adk_evidence.search.pack.assemble import make_candidate
from adk_evidence.search.question.query import normalise
from adk_evidence.search.question.scope import Scope
from adk_evidence.search.stages import BranchPlace, Candidates, Encoded, Hit, Names, QueryVectors, Question, Ranking
from adk_evidence.settings import load_settings
from adk_evidence.targets.target import RankParts, Target

SETTINGS = load_settings()
PARTS = RankParts(centrality=0, docs_mentions=0, documented=0, exported=True, deprecated=False, weight=1)


def payload(kind: str = "doc", path: str = "docs/a.md", body: str = "text", **changes: Any) -> ChunkPayload:
    corpus = "adk_docs" if kind == "doc" else "adk_python"
    lead = f"[CORPUS={corpus}] [REPO=google/x]\n[PATH={path}]\n---\n"
    text = lead + body
    index = changes.get("chunk_index", 0)
    values: dict[str, Any] = {
        "chunk_id": make_chunk_id(corpus, path, index, sha256_text(text)),
        "corpus": corpus,
        "repo": "google/adk-docs" if kind == "doc" else "google/adk-python",
        "commit": "abc",
        "path": path,
        "uri": f"https://adk.dev/{path}" if kind == "doc" else None,
        "kind": kind,
        "source_type": "docs" if kind == "doc" else "code",
        "lang": "md" if kind == "doc" else "py",
        "chunk_index": index,
        "start_line": 1,
        "end_line": body.count("\n") + 1,
        "body_start": len(lead),
        "body_end": len(text),
        "text": text,
        "text_hash": sha256_text(text),
        "source_hash": sha256_text(body),
        "text_tokens": 10,
        "file_hash": sha256_text(body),
        "created_at": "2026-01-01T00:00:00Z",
        "chunker_version": "1",
    }
    return ChunkPayload(**{**values, **changes})


def target(symbol: str, *signatures: str, module: str = "kit.parts", **changes: Any) -> Target:
    """A public symbol of a package."""
    values: dict[str, Any] = {
        "rank": 1,
        "score": 0.5,
        "fqn": f"{module}.{symbol}",
        "name": symbol.rpartition(".")[2],
        "symbol": symbol,
        "type": "class",
        "import_path": f"{module}.{symbol}",
        "summary": "",
        "signatures": signatures or (f"class {symbol}",),
        "path": "src/kit/parts.py",
        "lines": LineSpan(start=1, end=2),
        "parts": PARTS,
    }
    return Target(**{**values, **changes})


def words(found: Hit) -> str | None:
    """How a request names a hit, in words."""
    return named_label(found.named) if found.named else None


def hit(chunk: ChunkPayload, fused_rank: int = 1, **changes: Any) -> Hit:
    values: dict[str, Any] = {
        "point_id": point_id(chunk.chunk_id),
        "collection": "adk_docs" if chunk.kind == "doc" else "adk_code",
        "payload": chunk,
        "fused_rank": fused_rank,
        "fused_score": 1 / (60 + fused_rank),
        "branches": (BranchPlace(branch="dense", rank=fused_rank, score=0.5),),
        "similarity": 0.5,
    }
    return Hit(**{**values, **changes})


def placed(found: Hit, place: int, score: float | None) -> Hit:
    """A hit as the reranker returns it."""
    return found._replace(pool_rank=place, rerank_score=score)


def ranked(kind: str, place: int) -> Hit:
    return placed(hit(payload(kind, path=f"{kind}/{place}.x", body=f"{kind} {place}"), place), place, float(-place))


def question(query: str = "how do I retry?", *, task_mode: Any = "build", size: int = 12, **state: Any) -> Question:
    """A question to an index, as far as `state` says what that is."""
    values: dict[str, Any] = {
        "request": EvidenceRequest(query=query, task_mode=task_mode),
        "query": normalise(query),
        "size": size,
        "settings": SETTINGS,
        "index": None,
        "models": None,
        "context": Context(),
        "scope": Scope(KINDS, {}, (), None, (), ""),
        "query_id": "q",
        "symbols": None,
    }
    return Question(**{**values, **state})


def encoded(vectors: QueryVectors | None = None, **changes: Any) -> Encoded:
    return Encoded(queries=() if vectors is None else (vectors,), asked=vectors, **changes)


def ranking(asked: Question, *results: Hit, candidates: Candidates | None = None, **measured: Any) -> Ranking:
    """A ranking of these results."""
    values: dict[str, Any] = {
        "rerank_model": None,
        "names": Names(),
        "support": Support(Measures(0.0, 0.0, 0.0, 0.0, 0.0)),
        "quality": Quality(level="high", note="Found some."),
    }
    return Ranking(asked, candidates or Candidates(Encoded()), results, results, **{**values, **measured})


def pack(*chunks: ChunkPayload, query: str = "how do I retry?", **changes: Any) -> EvidencePack:
    """A pack whose candidates are these chunks, in order."""
    hits = [placed(hit(chunk, rank), rank, 1.0) for rank, chunk in enumerate(chunks, 1)]
    # A pack from a client may have a longer question than can be asked.
    found = ranking(question(query[:MAX_QUERY_CHARS]), *hits)
    candidates = [make_candidate(found, rank, one, Verification(state="exact")) for rank, one in enumerate(hits, 1)]
    docs = sum(chunk.kind == "doc" for chunk in chunks)
    values: dict[str, Any] = {
        "pack_id": "",
        "query_id": "q",
        "status": "success" if candidates else "no_results",
        "query": query,
        "task_mode": "build",
        "profile": "local",
        "index": None,
        "quality": Quality(level="high" if candidates else "none", note="Found some."),
        "retrieval_plan": None,
        "candidates": tuple(candidates),
        "coverage": Coverage(docs_in_top_k=docs, code_in_top_k=len(candidates) - docs),
        "warnings": (),
    }
    return EvidencePack(**{**values, **changes}).with_id()
