"""How far the results of a question can be relied on, as a level and a sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, Kind
from adk_evidence.models.named import FRAME_ROLES, Named, NamedRole
from adk_evidence.models.pack import Quality
from adk_evidence.models.request import EvidenceFilters
from adk_evidence.render.wording import KIND_NAMES, named_label
from adk_evidence.search.calibration import Support, calibration_of
from adk_evidence.search.question.query import Query, is_in_english
from adk_evidence.search.stages import Encoded, Hit, Names, Question

MAX_NAMED_WORDS = 3
# What answers for a pasted error, best first.
_TELLS_ERROR: Sequence[NamedRole] = ("raises", "holds_message")
# Results with less support are not about a question: those of 41 questions about other things have .05 at most.
UNSUPPORTED = 0.1
# Where no scale is known: the share of the question's words that the results of a good answer hold.
COVERED = 0.8


def assess(question: Question, encoded: Encoded, final: Sequence[Hit], names: Names, support: Support) -> Quality:
    """The quality of the final results.

    Where nothing is close to the question as it was asked, and the question names nothing that is indexed, the results
    are only the nearest. An answer is of high quality where its results together support the question, and where
    nothing was missing from the search.
    """
    if not final:
        filtered = question.request.filters != EvidenceFilters()
        note = "No evidence fits the filters" if filtered else "No relevant evidence was found in the index"
        return Quality(level="none", note=f"{note}.")
    return lowered(_of_hits(question, encoded, final, names, support), _gaps(question, encoded, final))


def lowered(quality: Quality, gaps: Sequence[str]) -> Quality:
    """The quality of an answer with gaps: their clauses join the note, and the level is not high."""
    if not gaps:
        return quality
    level = "mixed" if quality.level == "high" else quality.level
    return Quality(level=level, note=f"{quality.note.rstrip('.')}; {'; '.join(gaps)}.")


def _of_hits(question: Question, encoded: Encoded, hits: Sequence[Hit], names: Names, support: Support) -> Quality:
    calibration = calibration_of(question.settings)
    found = f"Found {len(hits)} result{'s' if len(hits) > 1 else ''}"
    if not encoded.dense_used:
        note = f"{found} by keywords only; search by meaning was not available."
        return Quality(level="keyword_only", note=note)
    if (pasted := _of_pasted(hits, names, found)) is not None:
        return pasted
    closest = max(hit.similarity or 0.0 for hit in hits)
    named = names.known or any(hit.named for hit in hits)
    # The cosines of an adapted question are lower than those of others.
    below = calibration.adapted_below if calibration is not None and encoded.question_model else 0.0
    far = calibration is not None and closest + below < calibration.relevant
    # Results that hold the words of a question may answer it, however far their passages are.
    if far and not named and (support.score is None or support.score < UNSUPPORTED):
        about = question.settings.subject
        note = f"The question may not be about {about}; the nearest results are shown."
        return Quality(level="none", note=note)
    if names.unknown:
        return Quality(level="mixed", note=f"{found}, but not all names of the question are in the index.")
    absent = _absent(support.absent) if is_in_english(question.request.query) else ""
    if support.score is None or calibration is None:
        # No scale is known for the model: the results must hold most words of the question, and both sides must have
        # found most results.
        agreed = sum({place.branch for place in hit.branches} >= {"dense", "sparse"} for hit in hits)
        if support.measures.coverage >= COVERED and agreed * 3 >= len(hits) * 2:
            return Quality(level="high", note=f"{found}, {agreed} of them by keywords and by meaning{absent}.")
        return Quality(level="mixed", note=f"{found}, which may not answer the question{absent}.")
    needed = calibration.support
    # How many results are strong is no matter of an answer: one that answers is enough, and fifteen may not be.
    if support.score >= needed.high and closest >= needed.nearest:
        return Quality(level="high", note=f"{found}{absent}.")
    return Quality(level="mixed", note=f"{found}, which may not answer the question{absent}.")


def _of_pasted(hits: Sequence[Hit], names: Names, found: str) -> Quality | None:
    """The quality of an answer that holds what was pasted; None where only the results' likeness counts."""
    roles = [hit.named.role if hit.named else None for hit in hits]
    # A pasted text does not answer for names beside the text.
    wanted: Sequence[NamedRole] = (*_TELLS_ERROR, *(() if names.unknown else ("holds_text",)))
    for role in wanted:
        if role in roles:
            which = "it" if len(roles) == 1 else "the first of them" if roles[0] == role else "one of them"
            return Quality(level="high", note=f"{found}; {which} {named_label(Named(role))}.")
    return None


def _missing_error(query: Query, final: Sequence[Hit]) -> list[str]:
    """What the results lack of a pasted error, as a clause."""
    roles = {hit.named.role for hit in final if hit.named}
    if not query.is_error or roles.intersection(_TELLS_ERROR):
        return []
    if query.kind == "error":
        return ["no result holds the message of the error"]
    if any(hit.named.role == "last_call" and hit.named.names for hit in final if hit.named):
        return ["the function that raised the error has other code here, and its file raises no such message"]
    if roles & FRAME_ROLES:
        return ["no result is the place that raises the error"]
    return ["no call of the traceback is in the code that was searched"]


def _absent(words: Sequence[str]) -> str:
    """A clause on the words that stand nowhere in the index."""
    if not words:
        return ""
    named = [f"\u201c{word}\u201d" for word in words[:MAX_NAMED_WORDS]]
    if more := len(words) - len(named):
        named.append(f"{more} more word{'s' if more > 1 else ''}")
    return f"; {' and '.join(named)} {'stands' if len(words) == 1 else 'stand'} nowhere in the index"


def lost_since(question: Question, before: Collection[Kind]) -> list[str]:
    """The collections that have failed since these had, as a clause: parts of the results could not be read."""
    lost = _collections(question, question.context.failed.collections.keys() - before)
    return [f"{' and '.join(lost)} could not be read to the end"] if lost else []


def _collections(question: Question, kinds: Collection[Kind]) -> list[str]:
    return [question.settings.store.collection(kind) for kind in KINDS if kind in kinds]


def _gaps(question: Question, encoded: Encoded, final: Sequence[Hit]) -> list[str]:
    """What did not take part in the answer, as clauses."""
    gaps, failed = [], question.context.failed
    if not is_in_english(question.request.query):
        gaps.append("the evidence is in English: ask in English")
    if encoded.dense_used and failed.dense:
        named = " and ".join(SOURCE_TYPES[kind] for kind in KINDS if kind in failed.dense)
        gaps.append(f"search by meaning was not available for {named}")
    if encoded.dense_used and question.settings.embedding.dense.is_static:
        # Such vectors find what shares words, as keywords do: the two agree on what is wrong, too.
        gaps.append("search by meaning compares words here, not sentences")
    if failed.sparse:
        gaps.append("search by keywords was not available")
    if lost := _collections(question, failed.collections):
        gaps.append(f"{' and '.join(lost)} could not be searched")
    if question.scope.version_missing:
        gaps.append(f"the version {question.scope.version_missing} is not in the index")
    gaps += _missing_error(question.query, final)
    gaps += [f"no {KIND_NAMES[kind]} is indexed" for kind in question.absent_kinds]
    if failed.reranker:
        gaps.append("the best results could not be sorted again (reranker not available)")
    return gaps
