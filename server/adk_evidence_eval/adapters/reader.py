"""A reader, from the index to an adapter that was measured: data, training, and reading as a question would read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.adapter import READER, Adapter, write_adapter
from adk_evidence.embedding.factory import make_sparse
from adk_evidence.embedding.minilm import HEADS, prepare_minilm
from adk_evidence.errors import InvalidRequestError
from adk_evidence.search.rerank.reader import Reader
from adk_evidence.settings import Settings
from adk_evidence_eval.adapters.about import about_training
from adk_evidence_eval.adapters.chunks import Tell, read_chunks
from adk_evidence_eval.adapters.network import recent_loss
from adk_evidence_eval.adapters.reader_data import HeldOut, TrainingData, training_data
from adk_evidence_eval.extra import training_library

Scorer = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class Ranks:
    """The mean reciprocal rank of what answers: in the search's order, in the reader's, and in that of their sum."""

    questions: int
    search: float
    reader: float
    both: float


@dataclass(frozen=True)
class Report:
    """What a training came to; `ranks` is None where too few questions were held out."""

    data_sha256: str
    examples: int
    pairs: int
    seconds: float
    loss: float
    ranks: Ranks | None
    interrupted: bool


def train_reader(
    settings: Settings,
    out: Path,
    *,
    questions: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    tell: Tell = lambda sentence: None,
) -> Report:
    """Train an adapter from the published index, write the adapter, and measure the written file.

    Args:
        settings: Name the index.
        out: Where the adapter is written; it is written anew each time that it became better.
        questions: How many questions are trained with at most; None for all.
        minutes: How long the training takes at most, without making the data and measuring; None for no limit.
        seed: Decides the order of the questions, what is drawn and where the training begins.
        tell: Gets a sentence from time to time.

    Raises:
        EvaluationMissingError: torch is not installed.
        InvalidRequestError: The index has nothing to train from.
        ModelError: The weights cannot be obtained, or the adapter cannot be written.
        StoreError: There is no index.
    """
    training_library()
    from adk_evidence_eval.adapters.reader_trainer import Plan, train

    models, named = settings.paths.models, settings.embedding.dense.model_path
    folder = prepare_minilm(models, named_folder=named, report=tell)
    tell("reading the index")
    chunks = read_chunks(settings)
    data = training_data(chunks, make_sparse(settings), questions=questions, seed=seed, tell=tell)
    if not data.examples:
        raise InvalidRequestError(
            "The index is too small: no question has enough passages that surely do not answer the question.",
            f"Run `{settings.ingest_command}`.",
        )
    tell(f"training data: {len(data.examples):,} questions, {len(data.held_out):,} held out, sha256 {data.sha256}")
    plan = Plan(seed=seed, minutes=minutes)
    about = about_training(READER, plan, data.sha256, len(data.examples), plan.question_tokens)

    def keep(adapter: Adapter) -> None:
        write_adapter(adapter, out)

    trained = train(folder, HEADS, data, plan, about, tell=tell, keep=keep)
    reader_settings = settings.rerank.reader.model_copy(update={"adapter": out})
    ranks = None
    if data.measuring and not trained.interrupted:
        tell(f"reading {len(data.measuring)} held-out questions with the written adapter")
        with closing(Reader(reader_settings, models, named, settings.rerank.threads)) as reader:
            ranks = ranks_of(data, reader.scores, reader_settings.weight)
    return Report(
        data_sha256=data.sha256,
        examples=len(data.examples),
        pairs=trained.pairs,
        seconds=trained.seconds,
        loss=recent_loss(trained.losses),
        ranks=ranks,
        interrupted=trained.interrupted,
    )


def ranks_of(data: TrainingData, scorer: Scorer, weight: float) -> Ranks:
    """How well what answers the measuring questions, at least one, is ranked.

    Args:
        data: The training data.
        scorer: Scores texts as answers to a question.
        weight: What the reader's standardised scores count in the sum with those of the search.
    """
    rows = [
        _reciprocals(one, scorer(one.question, [data.texts[place] for place in one.pool]), weight)
        for one in data.measuring
    ]
    search, reader, both = (float(value) for value in np.mean(rows, axis=0))
    return Ranks(len(rows), search, reader, both)


def _reciprocals(question: HeldOut, found: Sequence[float], weight: float) -> tuple[float, float, float]:
    search, read = np.array(question.scores), np.array(found, dtype=np.float64)
    spread = read.std()
    both = search + weight * (read - read.mean()) / spread if spread else search
    first, second, third = (_reciprocal(scores, question.right) for scores in (search, read, both))
    return first, second, third


def _reciprocal(scores: NDArray[np.float64], right: int) -> float:
    # Of equal scores, the right one counts as the last.
    return 1 / int(np.sum(scores >= scores[right]))
