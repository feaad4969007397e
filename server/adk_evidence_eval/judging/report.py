"""What the sheets of one or several judges say about two systems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.errors import InvalidRequestError
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.judging.criteria import SIDES, Grades, Preference, SideName
from adk_evidence_eval.judging.pairs import Key, Pair
from adk_evidence_eval.judging.sheet import Sheet
from adk_evidence_eval.score import Comparison, Scores, compare_scores


@dataclass(frozen=True)
class Missing:
    """What a judge missed in what a system shows for a question."""

    pair: str
    question: str
    system: str
    judge: str
    sufficient: int
    text: str


@dataclass(frozen=True)
class Report:
    """Judgements of two systems, in the order of `systems`.

    Attributes:
        judged: How many pairs all judges graded on both sides; only these count.
        pairs: How many pairs there are.
        unfinished: The ids of the other pairs of which some side is graded.
        metrics: Means over the judged pairs, and the paired differences.
        intervals: The interval of each metric's mean for each system.
        preferences: How often the first system, the second and neither was preferred, over all judges.
        agreement: For each grade, how often two judges gave the same one; empty with one judge.
    """

    systems: tuple[str, str]
    judges: Sequence[str]
    judged: int
    pairs: int
    unfinished: Sequence[str]
    metrics: Sequence[Comparison]
    intervals: Mapping[str, tuple[Interval, Interval]]
    preferences: Mapping[str, int]
    agreement: Mapping[str, float]
    missing: Sequence[Missing]


def report(pairs: Mapping[str, Pair], key: Key, sheets: Mapping[str, Sheet]) -> Report:
    """Join the sheets of judges with the key. Where there are several judges, each pair counts with their mean.

    Raises:
        InvalidRequestError: There is no pair that all judges graded.
    """
    judged = [pair for pair in pairs.values() if all(sheet.complete(pair) for sheet in sheets.values())]
    if not judged:
        raise InvalidRequestError(
            f"No pair is graded on both sides by {' and '.join(sheets)}.",
            "Fill in both rows of a pair; a pair page has the criteria.",
        )
    first: dict[str, Scores] = {}
    second: dict[str, Scores] = {}
    preferences = dict.fromkeys((*key.systems, "same"), 0)
    missing = []
    for pair in judged:
        own = key.pairs[pair.id].first
        places = (own, _other(own))
        for system, place, scores in zip(key.systems, places, (first, second), strict=True):
            scores[pair.id] = _mean([_scores(sheet, pair, place) for sheet in sheets.values()])
            missing += [
                Missing(pair.id, key.pairs[pair.id].question, system, judge, grades.sufficient, grades.missing)
                for judge, sheet in sheets.items()
                if (grades := _grades(sheet, pair, place)).sufficient < 2
            ]
        said = [found for sheet in sheets.values() if (found := _preference(sheet, pair)) is not None]
        for found in said:
            preferences["same" if found == "same" else key.systems[places.index(found)]] += 1
    metrics = compare_scores(first, second)
    return Report(
        systems=key.systems,
        judges=list(sheets),
        judged=len(judged),
        pairs=len(pairs),
        unfinished=[pair.id for pair in pairs.values() if pair not in judged and _begun(pair, sheets.values())],
        metrics=metrics,
        intervals={row.metric: (_interval(first, row.metric), _interval(second, row.metric)) for row in metrics},
        preferences=preferences,
        agreement=_agreement(judged, list(sheets.values())),
        missing=missing,
    )


def _begun(pair: Pair, sheets: Iterable[Sheet]) -> bool:
    return any((pair.id, name) in sheet.grades for sheet in sheets for name in pair.sides)


def _grades(sheet: Sheet, pair: Pair, side: SideName) -> Grades:
    return sheet.grades[pair.id, "A" if pair.same else side]


def _preference(sheet: Sheet, pair: Pair) -> Preference | None:
    # One text twice is a preference only of a judge who gives preferences.
    return "same" if pair.same and sheet.preferred else sheet.preferred.get(pair.id)


def _other(side: SideName) -> SideName:
    return SIDES[1 - SIDES.index(side)]


def _scores(sheet: Sheet, pair: Pair, place: SideName) -> Scores:
    grades, shown = _grades(sheet, pair, place), pair.side(place)
    scores = {
        "fully_sufficient": float(grades.sufficient == 2),
        "sufficient": float(grades.sufficient),
        "first_useful_mrr": grades.first_useful,
        "useful_share": len(grades.useful) / shown.passages if shown.passages else 0.0,
        "useful": float(len(grades.useful)),
        "passages": float(shown.passages),
        "misleading": float(len(grades.misleading)),
        "tokens": float(shown.tokens),
    }
    preferred = _preference(sheet, pair)
    return scores if preferred is None else scores | {"preferred": float(preferred == place)}


def _mean(rows: Sequence[Scores]) -> Scores:
    """Means over the rows that have the metric."""
    names = dict.fromkeys(name for row in rows for name in row)
    found = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: math.fsum(values) / len(values) for name, values in found.items()}


def _interval(scores: Mapping[str, Scores], metric: str) -> Interval:
    return mean_interval([row[metric] for row in scores.values() if metric in row])


def _agreement(pairs: Sequence[Pair], sheets: Sequence[Sheet]) -> dict[str, float]:
    equal: dict[str, list[bool]] = {}
    for one, other in itertools.combinations(sheets, 2):
        for pair in pairs:
            for name in pair.sides:
                mine, theirs = one.grades[pair.id, name], other.grades[pair.id, name]
                equal.setdefault("sufficient", []).append(mine.sufficient == theirs.sufficient)
                equal.setdefault("first_useful", []).append(mine.first_useful == theirs.first_useful)
                for number in range(1, pair.side(name).passages + 1):
                    equal.setdefault("useful", []).append((number in mine.useful) == (number in theirs.useful))
                    same = (number in mine.misleading) == (number in theirs.misleading)
                    equal.setdefault("misleading", []).append(same)
            preferred = [sheet.preferred.get(pair.id) for sheet in (one, other)]
            if None not in preferred:
                equal.setdefault("preferred", []).append(preferred[0] == preferred[1])
    return {name: sum(values) / len(values) for name, values in equal.items()}
