"""A request's texts as vectors, and what becomes of a request when a model fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder, SparseVector
from adk_evidence.errors import ModelError, StoreError
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.index.opened import DenseGap
from adk_evidence.models.chunk import Kind
from adk_evidence.search.context import Context
from adk_evidence.search.hybrid import QueryVectors
from adk_evidence.search.versions import without_versions

_NOTHING = SparseVector((), ())


class QueryEncoder:
    """Encodes the texts of one request.

    A model that fails is a warning and is not asked again for the request: `dense_failed` and `sparse_failed` say so,
    and `dense_used` says whether any dense vector was made.

    Args:
        dense: Dense encoders of docs and code.
        sparse: Sparse encoder.
        pool: Where two dense encoders work side by side.
        branches: The branches of the settings; those named here are encoded.
        kinds: Kinds of chunks that are searched.
        dense_gap: Why the index lacks dense vectors, or None where every chunk has its own.
        context: Gets the warnings.
    """

    def __init__(
        self,
        dense: Pair[DenseEmbedder],
        sparse: SparseEncoder,
        pool: Executor,
        *,
        branches: Sequence[str],
        kinds: Sequence[Kind],
        dense_gap: DenseGap | None,
        context: Context,
    ) -> None:
        self.dense_used = False
        self.dense_failed: set[Kind] = set()
        self.sparse_failed = False
        self._dense = dense
        self._sparse = sparse
        self._pool = pool
        self._branches = branches
        self._kinds = kinds
        self._dense_gap = dense_gap
        self._context = context

    def encode(self, texts: Sequence[str], question: str) -> list[QueryVectors]:
        """The vectors of texts that are the question or hold it.

        Raises:
            ModelError: No side is left to search with, or a model failed in strict mode.
            StoreError: In strict mode, the index has no dense vectors yet.
        """
        encoded = []
        # A version narrows the search. Chunks do not name their own, so that in a query it only draws away from what is
        # asked: recall at 12 falls from .415 to .360 on 129 questions that begin with one, and stays .416 without it.
        plain = without_versions(question)
        for text in (text.replace(question, plain) for text in texts):
            dense = self._encode_dense(text) if "dense" in self._branches else {}
            sparse = self._encode_sparse(text) if "sparse" in self._branches else _NOTHING
            encoded.append(QueryVectors(text, dense, sparse))
        return encoded

    def exact_term(self, name: str) -> SparseVector | None:
        """A name as the one term that stands in the index wherever the name does; empty for a word that none keeps.

        None where the sparse side finds related terms as well, or failed: then a name's absence proves nothing.
        """
        if not self._sparse.exact_terms or self.sparse_failed:
            return None
        return self._sparse.encode_query(name.lower())

    def _encode_sparse(self, text: str) -> SparseVector:
        if self.sparse_failed:
            return _NOTHING
        try:
            return self._sparse.encode_query(query_lexical_text(text))
        except ModelError as exc:
            # Without the dense side as well, nothing would be searched.
            if self._context.strict or not self.dense_used:
                raise
            self.sparse_failed = True
            self._context.warn("sparse_unavailable", str(exc))
            return _NOTHING

    def _encode_dense(self, text: str) -> dict[Kind, Sequence[float]]:
        """The text's vector for each kind that is searched; a kind whose model failed is left out."""
        if self._dense_gap is not None:
            why, hint = self._dense_gap
            if self._context.strict:
                raise StoreError(f"The dense vectors of the index {why}.", hint)
            self._context.warn("dense_pending", f"the dense vectors {why}; results are by keywords only. {hint}")
            return {}
        # Finding a model may take seconds: once a request is enough.
        wanted = [kind for kind in self._kinds if kind not in self.dense_failed]
        if not wanted:
            return {}
        if self._dense.shared:
            vector = self._vector(lambda: self._dense.doc.embed_query(text), wanted)
            return {} if vector is None else dict.fromkeys(wanted, vector)
        # Two models, which may be two services: neither waits for the other.
        futures = {kind: self._context.submit(self._pool, self._dense[kind].embed_query, text) for kind in wanted}
        found = {kind: self._vector(future.result, [kind]) for kind, future in futures.items()}
        return {kind: vector for kind, vector in found.items() if vector is not None}

    def _vector(self, embed: Callable[[], Sequence[float]], kinds: Sequence[Kind]) -> Sequence[float] | None:
        try:
            vector = embed()
        except ModelError as exc:
            if self._context.strict:
                raise
            self.dense_failed.update(kinds)
            self._context.warn("dense_unavailable", str(exc))
            return None
        self.dense_used = True
        return vector
