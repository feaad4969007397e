"""How far the results of a question can be relied on, as a level and a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.models.chunk import KINDS, SOURCE_TYPES
from adk_evidence.models.pack import Quality
from adk_evidence.search.gates import KIND_NAMES
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.names import NO_NAMES, NamesFound
from adk_evidence.search.run import Run
from adk_evidence.search.support import Support
from adk_evidence.settings import SupportSettings

MAX_NAMED_WORDS = 3
# Where no scale is known: the share of the question's words that the results of a good answer hold.
COVERED = 0.8


def assess(run: Run, names: NamesFound, support: Support) -> Quality:
    """The quality of the final results of a request."""
    retrieval = run.settings.retrieval
    return assess_quality(
        run.final,
        dense_used=run.dense_used,
        names=names,
        support=support,
        needed=retrieval.support,
        relevant_similarity=retrieval.relevant_similarity,
        gaps=_gaps(run),
        subject=run.settings.subject,
    )


def _gaps(run: Run) -> list[str]:
    """What did not take part in the answer, as clauses."""
    gaps = []
    if run.dense_used and run.dense_failed:
        named = " and ".join(SOURCE_TYPES[kind] for kind in KINDS if kind in run.dense_failed)
        gaps.append(f"the semantic side was not available for {named}")
    if run.sparse_failed:
        gaps.append("the keyword side was not available")
    lost = [run.settings.store.collection(kind) for kind in run.kinds if kind in run.collections_failed]
    if lost:
        gaps.append(f"{' and '.join(lost)} could not be searched")
    if run.scope.version_missing:
        gaps.append("the version that the question names is not in the index")
    gaps += [f"no {KIND_NAMES[kind]} is indexed" for kind in run.absent_kinds]
    if run.rerank_failed:
        gaps.append("the reranker was not available, so the order is that of the search")
    return gaps


def assess_quality(
    items: Sequence[Hit],
    *,
    dense_used: bool,
    names: NamesFound = NO_NAMES,
    support: Support | None = None,
    needed: SupportSettings | None = None,
    relevant_similarity: float | None = None,
    gaps: Sequence[str] = (),
    subject: str = "the ADK",
) -> Quality:
    """How far the results can be relied on.

    Where nothing is close to the question as it was asked, and it names nothing that is indexed, the results are only
    the nearest. Of high quality is an answer whose results together support the question.

    Args:
        items: The final results.
        dense_used: Whether the dense side took part at all.
        names: The names of the question and whether the index has them.
        support: How far the results support the question.
        needed: What an answer of high quality needs. None where no scale is known for the model: then the results
            must hold most words of the question, and both sides must have found most results.
        relevant_similarity: Similarity from which a result is close; None where none is known for the model.
        gaps: What did not take part, each a clause; an answer with a gap is not of high quality.
        subject: What the index is about.
    """
    quality = _quality(items, dense_used, names, support, needed, relevant_similarity, subject)
    return lowered(quality, gaps) if items else quality


def lowered(quality: Quality, gaps: Sequence[str]) -> Quality:
    """The quality of an answer that has gaps: their clauses join its note, and it is not high."""
    if not gaps:
        return quality
    level = "mixed" if quality.level == "high" else quality.level
    return Quality(level=level, note=f"{quality.note.rstrip('.')}; {'; '.join(gaps)}.")


def _quality(
    items: Sequence[Hit],
    dense_used: bool,
    names: NamesFound,
    support: Support | None,
    needed: SupportSettings | None,
    relevant_similarity: float | None,
    subject: str,
) -> Quality:
    if not items:
        return Quality(level="none", note="No relevant evidence was found in the index.")
    found = f"Found {len(items)} result{'s' if len(items) > 1 else ''}"
    if not dense_used:
        note = f"{found} by keywords only; the semantic side was not available."
        return Quality(level="keyword_only", note=note)
    closest = max((item.similarity or 0.0 for item in items), default=0.0)
    if relevant_similarity is not None and closest < relevant_similarity and not names.known:
        note = f"Nothing in the index is close to the question, which may not be about {subject}; the nearest is shown."
        return Quality(level="none", note=note)
    if names.unknown:
        return Quality(level="mixed", note=f"{found}, but not all names of the question are in the index.")
    absent = _absent(support.absent) if support is not None else ""
    if support is None or support.score is None or needed is None:
        agreed = sum({place.branch for place in item.branches} >= {"dense", "sparse"} for item in items)
        covered = support is not None and support.measures.coverage >= COVERED
        if covered and agreed * 3 >= len(items) * 2:
            return Quality(level="high", note=f"{found}, {agreed} of them by keywords and by meaning{absent}.")
        return Quality(level="mixed", note=f"{found}, which may not answer the question{absent}.")
    strong = sum(support.by_result.get(item.point_id, 0.0) >= needed.high for item in items)
    if support.score >= needed.high and closest >= needed.nearest:
        strength = f"{strong} of them strong" if strong else "which support the question only together"
        return Quality(level="high", note=f"{found}, {strength}{absent}.")
    strength = f"{strong} of them strong; the others may be less relevant" if strong else "none of them strong"
    return Quality(level="mixed", note=f"{found}, {strength}{absent}.")


def _absent(words: Sequence[str]) -> str:
    """A clause on the words that stand nowhere in the index."""
    if not words:
        return ""
    named = [f"\u201c{word}\u201d" for word in words[:MAX_NAMED_WORDS]]
    if more := len(words) - len(named):
        named.append(f"{more} more word{'s' if more > 1 else ''}")
    return f"; {' and '.join(named)} {'stands' if len(words) == 1 else 'stand'} nowhere in the index"
