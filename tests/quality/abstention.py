"""Says how well `quality` tells the questions that the corpora cannot answer from those that they can.

    python -m tests.quality.abstention
    python -m tests.quality.abstention --fit

The second line also prints the weights of `search/calibration.py` that fit one half of the questions.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import typer

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.pack import QualityLevel
from adk_evidence.paths import config_file
from adk_evidence.search.calibration import MEASURES, MINILM, Measures, SupportWeights
from adk_evidence.search.session import EvidenceService
from adk_evidence_console import Home, Profile
from adk_evidence_eval.cli import Goldens, open_service
from adk_evidence_eval.golden import GoldenQuestion, read_golden
from adk_evidence_eval.run import ask
from tests.quality.tool import tool

Group = Literal["answerable", "near the subject", "off the subject"]
Half = Literal["fit", "held out"]
GROUPS: tuple[Group, ...] = get_args(Group)
HALVES: tuple[Half, ...] = get_args(Half)
# The category of questions that are about something else; others without an answer sound as if they had one.
OFF_SUBJECT = "off_subject"
# Share of the answerable questions of the fitted half that are to be of high quality.
WANTED_HIGH = 0.95
RIDGE = 0.01
_STEPS = 50


@dataclass(frozen=True)
class Judged:
    """A question with the quality of its answer and the measures behind that quality.

    `weighed` says whether the measures decided: an unknown name or a far subject decides before them.
    """

    id: str
    group: Group
    half: Half
    level: QualityLevel
    measures: Measures
    weighed: bool


def judge(service: EvidenceService, questions: Iterable[GoldenQuestion]) -> Iterator[Judged]:
    """Ask every question. The hash of its id says to which half it belongs, so that new questions move no old ones."""
    for question in questions:
        outcome = ask(service, question)
        group: Group = "near the subject"
        if question.answerable:
            group = "answerable"
        elif question.category == OFF_SUBJECT:
            group = "off the subject"
        half = HALVES[hashlib.sha256(question.id.encode()).digest()[0] % 2]
        weighed = outcome.quality.level in ("mixed", "high") and not any(
            warning.code == "unknown_name" for warning in outcome.question.context.warnings
        )
        yield Judged(question.id, group, half, outcome.quality.level, outcome.support.measures, weighed)


def fit_support(judged: Sequence[Judged], nearest: float) -> SupportWeights:
    """Fit the weights to the first half: a ridge-penalised logistic model in which both classes weigh the same.

    The threshold lets `WANTED_HIGH` of that half's answerable questions pass. The setting `nearest` is not fitted.

    Raises:
        InvalidRequestError: The half lacks questions with or without an answer.
    """
    import numpy as np

    half = [one for one in judged if one.half == HALVES[0]]
    used = [one for one in half if one.weighed]
    answerable = np.array([one.group == "answerable" for one in used], dtype=float)
    if not 0 < answerable.sum() < len(used):
        raise InvalidRequestError(
            "The weights cannot be fitted without both answerable and unanswerable questions.",
            "Name a larger set with --golden.",
        )
    table = np.array([[getattr(one.measures, name) for name in MEASURES] for one in used])
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    columns = np.column_stack([np.ones(len(used)), (table - mean) / spread])
    share = answerable.mean()
    weight = np.where(answerable == 1, 0.5 / share, 0.5 / (1 - share)) / len(used)
    ridge = np.diag([0.0, *[2 * RIDGE] * len(MEASURES)])
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weight * (likely - answerable)) + ridge @ found
        curve = (columns.T * (weight * likely * (1 - likely))) @ columns + ridge
        found -= np.linalg.solve(curve, slope)
    raw = found[1:] / spread
    values = {name: round(float(value), 3) for name, value in zip(MEASURES, raw, strict=True)}
    fitted = SupportWeights(bias=round(float(found[0] - raw @ mean), 3), **values, high=0.5, nearest=nearest)
    wanted = [one for one in half if one.group == "answerable"]
    scores = sorted((one.measures.score(fitted) if one.weighed else 0.0 for one in wanted), reverse=True)
    last = scores[min(len(scores) - 1, round(WANTED_HIGH * len(scores)) - 1)]
    return fitted.model_copy(update={"high": min(0.99, max(0.01, int(last * 1000) / 1000))})


def main(
    golden: Goldens = None,
    fit: Annotated[
        bool,
        typer.Option("--fit", help="Print the weights of `search/calibration.py` that fit one half of the questions."),
    ] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say how well `quality` tells questions without an answer from those that have one, in lines of JSON."""
    paths = golden or [config_file("golden/adk.jsonl"), config_file("golden/abstention.jsonl")]
    questions = {name: one for path in paths for name, one in read_golden(path, ask=True, spans=False).items()}
    with closing(open_service(profile, home)) as service:
        judged = list(judge(service, questions.values()))
    for half, group in itertools.product(HALVES, GROUPS):
        levels = Counter(one.level for one in judged if (one.half, one.group) == (half, group))
        if levels:
            print(json.dumps({"half": half, "group": group, "asked": levels.total(), **levels}))
    if fit:
        print(fit_support(judged, MINILM.support.nearest).model_dump_json())


app = tool(main)

if __name__ == "__main__":
    app()
