"""Encodes the texts of a request as dense and sparse vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adk_evidence.embedding.base import DenseEmbedder, SparseVector, question_embedder
from adk_evidence.embedding.minilm.adapter import AdapterError
from adk_evidence.errors import ModelError, StoreError
from adk_evidence.models.chunk import Kind
from adk_evidence.render import wording
from adk_evidence.search.calibration import calibration_of
from adk_evidence.search.question.versions import without_versions
from adk_evidence.search.run import QueryVectors, Run
from adk_evidence.text.identifiers import query_lexical_text

_NOTHING = SparseVector((), ())


def encode(run: Run, texts: Sequence[str]) -> None:
    """Add the vectors of texts that are the question or hold it. A model that fails is a warning.

    Raises:
        ModelError: No side is left to search with.
    """
    branches = run.settings.retrieval.branches
    # A version narrows the search. Chunks do not name their version, so a version in the query only distracts:
    # recall at 12 falls from .415 to .360 on 129 questions that begin with a version, and stays .416 without it.
    question = run.query.text
    plain = without_versions(question)
    for text in (text.replace(question, plain) for text in texts):
        dense = _dense(run, text) if "dense" in branches else {}
        sparse = _sparse(run, text, alone=not dense) if "sparse" in branches else _NOTHING
        run.vectors.append(QueryVectors(text, dense, sparse))


def _sparse(run: Run, text: str, *, alone: bool) -> SparseVector:
    if run.sparse_failed:
        return _NOTHING
    try:
        return run.models.sparse.encode_query(query_lexical_text(text))
    except ModelError as exc:
        # Without the dense side as well, nothing would be searched.
        if run.context.strict or (alone and not run.dense_used):
            raise
        run.sparse_failed = True
        run.context.warn(wording.unavailable("sparse_unavailable", exc))
        return _NOTHING


def _dense(run: Run, text: str) -> dict[Kind, Sequence[float]]:
    """The text's vector for each kind that is searched; a kind whose model failed is left out."""
    gap = run.index.dense_gap()
    if gap is not None:
        if run.context.strict:
            raise StoreError(f"The dense vectors of the index {gap.why}.", gap.hint)
        run.context.warn(wording.dense_pending(gap.why, gap.hint))
        return {}
    wanted = [kind for kind in run.kinds if kind not in run.dense_failed]
    if not wanted:
        return {}
    encoders = run.models.dense
    if encoders.shared:
        vector = _vector(run, lambda: _adapted(run, encoders.doc, text) or encoders.doc.embed_query(text), wanted)
        return {} if vector is None else dict.fromkeys(wanted, vector)
    # Two models, which may be two services: neither waits for the other.
    futures = {kind: run.context.submit(run.models.threads, encoders[kind].embed_query, text) for kind in wanted}
    found = {kind: _vector(run, future.result, [kind]) for kind, future in futures.items()}
    return {kind: vector for kind, vector in found.items() if vector is not None}


def _adapted(run: Run, encoder: DenseEmbedder, text: str) -> Sequence[float] | None:
    """The vector of a question in words by an encoder that was adapted to such questions; None where there is none.

    A user who names something exactly wants the thing with that name. The adapter was trained on what people ask in
    other words than those of the answer, and leads away from names: on 30 questions with names, nDCG@12 was .810
    without the first adapter and .776 with it.
    """
    query, adapted = run.query, question_embedder(encoder)
    if adapted is None or query.kind != "question" or query.names or run.adapter_failed:
        return None
    if not run.settings.retrieval.adapted_questions:
        return None
    try:
        vector = adapted.embed_question(text)
        run.question_model = adapted.question_model
    except AdapterError as exc:
        if run.context.strict:
            raise
        run.context.warn(wording.unavailable("question_adapter_unavailable", exc))
        run.adapter_failed = True
        return None
    if run.unadapted is None and calibration_of(run.settings) is not None:
        # What is compared with written questions, once the results are known; another thread encodes it until then.
        run.unadapted = run.context.submit(run.models.threads, encoder.embed_query, text)
    return vector


def _vector(run: Run, embed: Callable[[], Sequence[float]], kinds: Sequence[Kind]) -> Sequence[float] | None:
    try:
        return embed()
    except ModelError as exc:
        if run.context.strict:
            raise
        run.dense_failed.update(kinds)
        run.context.warn(wording.unavailable("dense_unavailable", exc))
        return None
