"""One pool out of two collections: canonical candidates, dedup, borrowing of slots (SPEC 5 section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_evidence.search.hybrid import Hit

MAX_TEXT_KEYS = 65_536
_text_keys: dict[str, str] = {}


def merge_hits(docs: Sequence[Hit], code: Sequence[Hit]) -> list[Hit]:
    """Join two fused lists by their ranks, docs first at equal rank, so that neither kind crowds out the other.

    Scores of two collections are not comparable; ranks are.
    """
    return sorted([*docs, *code], key=lambda hit: (hit.fused_rank, hit.payload.kind != "doc", hit.point_id))


def dedup(hits: Iterable[Hit]) -> list[Hit]:
    """Drop repeated evidence in the three ordered steps of SPEC 5 section 8.2, keeping the order.

    1. the same candidate id; 2. the same lines of the same code file; 3. the same text but for white space, of
    which the one with the richer provenance stays. An API reference entry repeats the docstring of a definition:
    it gives way to that definition's own source when both are here.
    """
    by_id = _first_by(hits, lambda hit: hit.payload.candidate_id)
    by_lines = _first_by(by_id, _code_span)
    by_text: dict[str, Hit] = {}
    for hit in by_lines:
        key = _text_key(hit.payload)
        kept = by_text.get(key)
        if kept is None or _provenance(hit.payload) > _provenance(kept.payload):
            # A richer twin takes the better rank of the two: dicts keep the first insertion's place.
            by_text[key] = hit
    return list(by_text.values())


def pool(hits: Sequence[Hit], size: int) -> list[Hit]:
    """The candidates for the reranker: up to half from each kind, the rest borrowed by the stronger side."""
    half = size // 2
    counts = {"doc": 0, "code": 0}
    chosen, spare = [], []
    for hit in hits:
        kind = hit.payload.kind
        if counts[kind] < half:
            counts[kind] += 1
            chosen.append(hit)
        else:
            spare.append(hit)
    taken = {id(hit) for hit in [*chosen, *spare[: size - len(chosen)]]}
    return [hit for hit in hits if id(hit) in taken]


def _first_by(hits: Iterable[Hit], key: Callable[[Hit], object]) -> list[Hit]:
    seen: dict[object, Hit] = {}
    for hit in hits:
        seen.setdefault(key(hit), hit)
    return list(seen.values())


def _code_span(hit: Hit) -> object:
    payload = hit.payload
    if payload.kind != "code":
        return payload.candidate_id
    columns = (payload.start_col, payload.end_col)
    return (payload.repo, payload.commit, payload.path, payload.start_line, payload.end_line, columns)


def _text_key(payload: ChunkPayload) -> str:
    # The same lines have the same hash, so that a body is normalised once and not in every request.
    key = _text_keys.get(payload.source_hash)
    if key is None:
        if len(_text_keys) >= MAX_TEXT_KEYS:
            _text_keys.clear()
        key = _text_keys[payload.source_hash] = sha256_text(" ".join(payload.body.split()))
    return key


def _provenance(payload: ChunkPayload) -> int:
    return sum(bool(part) for part in (payload.uri, payload.symbol, payload.headings, payload.origin == "repository"))
