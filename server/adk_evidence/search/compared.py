"""How the answers to one question differ between the indexes of two versions of the code.

Each result of either version is looked for in the other version's files, so that a text counts as gone only where it
is gone, not where the ranking left it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from adk_evidence.api.changes import Lines, unified
from adk_evidence.api.history import History
from adk_evidence.api.release import definition, own_span
from adk_evidence.api.signatures import compare_definitions
from adk_evidence.api.stories import lack
from adk_evidence.citations.anchor import Corpus, anchor
from adk_evidence.errors import SourceError
from adk_evidence.models.chunk import ChunkPayload, point_id
from adk_evidence.models.citation import code_citation
from adk_evidence.models.cited import Cited
from adk_evidence.models.difference import CitedText, DocResult, EvidenceDiff, ResultDiff, ResultState
from adk_evidence.models.pack import Candidate, EvidencePack, LineSpan, Verification
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.readers.python import Function, last_line
from adk_evidence.search.session import Session
from adk_evidence.store.manifest import is_beside
from adk_evidence.textfile import split_lines

_STATES: tuple[ResultState, ...] = ("changed", "only before", "only after", "moved", "same")
_FROM = re.compile(r"\bfrom[ \t]+(google\.adk[\w.]*)[ \t]+import[ \t]+(\([^()]{1,2000}\)|[\w, \t]+)")
_DOTTED = re.compile(r"\bgoogle\.adk(?:\.\w+){1,12}")
_NAME = re.compile(r"(\w+)(?:[ \t]+as[ \t]+\w+)?")


@dataclass(frozen=True)
class _Code:
    """The files of one version of a repository, as they are now."""

    repo: str
    commit: str
    corpus: Corpus

    def read(self, path: str) -> str:
        """The text of a file; empty where it cannot be read."""
        with suppress(SourceError):
            return self.corpus.read(path) or ""
        return ""

    def piece(self, path: str, lines: LineSpan) -> _Piece:
        """Lines that were read just now."""
        citation = code_citation(self.repo, self.commit, path, lines.start, lines.end)
        return _Piece(path, lines, None, citation, Verification(state="exact"))


@dataclass(frozen=True)
class _Answer:
    """The answer of one version, and the files that its code is of."""

    version: str
    session: Session
    pack: EvidencePack
    payloads: Mapping[str, ChunkPayload]

    def code(self) -> list[Candidate]:
        return [one for one in self.pack.candidates if one.source_type == "code"]

    def code_of(self, repo: str) -> _Code | None:
        """The code proper of a repository."""
        for name, entry in self.session.index.manifest.corpora.items():
            if entry.kind == "code" and entry.repo == repo and not is_beside(name):
                reader = self.session.index.sources.get(name)
                return _Code(repo, entry.commit, Corpus(reader)) if reader is not None else None
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


@dataclass(frozen=True)
class _Piece:
    """A piece of code in one version: its file, its lines, and its rank in the answer, if it is there."""

    path: str
    lines: LineSpan
    rank: int | None
    citation: str
    verification: Verification

    def shown(self) -> CitedText:
        return CitedText(
            citation=self.citation, path=self.path, lines=self.lines, rank=self.rank, verification=self.verification
        )


_Sides = tuple[Candidate, _Piece | None, _Piece | None]


def _results(old: _Answer, new: _Answer) -> Iterator[ResultDiff]:
    merged: list[_Sides] = []
    repos = {one.repo for one in (*old.code(), *new.code())}
    codes = {repo: (old.code_of(repo), new.code_of(repo)) for repo in repos}
    for answer, other, place in ((old, new, 0), (new, old, 1)):
        for candidate in answer.code():
            both = codes[candidate.repo]
            own = _own(candidate)
            there = _counterpart(answer, candidate, both[1 - place])
            if own is not None and there is not None:
                own, there = _widened(answer.payloads[candidate.candidate_id], own, there, both[place], both[1 - place])
                same = _overlapping(other.code(), candidate.repo, there)
                there = replace(there, rank=same.rank if same is not None else None)
            sides = (own, there) if place == 0 else (there, own)
            known = next((number for number, one in enumerate(merged) if _is_same(one, (candidate, *sides))), None)
            if known is None:
                merged.append((candidate, *sides))
                continue
            # Several pieces of one definition: the best rank counts.
            first, before, after = merged[known]
            merged[known] = (first, _ranked(before, sides[0]), _ranked(after, sides[1]))
    for candidate, before, after in merged:
        if before is None or after is None:
            state: ResultState = "only before" if after is None else "only after"
            yield ResultDiff(
                state=state,
                name=_name(candidate),
                before=before.shown() if before is not None else None,
                after=after.shown() if after is not None else None,
            )
        else:
            yield _both(candidate, before, after, *codes[candidate.repo])


def _is_same(one: _Sides, other: _Sides) -> bool:
    """Whether two results are pieces of the same definition in both versions."""
    if _name(one[0]) != _name(other[0]):
        return False
    pairs = ((one[1], other[1]), (one[2], other[2]))
    return all(
        ours is not None
        and theirs is not None
        and ours.path == theirs.path
        and ours.lines.touches(theirs.lines.start, theirs.lines.end)
        for ours, theirs in pairs
    )


def _ranked(piece: _Piece | None, other: _Piece | None) -> _Piece | None:
    """A piece with the better rank of two."""
    if piece is None or other is None or other.rank is None:
        return piece
    rank = other.rank if piece.rank is None else min(piece.rank, other.rank)
    return replace(piece, rank=rank)


def _own(candidate: Candidate) -> _Piece | None:
    if candidate.lines is None:
        return None
    return _Piece(candidate.path, candidate.lines, candidate.rank, candidate.citation, candidate.verification)


def _counterpart(answer: _Answer, candidate: Candidate, other: _Code | None) -> _Piece | None:
    """Where a result is in the files of the other version."""
    payload = answer.payloads.get(candidate.candidate_id)
    if payload is None or other is None:
        return None
    try:
        found = anchor(Cited.of(payload), other.corpus)
    except SourceError:
        return None
    lines = found.lines or candidate.lines
    if found.state in ("gone", "unverified") or lines is None:
        return None
    return other.piece(found.path or candidate.path, lines)


def _widened(
    payload: ChunkPayload, own: _Piece, there: _Piece, ours: _Code | None, theirs: _Code | None
) -> tuple[_Piece, _Piece]:
    """The whole definition that a result shows a part of; of a class that is cut, what stands before its methods."""
    if ours is None or theirs is None or payload.symbol is None or payload.lang != "py":
        return own, there
    if own.verification.state != "exact":
        # The file is not what was indexed: its lines now are not those of the cited version.
        return own, there
    old, new = definition(ours.read(own.path), payload.symbol), definition(theirs.read(there.path), payload.symbol)
    if old is None or new is None:
        return own, there
    is_cut_class = payload.symbol_kind == "class" and own.lines.end < last_line(old)
    if not (is_cut_class or (isinstance(old, Function) and isinstance(new, Function))):
        return own, there
    whole = ours.piece(own.path, own_span(old))
    return replace(whole, rank=own.rank), theirs.piece(there.path, own_span(new))


def _overlapping(candidates: Sequence[Candidate], repo: str, piece: _Piece) -> Candidate | None:
    """The best result of a version that shows some of the lines of a piece."""
    for one in candidates:
        same_file = (one.repo, one.path) == (repo, piece.path)
        if same_file and one.lines is not None and one.lines.touches(piece.lines.start, piece.lines.end):
            return one
    return None


def _both(candidate: Candidate, before: _Piece, after: _Piece, old: _Code | None, new: _Code | None) -> ResultDiff:
    texts = [code.read(piece.path) if code is not None else "" for code, piece in ((old, before), (new, after))]
    lines = [
        split_lines(text)[piece.lines.start - 1 : piece.lines.end]
        for text, piece in zip(texts, (before, after), strict=True)
    ]
    state: ResultState = "changed"
    if lines[0] == lines[1]:
        state = "same" if (before.path, before.lines) == (after.path, after.lines) else "moved"
    return ResultDiff(
        state=state,
        name=_name(candidate),
        details=_details(candidate.symbol, *texts) if state == "changed" else (),
        before=before.shown(),
        after=after.shown(),
        diff=_diff(before, after, *lines) if state == "changed" else "",
    )


def _diff(before: _Piece, after: _Piece, old: Sequence[str], new: Sequence[str]) -> str:
    names = [one.citation.partition("@")[2].partition("#")[0] for one in (before, after)]
    return unified(Lines(names[0], before.lines.start, old), Lines(names[1], after.lines.start, new))


def _details(symbol: str | None, before: str, after: str) -> tuple[str, ...]:
    """What differs in the definition that a result shows."""
    if symbol is None:
        return ()
    nodes = definition(before, symbol), definition(after, symbol)
    if nodes[0] is None or nodes[1] is None:
        return ()
    return tuple(one.text for one in compare_definitions(nodes[0], nodes[1], member="." in symbol))


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
    """A sentence for each path that a text imports and only one of the versions has."""
    if history is None:
        return
    known = [history.nearest(version) for version in versions]
    if any(one is None or not one.exact for one in known):
        return
    numbers = [one.number for one in known if one is not None]
    for path in _imported(text):
        has = [history.has_at(number, path) for number in numbers]
        if set(has) == {True, False}:
            sentence = lack(history, versions[has.index(False)], path)
            if sentence is not None:
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
    # `import a.b` says nothing that `a.b.c` does not say.
    return [path for path in found if not any(other.startswith(f"{path}.") for other in found)]
