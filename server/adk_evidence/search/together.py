"""One question to two indexes, such as the ADK's and a project's, and one pack of both.

Each index answers by its own pipeline and checks its own citations. Then the results are merged; see `fusion.merged`.
An index that has nothing close to the question takes no room, and where both have, neither pushes the other out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from adk_evidence.errors import EvidenceError, InvalidRequestError, RequestCancelledError
from adk_evidence.index.codebase import MAIN
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import SOURCE_TYPES
from adk_evidence.models.pack import (
    Beside,
    Candidate,
    Coverage,
    ErrorFrame,
    EvidencePack,
    Outline,
    PastedError,
    Quality,
    QualityLevel,
)
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.models.warning import LOST_PARTS, UNKNOWN_NAMES, Warning
from adk_evidence.render import wording
from adk_evidence.search.calibration import calibration_of
from adk_evidence.search.context import Context
from adk_evidence.search.pack.availability import lack_of
from adk_evidence.search.ranking.quality import lowered
from adk_evidence.search.session import Session
from adk_evidence.store.fusion import Placed, Standing, merged
from adk_evidence.text.redaction import told

if TYPE_CHECKING:
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.search.session import EvidenceService
    from adk_evidence.settings import Settings
    from adk_evidence.symbols.lookup import Symbols

# Where both indexes have close results, each has at least one in this many places, if it has as many close ones.
FLOOR_SHARE = 4
_LEVELS: tuple[QualityLevel, ...] = ("none", "keyword_only", "mixed", "high")
# The order of results by what the request names: what raises an error, other named ones, all others.
_RAISES, _NAMED, _OTHERS = range(3)


@dataclass(frozen=True)
class Side:
    """One of two indexes that are asked together: its name, and a session on it or why there is none.

    `of_codebase` says whether the index is that of a codebase, and not of the ADK.
    """

    name: str
    opened: Session | EvidenceError
    of_codebase: bool

    @classmethod
    def of(cls, settings: Settings, opened: Session | EvidenceError) -> Side:
        """The side of the index that has these settings."""
        return cls(settings.index_name or MAIN, opened, isinstance(settings, CodebaseSettings))


@dataclass(frozen=True)
class Answering:
    """What is open for one request: the chosen index, alone or with a second one beside it.

    `older` says which of them are behind their files.
    """

    chosen: ChosenIndex
    sides: tuple[Side, ...]
    older: tuple[Warning, ...] = ()

    @property
    def sessions(self) -> list[Session]:
        return [side.opened for side in self.sides if isinstance(side.opened, Session)]

    @property
    def symbols(self) -> Symbols | None:
        """The symbols of the chosen index; None where it could not be opened."""
        opened = self.sides[0].opened
        return opened.symbols if isinstance(opened, Session) else None

    def ask(self, request: EvidenceRequest) -> EvidencePack:
        """A checked pack of the index, or of both by `ask_together`; see `Door.find`."""
        request = request.model_copy(update={"project": request.project or self.chosen.project})
        match self.sides:
            case (first, second):
                pack = ask_together(request, first, second)
            case _:
                (session,) = self.sessions
                pack = session.service.door.find(session, request)
        if not self.older:
            return pack
        # These say more than what the results show of it.
        others = (warning for warning in pack.warnings if warning.code != "index_older")
        return pack.model_copy(update={"warnings": (*self.older, *others)}).with_id()


@contextmanager
def open_side(service: EvidenceService, context: Context, *, strict: bool | None = None) -> Iterator[Side]:
    """A side for one request, whose index stays open until the request ends.

    An index that cannot be opened is a side that fails. In strict mode, its error is raised; None takes the service's
    setting.
    """
    with ExitStack() as stack:
        try:
            opened: Session | EvidenceError = stack.enter_context(service.session(context))
        except Exception as exc:
            if service.settings.retrieval.strict if strict is None else strict:
                raise
            opened = told(exc)
        yield Side.of(service.settings, opened)


def ask_together(request: EvidenceRequest, first: Side, second: Side) -> EvidencePack:
    """Answer a question from two indexes with one checked pack.

    Args:
        request: The question. What it says of versions of the ADK holds for an index of the ADK alone.
        first: The index that answers.
        second: The index beside it.

    Raises:
        RequestCancelledError: The caller has gone.
        InvalidRequestError: Both sides are one index or hold the ADK, or a path filter cannot be parsed.
        EvidenceError: Neither index can answer, or in strict mode one of them cannot.
    """
    if first.name == second.name:
        raise InvalidRequestError(f"{first.name!r} is the index that answers already.", "Name another one beside it.")
    if not (first.of_codebase or second.of_codebase):
        raise InvalidRequestError(
            f"{first.name!r} and {second.name!r} are both indexes of the ADK.",
            "Name the index of a codebase beside it.",
        )
    sides = (first, second)
    requests = [_for_index(request, side) for side in sides]
    # At the same time: the time budget is one for both.
    with ThreadPoolExecutor(1, thread_name_prefix="adk-evidence-beside") as threads:
        # Before the search, as the quality of an answer depends on them, too.
        of_second = threads.submit(copy_context().run, partial(_held, second, requests[1]))
        held = (_held(first, requests[0]), of_second.result())
        asked = [
            one.model_copy(update={"known_elsewhere": tuple(sorted(elsewhere - own))})
            for one, own, elsewhere in zip(requests, held, reversed(held), strict=True)
        ]
        theirs = threads.submit(copy_context().run, partial(_answer, second, asked[1]))
        found = (_answer(first, asked[0]), theirs.result())
    return _Merge(request, sides, found).pack()


def _for_index(request: EvidenceRequest, side: Side) -> EvidenceRequest:
    """The request as an index can understand it: a codebase has no version of the ADK, other words and commits."""
    if not side.of_codebase:
        return request.model_copy(update={"asked_at": None})
    filters = request.filters.model_copy(update={"repo_ref_hint": None})
    return request.model_copy(update={"project": None, "filters": filters, "wordings": ()})


def _held(side: Side, request: EvidenceRequest) -> frozenset[str]:
    """The names of the request that an index holds, which are then not unknown to the other one."""
    if not isinstance(side.opened, Session):
        return frozenset()
    begin = time.monotonic()
    try:
        return side.opened.held_names(request)
    except (RequestCancelledError, InvalidRequestError):
        raise
    except Exception:
        # The question itself will say what is wrong.
        return frozenset()
    finally:
        # The search has so much less of the time budget.
        side.opened.context.waited_ms += (time.monotonic() - begin) * 1000


def _answer(side: Side, request: EvidenceRequest) -> EvidencePack | EvidenceError:
    if not isinstance(side.opened, Session):
        return side.opened
    try:
        return side.opened.service.door.find(side.opened, request)
    except (RequestCancelledError, InvalidRequestError):
        raise
    except Exception as exc:
        strict = side.opened.settings.retrieval.strict if request.strict is None else request.strict
        if strict:
            raise
        return told(exc)


def _tier(candidate: Candidate) -> int:
    if candidate.error is not None and candidate.error.role in ("raise_site", "cause"):
        return _RAISES
    return _NAMED if candidate.why.role is not None else _OTHERS


class _Merge:
    """Makes one pack of two answers.

    Args:
        request: As it was asked.
        sides: The two indexes.
        found: What each has answered.
    """

    def __init__(
        self,
        request: EvidenceRequest,
        sides: tuple[Side, Side],
        found: tuple[EvidencePack | EvidenceError, EvidencePack | EvidenceError],
    ) -> None:
        self._sides = sides
        self._found = found
        self._packs = [answer if isinstance(answer, EvidencePack) else None for answer in found]
        answered = next((pack for pack in self._packs if pack is not None), None)
        session = next((side.opened for side in sides if isinstance(side.opened, Session)), None)
        if answered is None or session is None:
            raise next(answer for answer in found if isinstance(answer, EvidenceError))
        self._answered = answered
        self._size = request.max_results_final or session.settings.pack.max_results_final
        self._close = [self._is_close(place) for place in range(2)]
        self._kept = self._choose()
        self._ranks = {(one.index, one.own_rank): rank for rank, one in enumerate(self._kept, 1)}

    def pack(self) -> EvidencePack:
        first, second = self._packs
        answered = self._answered
        candidates = tuple(self._candidate(rank, one) for rank, one in enumerate(self._kept, 1))
        return answered.model_copy(
            update={
                "status": "success" if candidates else "no_results",
                "index": first.index if first else None,
                "adk": next((pack.adk for pack in (first, second) if pack and pack.adk), None),
                "quality": self._quality(),
                "retrieval_plan": first.retrieval_plan if first else None,
                "beside": Beside(
                    name=self._sides[1].name,
                    beside=self._sides[0].name,
                    index=second.index if second else None,
                    retrieval_plan=second.retrieval_plan if second else None,
                ),
                "candidates": candidates,
                "coverage": Coverage.of(candidates),
                "warnings": tuple(dict.fromkeys(self._warnings(candidates))),
                "outlines": tuple(self._of_kept(lambda pack: pack.outlines)),
                "places": tuple(self._of_kept(lambda pack: pack.places)),
                "errors": tuple(self._errors()),
                "debug": {
                    **answered.debug,
                    "beside": {**second.debug, "query_id": second.query_id} if first and second else {},
                },
            }
        ).with_id()

    # Which results

    def _is_close(self, place: int) -> bool:
        """Whether an index has a result that is close to the question."""
        pack = self._packs[place]
        if pack is None or pack.quality.level == "none":
            return False
        return self._close_results(place) > 0 or (self._relevant(place) is None and bool(pack.candidates))

    def _close_results(self, place: int) -> int:
        """How many results of an index are close for sure."""
        pack, relevant = self._packs[place], self._relevant(place)
        return sum(
            _is_meant(one) or (relevant is not None and self._nearness(place, one) >= relevant)
            for one in (pack.candidates if pack is not None else ())
        )

    def _relevant(self, place: int) -> float | None:
        """The similarity from which on results of an index are close; None where no similarity says so."""
        pack, opened = self._packs[place], self._sides[place].opened
        if pack is None or not isinstance(opened, Session) or pack.quality.level == "keyword_only":
            return None
        calibration = calibration_of(opened.settings)
        return None if calibration is None else calibration.relevant

    def _nearness(self, place: int, candidate: Candidate) -> float:
        """About what the cosine of a result with the question would be without the adapter."""
        pack, opened = self._packs[place], self._sides[place].opened
        plan = pack.retrieval_plan if pack is not None else None
        # A result that keywords alone have found is not near.
        near = candidate.why.similarity or 0.0
        if plan is None or plan.question_model is None or not isinstance(opened, Session):
            return near
        calibration = calibration_of(opened.settings)
        return near + (calibration.adapted_below if calibration is not None else 0.0)

    def _choose(self) -> list[Placed[Candidate]]:
        """The results of the pack in their order."""
        close = [place for place in range(2) if self._close[place]]
        # Where neither has anything close, the first shows its nearest, as it does alone.
        places = close or [next(place for place in range(2) if self._packs[place] is not None)]
        placed = self._placed(places)
        kept = placed[: self._size]
        if len(places) == 2 and self._size > 1:
            for place in places:
                # Rounded up: a quarter at least.
                floor = min(-(-self._size // FLOOR_SHARE), self._close_results(place))
                own = [one for one in placed if one.index == place]
                lacking = floor - sum(one.index == place for one in kept)
                if lacking > 0:
                    others = [one for one in kept if one.index != place]
                    kept = [*others[: self._size - floor], *own[:floor]]
        return sorted(kept, key=lambda one: one.key)

    def _placed(self, places: Sequence[int]) -> list[Placed[Candidate]]:
        """The results of some sides in one order, which keeps the order of each."""
        models = {pack.index.dense_model for pack in self._packs if pack is not None and pack.index is not None}
        answers = [
            [Standing(one, _tier(one), self._nearness(place, one)) for one in pack.candidates]
            if pack is not None and place in places
            else []
            for place, pack in enumerate(self._packs)
        ]
        return merged(answers, comparable=len(models) <= 1)

    # What the pack says

    def _candidate(self, rank: int, one: Placed[Candidate]) -> Candidate:
        candidate = one.result
        citations = {kept.result.citation for kept in self._kept if kept.index == one.index}
        return candidate.model_copy(
            update={
                "rank": rank,
                "index": self._sides[one.index].name,
                # Each index's results are the first ones of its own answer, so that the earlier text is here as well.
                "same_as": None if candidate.same_as is None else self._ranks[(one.index, candidate.same_as)],
                "also_at": tuple(citation for citation in candidate.also_at if citation in citations),
            }
        )

    def _results(self, place: int) -> int:
        return sum(one.index == place for one in self._kept)

    def _quality(self) -> Quality:
        """The best quality of the sides that have room, with what each of the two says of its answer."""
        said, levels, gaps = [], [_LEVELS[0]], []
        for place, side in enumerate(self._sides):
            pack = self._packs[place]
            if pack is None:
                gaps.append(f"the index {side.name} could not answer")
            elif self._close[place]:
                levels.append(pack.quality.level)
                said.append(f"{side.name}: {pack.quality.note}")
            elif any(self._close) or pack is not self._answered:
                said.append(f"{side.name} has nothing that is close to the question.")
            else:
                said.append(f"{side.name}: {pack.quality.note}")
        counts = [
            f"{count} of {side.name}" for place, side in enumerate(self._sides) if (count := self._results(place))
        ]
        shown = [f"Results: {', '.join(counts)}."] if len(counts) > 1 else []
        quality = Quality(level=max(levels, key=_LEVELS.index), note=" ".join([*shown, *said]))
        if self._kept and (lack := lack_of(self._kept[0].result)):
            gaps.append(lack)
        return lowered(quality, gaps)

    def _warnings(self, candidates: Sequence[Candidate]) -> Iterator[Warning]:
        """The warnings of both sides, those of the second with its name.

        A name that is unknown to both is told once. A side without room only says what it lacked; where neither has
        results, the first one says why.
        """
        first = next(place for place, pack in enumerate(self._packs) if pack is not None)
        merged = all(self._results(place) for place in range(2))
        for place, side in enumerate(self._sides):
            answer = self._found[place]
            if isinstance(answer, EvidenceError):
                yield wording.index_unavailable(side.name, f"{answer.message} {answer.hint}")
                continue
            for warning in answer.warnings:
                if warning.code in UNKNOWN_NAMES:
                    tells = place == first
                elif warning.code == "coverage":
                    # What the mode asks for, it asks of both together.
                    tells = not merged and bool(self._results(place))
                else:
                    speaks = bool(self._results(place)) or (not candidates and place == first)
                    tells = warning.code in LOST_PARTS or speaks
                if tells:
                    yield wording.of_index(side.name, warning) if place else warning
        if merged:
            yield from self._short(candidates)
        for side in self._sides:
            if side.of_codebase:
                own = (one.verification.state for one in candidates if one.index == side.name)
                if any(state in ("changed", "gone") for state in own):
                    yield wording.index_older(side.name)

    def _short(self, candidates: Sequence[Candidate]) -> Iterator[Warning]:
        """A warning for each kind of which both indexes together have fewer results than the mode asks for."""
        plans = [pack.retrieval_plan for pack in self._packs if pack is not None and pack.retrieval_plan is not None]
        for kind in SOURCE_TYPES.values():
            wanted = max((plan.required.get(kind, 0) for plan in plans), default=0)
            found = sum(one.source_type == kind for one in candidates)
            if found < wanted:
                yield wording.too_few(found, wanted, kind)

    def _of_kept(self, outlines: Callable[[EvidencePack], Sequence[Outline]]) -> Iterator[Outline]:
        """Outlines of both sides, by the ranks of the results that are kept."""
        for place, pack in enumerate(self._packs):
            for outline in outlines(pack) if pack is not None else ():
                ranks = tuple(self._ranks[(place, rank)] for rank in outline.ranks if (place, rank) in self._ranks)
                if ranks:
                    yield outline.model_copy(update={"ranks": ranks})

    def _errors(self) -> Iterator[PastedError]:
        """The exceptions that the query quotes, which are the same for both, with the calls in files of either."""
        errors = [pack.errors for pack in self._packs if pack is not None]
        for same in zip(*errors, strict=True) if len({len(one) for one in errors}) == 1 else ():
            frames: dict[int, ErrorFrame] = {}
            for place, error in zip(self._places(), same, strict=True):
                for frame in error.frames:
                    own = frame.model_copy(update={"rank": self._ranks.get((place, frame.rank or 0))})
                    known = frames.get(frame.number)
                    # A file of one index may be called like a file of the other: the one that has the line counts.
                    if known is None or (known.line is None and own.line is not None):
                        frames[frame.number] = own
            yield same[0].model_copy(update={"frames": tuple(frames[number] for number in sorted(frames))})

    def _places(self) -> list[int]:
        return [place for place, pack in enumerate(self._packs) if pack is not None]


def _is_meant(candidate: Candidate) -> bool:
    """Whether the question names the result, or what it defines; a result that only uses a name need not be close."""
    return candidate.why.role is not None or any(found.branch == "symbol" for found in candidate.why.branches)
