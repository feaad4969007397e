"""How the answers to one question differ between the indexes of two versions of the code.

Each result of either version is looked for in the other version's files, so that a text counts as gone only where it
is gone, not where the ranking left it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from adk_evidence.citations.anchor import Corpus, anchor
from adk_evidence.errors import EvidenceError, SourceError
from adk_evidence.models.chunk import ChunkPayload, point_id
from adk_evidence.models.citation import code_citation
from adk_evidence.models.cited import Cited
from adk_evidence.models.difference import CitedText, DocResult, EvidenceDiff, ResultDiff, ResultState
from adk_evidence.models.pack import Candidate, EvidencePack, LineSpan, Verification
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import Session
from adk_evidence.store.manifest import is_beside
from adk_evidence.symbols.changes import Lines, unified
from adk_evidence.symbols.history import History
from adk_evidence.symbols.history_stories import lack
from adk_evidence.symbols.release import definition
from adk_evidence.symbols.signatures import compare_definitions
from adk_evidence.textfile import split_lines

_STATES: tuple[ResultState, ...] = ("changed", "only before", "only after", "moved", "same")
_FROM = re.compile(r"\bfrom[ \t]+(google\.adk[\w.]*)[ \t]+import[ \t]+(\([^()]{1,2000}\)|[\w, \t]+)")
_DOTTED = re.compile(r"\bgoogle\.adk(?:\.\w+){1,12}")
_NAME = re.compile(r"(\w+)(?:[ \t]+as[ \t]+\w+)?")


@dataclass(frozen=True)
class _Answer:
    """The answer of one version, and the files that its code is of."""

    version: str
    session: Session
    pack: EvidencePack
    payloads: Mapping[str, ChunkPayload]

    def code(self) -> list[Candidate]:
        return [one for one in self.pack.candidates if one.source_type == "code"]

    def corpus(self, repo: str) -> tuple[str, Corpus, str] | None:
        """The name, the files and the commit of the code proper of a repository."""
        for name, entry in self.session.index.manifest.corpora.items():
            if entry.kind == "code" and entry.repo == repo and not is_beside(name):
                reader = self.session.index.sources.get(name)
                return (name, Corpus(reader), entry.commit) if reader is not None else None
        return None


def compare_answers(
    request: EvidenceRequest,
    before: tuple[str, Session],
    after: tuple[str, Session],
    history: History | None = None,
    *,
    limit: int = 0,
) -> EvidenceDiff:
    """Answer a question from the indexes of two versions, and compare the answers.

    Args:
        request: The question.
        before: The earlier version and a session on its index.
        after: The same of the later version.
        history: The table of all released versions, for imports that docs show.
        limit: The most results of code to list; 0 for all.

    Raises:
        EvidenceError: One of the indexes cannot answer.
    """
    old, new = (_answer(request, version, session) for version, session in (before, after))
    results = sorted(_results(old, new), key=_order)
    states = [one.state for one in results]
    listed = results[:limit] if limit else results
    return EvidenceDiff(
        query=request.query,
        before=old.version,
        after=new.version,
        packs=(old.pack.pack_id, new.pack.pack_id),
        by_state={state: states.count(state) for state in _STATES if state in states},
        results=tuple(listed),
        docs=tuple(_docs(old, new, history)),
        more=len(results) - len(listed),
        warnings=tuple(f"{one.version}: {warning}" for one in (old, new) for warning in one.pack.warnings),
    )


def _answer(request: EvidenceRequest, version: str, session: Session) -> _Answer:
    pack = session.find(request)
    payloads: dict[str, ChunkPayload] = {}
    by_collection: dict[str, list[str]] = {}
    for candidate in pack.candidates:
        by_collection.setdefault(candidate.collection, []).append(point_id(candidate.chunk_id))
    for collection, points in by_collection.items():
        for record in session.index.store.retrieve(collection, points):
            payload = ChunkPayload.model_validate(record.payload)
            payloads[payload.candidate_id] = payload
    return _Answer(version, session, pack, payloads)


def _results(old: _Answer, new: _Answer) -> Iterator[ResultDiff]:
    corpora = {repo: (old.corpus(repo), new.corpus(repo)) for repo in {one.repo for one in (*old.code(), *new.code())}}
    seen: set[str] = set()
    for candidate in old.code():
        ours, theirs = corpora[candidate.repo]
        found = _counterpart(old, candidate, theirs)
        if found is None or theirs is None or ours is None:
            yield _alone(candidate, "only before")
            continue
        path, lines, verification = found
        same = _overlapping(new.code(), candidate.repo, path, lines)
        if same is not None:
            seen.add(same.candidate_id)
        here = _own(candidate)
        there = _there(candidate, theirs[2], path, lines, same)
        yield _both(candidate, verification, here, there, ours[1], theirs[1])
    for candidate in new.code():
        if candidate.candidate_id in seen:
            continue
        theirs, ours = corpora[candidate.repo]
        found = _counterpart(new, candidate, theirs)
        if found is None or theirs is None or ours is None:
            yield _alone(candidate, "only after")
            continue
        path, lines, verification = found
        there = _there(candidate, theirs[2], path, lines, None)
        yield _both(candidate, verification, there, _own(candidate), theirs[1], ours[1])


def _counterpart(
    answer: _Answer, candidate: Candidate, other: tuple[str, Corpus, str] | None
) -> tuple[str, LineSpan, Verification] | None:
    """Where a result is in the files of the other version."""
    payload = answer.payloads.get(candidate.candidate_id)
    if payload is None or other is None:
        return None
    try:
        found = anchor(Cited.of(payload), other[1])
    except SourceError:
        return None
    lines = found.lines or candidate.lines
    if found.state in ("gone", "unverified") or lines is None:
        return None
    return found.path or candidate.path, lines, found


def _overlapping(candidates: Sequence[Candidate], repo: str, path: str, lines: LineSpan) -> Candidate | None:
    """The best result of a version that shows some of the lines."""
    return next(
        (
            one
            for one in candidates
            if (one.repo, one.path) == (repo, path)
            and one.lines is not None
            and one.lines.touches(lines.start, lines.end)
        ),
        None,
    )


def _both(
    candidate: Candidate, found: Verification, before: CitedText, after: CitedText, old: Corpus, new: Corpus
) -> ResultDiff:
    state: ResultState = "changed"
    if found.state in ("exact", "moved"):
        unmoved = before.path == after.path and before.lines == after.lines
        state = "same" if unmoved else "moved"
    texts = [_texts(old, before), _texts(new, after)]
    details: tuple[str, ...] = ()
    if state == "changed":
        details = _details(candidate.symbol, texts[0][0], texts[1][0])
        if found.state == "same_tree" and not details:
            details = ("only layout or comments changed",)
    return ResultDiff(
        state=state,
        name=_name(candidate),
        details=details,
        before=before,
        after=after,
        diff=_diff(before, after, texts[0][1], texts[1][1]) if state == "changed" else "",
    )


def _diff(before: CitedText, after: CitedText, old: Sequence[str], new: Sequence[str]) -> str:
    names = [one.citation.partition("@")[2].partition("#")[0] for one in (before, after)]
    starts = [one.lines.start if one.lines else 1 for one in (before, after)]
    return unified(Lines(names[0], starts[0], old), Lines(names[1], starts[1], new))


def _texts(corpus: Corpus, cited: CitedText) -> tuple[str, list[str]]:
    """The text of a file, and its cited lines."""
    with suppress(SourceError):
        text = corpus.read(cited.path) or ""
        lines = split_lines(text) if text else []
        span = cited.lines
        return text, lines[span.start - 1 : span.end] if span else lines
    return "", []


def _details(symbol: str | None, before: str, after: str) -> tuple[str, ...]:
    """What differs in the definition that a result shows."""
    if symbol is None:
        return ()
    nodes = definition(before, symbol), definition(after, symbol)
    if nodes[0] is None or nodes[1] is None:
        return ()
    return tuple(one.text for one in compare_definitions(nodes[0], nodes[1], member="." in symbol))


def _own(candidate: Candidate) -> CitedText:
    return CitedText(
        citation=candidate.citation,
        path=candidate.path,
        lines=candidate.lines,
        rank=candidate.rank,
        verification=candidate.verification,
    )


def _there(candidate: Candidate, commit: str, path: str, lines: LineSpan, same: Candidate | None) -> CitedText:
    """The counterpart of a result; its lines were read just now."""
    return CitedText(
        citation=code_citation(candidate.repo, commit, path, lines.start, lines.end),
        path=path,
        lines=lines,
        rank=same.rank if same is not None else None,
        verification=Verification(state="exact"),
    )


def _alone(candidate: Candidate, state: ResultState) -> ResultDiff:
    own = _own(candidate)
    sides = (own, None) if state == "only before" else (None, own)
    return ResultDiff(state=state, name=_name(candidate), before=sides[0], after=sides[1])


def _name(candidate: Candidate) -> str:
    return candidate.symbol or candidate.path


def _order(result: ResultDiff) -> tuple[object, ...]:
    ranks = [one.rank for one in (result.after, result.before) if one is not None and one.rank is not None]
    return (_STATES.index(result.state), min(ranks, default=0), result.name)


# Docs


def _docs(old: _Answer, new: _Answer, history: History | None) -> Iterator[DocResult]:
    """Each section once, in the order of its better rank."""
    found: dict[tuple[object, ...], tuple[Candidate | None, Candidate | None]] = {}
    for place, answer in enumerate((old, new)):
        for candidate in answer.pack.candidates:
            if candidate.source_type == "docs":
                # Generated pages have other lines in each version.
                lines = candidate.lines if candidate.origin != "api-reference" else None
                key = (candidate.origin, candidate.path, candidate.headings, lines)
                sides = list(found.get(key, (None, None)))
                sides[place] = sides[place] or candidate
                found[key] = (sides[0], sides[1])
    for before, after in sorted(found.values(), key=lambda sides: min(one.rank for one in sides if one is not None)):
        one = after or before
        if one is None:
            continue
        yield DocResult(
            citation=one.citation,
            title=" > ".join(filter(None, (one.title, *one.headings))) or one.path,
            lines=one.lines,
            rank_before=before.rank if before is not None else None,
            rank_after=after.rank if after is not None else None,
            versions=tuple(_lacking(one.text, (old.version, new.version), history)),
            verification=one.verification,
        )


def _lacking(text: str, versions: Sequence[str], history: History | None) -> Iterator[str]:
    """A sentence for each path that a text imports and one of the versions lacks."""
    if history is None:
        return
    told: set[str] = set()
    for path in _imported(text):
        for version in versions:
            known = history.nearest(version)
            sentence: str | None = None
            with suppress(EvidenceError):
                sentence = lack(history, version, path) if known is not None and known.exact else None
            if sentence is not None and sentence not in told:
                told.add(sentence)
                yield sentence


def _imported(text: str) -> list[str]:
    """The paths inside the ADK that a text imports or names in full."""
    found: dict[str, None] = {}
    for statement in _FROM.finditer(text):
        for name in statement[2].strip("()").split(","):
            match = _NAME.match(name.strip())
            if match is not None:
                found[f"{statement[1]}.{match[1]}"] = None
    for match in _DOTTED.finditer(text):
        found.setdefault(match.group(), None)
    return list(found)
