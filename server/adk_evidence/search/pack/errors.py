"""Says of a pasted error what it is, where its calls stand in the answering version, and what each result is to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adk_evidence.citations.anchor import Corpus
from adk_evidence.citations.verify import verify
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import Index
from adk_evidence.models.citation import code_citation
from adk_evidence.models.named import NamedRole
from adk_evidence.models.pack import Candidate, ErrorFrame, ErrorPart, ErrorRole, PastedError
from adk_evidence.search.candidates.frames import Call, find_calls, told_exceptions
from adk_evidence.search.question.traceback import Traceback
from adk_evidence.search.stages import Hit, Ranking

# What a result is to the error by what it is to the pasted text; a text that is not of the error is nothing to it.
_ROLES: Mapping[NamedRole, ErrorRole] = {
    "raises": "raise_site",
    "raises_cause": "cause",
    "last_call": "frame",
    "call": "frame",
    "holds_message": "message",
    "holds_part": "message",
}


def tell_error(
    ranking: Ranking, candidates: Sequence[Candidate], corpora: Mapping[str, Corpus]
) -> tuple[tuple[Candidate, ...], tuple[PastedError, ...]]:
    """The candidates with what they are to the pasted error, and the exceptions that the query quotes.

    Args:
        ranking: The ranking of a request.
        candidates: Of its final results, in their order.
        corpora: The sources of citations, by their names.
    """
    query, final = ranking.question.query, ranking.final
    if not query.is_error:
        return tuple(candidates), ()
    calls = _calls(ranking)
    made = []
    for hit, candidate in zip(final, candidates, strict=True):
        part = _part(query.traceback, hit, calls)
        made.append(candidate.model_copy(update={"error": part}) if part else candidate)
    if query.traceback is None:
        return tuple(made), (PastedError(type=query.error_type, message=query.message),)
    index = ranking.question.index
    shown = {hit.point_id: candidate for hit, candidate in zip(final, candidates, strict=True)}
    errors = tuple(
        PastedError(
            type=raised.type,
            message=raised.message,
            calls=len(raised.frames),
            frames=tuple(_frame(index, call, shown, corpora) for call in calls if call.raised is raised),
        )
        for raised in told_exceptions(query.traceback)
    )
    return tuple(made), errors


def _calls(ranking: Ranking) -> list[Call]:
    question, files = ranking.question, ranking.candidates.frame_files
    # There are no files where frames are not wanted.
    if not files or "code" in question.context.failed.collections:
        return []
    try:
        return find_calls(question, files)
    except CollectionUnavailableError as exc:
        question.context.without_collection("code", exc)
        return []


def _part(traceback: Traceback | None, hit: Hit, calls: Sequence[Call]) -> ErrorPart | None:
    role = _role(hit)
    if role is None:
        return None
    own = [call for call in calls if call.hit.point_id == hit.point_id]
    is_other = hit.named is not None and hit.named.is_of_other
    if role in ("message", "remedy") or traceback is None or not own or is_other:
        return ErrorPart(role=role)
    # A function may be called more than once: the call nearest to the error that ended the program counts.
    call = max(own, key=lambda one: (one.raised is traceback.last, one.number))
    return ErrorPart(
        role=role,
        frame=call.number,
        calls=len(call.raised.frames),
        line=call.line,
        citation=_citation(call) if call.line is not None else None,
    )


def _role(hit: Hit) -> ErrorRole | None:
    role = _ROLES.get(hit.named.role) if hit.named is not None else None
    return role or ("remedy" if hit.kind == "doc" else None)


def _frame(index: Index, call: Call, shown: Mapping[str, Candidate], corpora: Mapping[str, Corpus]) -> ErrorFrame:
    payload = call.hit.payload
    candidate = shown.get(call.hit.point_id)
    state = (
        candidate.verification.state
        if candidate is not None
        else verify(payload, index.source_of(payload), corpora.get(payload.source_name)).state
    )
    return ErrorFrame(
        number=call.number,
        function=call.frame.function,
        path=payload.path,
        line=call.line,
        text=payload.body.split("\n")[call.line - payload.start_line] if call.line is not None else "",
        citation=_citation(call),
        verification=state,
        rank=candidate.rank if candidate is not None else None,
    )


def _citation(call: Call) -> str:
    payload = call.hit.payload
    start, end = (call.line, call.line) if call.line is not None else (payload.start_line, payload.end_line)
    return code_citation(payload.repo, payload.commit, payload.path, start, end)
