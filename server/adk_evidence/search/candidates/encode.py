"""Encodes the texts of a request as dense and sparse vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from adk_evidence.embedding.base import DenseEmbedder, SparseVector, question_embedder
from adk_evidence.embedding.minilm.adapter import AdapterError
from adk_evidence.errors import ModelError, StoreError
from adk_evidence.models.chunk import Kind
from adk_evidence.render import wording
from adk_evidence.search.question.query import words_beside_code
from adk_evidence.search.question.versions import without_versions
from adk_evidence.search.stages import Encoded, QueryVectors, Question
from adk_evidence.text.identifiers import query_lexical_text

T = TypeVar("T")

_NOTHING = SparseVector((), ())


def encode(question: Question, texts: Sequence[str], before: Encoded | None = None) -> Encoded:
    """Add the vectors of texts that are the question or hold it. A model that fails is a warning.

    Raises:
        ModelError: No side is left to search with.
    """
    encoded = before or Encoded()
    # A version narrows the search. Chunks do not name their version, so a version in the query only distracts:
    # recall at 12 falls from .415 to .360 on 129 questions that begin with a version, and stays .416 without it.
    asked = question.query.text
    plain = without_versions(asked)
    # A vector of few tokens says best what is said in words; the code beside them is found by its words and names.
    said = words_beside_code(question.request.query)
    for text in texts:
        searched = text.replace(asked, plain)
        encoded = _with(question, encoded, searched, text.replace(asked, said) if said else searched)
    return encoded


def _with(question: Question, encoded: Encoded, text: str, said: str) -> Encoded:
    branches = question.settings.retrieval.branches
    dense, adapter = _dense(question, said) if "dense" in branches else ({}, None)
    sparse = _NOTHING
    if "sparse" in branches:
        sparse = _sparse(question, text, alone=not dense and not encoded.dense_used)
    vectors = QueryVectors(text, dense, sparse)
    return Encoded(
        queries=(*encoded.queries, vectors),
        asked=encoded.asked or vectors,
        question_model=adapter or encoded.question_model,
    )


def _sparse(question: Question, text: str, *, alone: bool) -> SparseVector:
    context = question.context
    if context.failed.sparse:
        return _NOTHING
    try:
        return question.models.sparse.encode_query(query_lexical_text(text))
    except ModelError as exc:
        # Without the dense side as well, nothing would be searched.
        if context.strict or alone:
            raise
        context.failed.sparse = True
        context.warn(wording.unavailable("sparse_unavailable", exc))
        return _NOTHING


def _dense(question: Question, text: str) -> tuple[Mapping[Kind, Sequence[float]], str | None]:
    """The text's vector for each kind that is searched, and the adapter's name if there was one.

    A kind whose model failed is left out.
    """
    context = question.context
    gap = question.index.dense_gap()
    if gap is not None:
        if context.strict:
            raise StoreError(f"{gap.why.capitalize()}.", gap.hint)
        context.warn(wording.dense_pending(gap.why, gap.hint))
        return {}, None
    wanted = [kind for kind in question.kinds if kind not in context.failed.dense]
    if not wanted:
        return {}, None
    encoders = question.models.dense
    if encoders.shared:
        vector, adapter = _try(question, wanted, lambda: _embed(question, encoders.doc, text)) or (None, None)
        return ({} if vector is None else dict.fromkeys(wanted, vector)), adapter
    # Two models, which may be two services: neither waits for the other.
    threads = question.models.threads
    futures = {kind: context.submit(threads, encoders[kind].embed_query, text) for kind in wanted}
    found = {kind: _try(question, [kind], future.result) for kind, future in futures.items()}
    return {kind: vector for kind, vector in found.items() if vector is not None}, None


def _embed(question: Question, encoder: DenseEmbedder, text: str) -> tuple[Sequence[float], str | None]:
    """The vector of a text, and the name of the adapter where the question is in words.

    A user who names something exactly wants the thing with that name. The adapter was trained on what people ask in
    other words than those of the answer, and leads away from names: on 30 questions with names, nDCG@12 was .810
    without the first adapter and .776 with it.
    """
    # A wording has names of its own; what else is encoded holds the question.
    query = next((one for one in question.query.wordings if one.text == text), question.query)
    context, adapted = question.context, question_embedder(encoder)
    in_words = query.kind == "question" and not query.names
    is_wanted = question.settings.embedding.dense.question_adapter != "none"
    if adapted is not None and in_words and is_wanted and not context.failed.adapter:
        try:
            return adapted.embed_question(text), adapted.question_model
        except AdapterError as exc:
            if context.strict:
                raise
            context.warn(wording.unavailable("question_adapter_unavailable", exc))
            context.failed.adapter = True
    return encoder.embed_query(text), None


def _try(question: Question, kinds: Sequence[Kind], embed: Callable[[], T]) -> T | None:
    """What a model makes for some kinds; None where the model fails."""
    context = question.context
    try:
        return embed()
    except ModelError as exc:
        if context.strict:
            raise
        context.failed.dense.update(kinds)
        context.warn(wording.unavailable("dense_unavailable", exc))
        return None
