"""An adapter for questions, from the index to a file that was measured."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adk_evidence import __version__
from adk_evidence.embedding.minilm.adapter import About
from adk_evidence.embedding.minilm.model import HEADS, MODEL, MiniLmEmbedder, prepare_minilm
from adk_evidence.embedding.minilm.weights import MINILM_WEIGHTS, WEIGHTS
from adk_evidence.errors import InvalidRequestError
from adk_evidence.settings import Settings
from tests.quality.training.adapter_file import LICENSE, write_adapter
from tests.quality.training.chunks import Asked, Chunk, MayAnswer, Passages, Tell, asked_of, read_chunks
from tests.quality.training.network import recent_loss, torch_library

# At most so many questions of held-out files are measured.
HELD_OUT_QUESTIONS = 600
CUT = 12
_BATCH = 64


@dataclass(frozen=True)
class Found:
    """How well dense vectors alone find the chunks that held-out questions were written for.

    The mean reciprocal rank, and the share of questions whose chunk is among the first `CUT`.
    """

    mrr: float
    recall: float


@dataclass(frozen=True)
class QuestionReport:
    """What a training came to; `before` and `after` are None where nothing was measured.

    `written` is false where Ctrl+C came before the first step, so that no adapter was written.
    """

    data_sha256: str
    questions: int
    held_out: int
    seconds: float
    loss: float
    before: Found | None
    after: Found | None
    interrupted: bool
    written: bool = True


def train_questions(
    settings: Settings,
    out: Path,
    *,
    questions: int | None = None,
    epochs: int = 2,
    seed: int = 0,
    tell: Tell = lambda sentence: None,
) -> QuestionReport:
    """Train an adapter for questions from the published index, write the adapter, and measure the written file.

    Args:
        settings: Name the index.
        out: Where the adapter is written.
        questions: How many questions are trained with at most; None for all.
        epochs: How often each of them is asked.
        seed: Decides the order of the questions, what is dropped and where the training begins.
        tell: Gets a sentence from time to time.

    Raises:
        TorchMissingError: torch is not installed.
        InvalidRequestError: The index has nothing to train from.
        ModelError: The weights cannot be obtained, or the adapter cannot be written.
        StoreError: There is no index.
    """
    torch_library()
    from tests.quality.training.trainer import Plan, train

    dense = settings.embedding.dense
    folder = prepare_minilm(settings.paths.models, named_folder=dense.folder_of(MODEL), report=tell)
    tell("reading the index")
    chunks = read_chunks(settings)
    asked = asked_of(chunks, held_out=False, seed=seed)[:questions]
    held = asked_of(chunks, held_out=True, seed=0)[:HELD_OUT_QUESTIONS]
    if not asked:
        raise InvalidRequestError(
            "Every file of the index is held out for measuring, so there is nothing to train from.",
            f"Index more with `{settings.ingest_command}`.",
        )
    sha256 = _sha256(chunks, asked)
    tell(f"training data: {len(asked):,} questions, {len(held):,} held out, sha256 {sha256}")
    plan = Plan(seed=seed, epochs=epochs)
    about = About(
        base=MODEL,
        base_sha256=MINILM_WEIGHTS.sha256[WEIGHTS],
        rank=plan.rank,
        alpha=plan.alpha,
        tokens=plan.tokens,
        question_tokens=plan.tokens,
        data_sha256=sha256,
        questions=len(asked),
        pairs=0,
        seed=plan.seed,
        license=LICENSE,
        product_version=__version__,
    )
    trained = train(folder, HEADS, chunks, asked, plan, about, tell=tell)
    # Where no step was made, the adapter changes nothing, and a file that is there may be a better one.
    if trained.losses:
        write_adapter(trained.adapter, out)
    before = after = None
    if held and not trained.interrupted:
        tell(f"asking {len(held)} held-out questions with the written adapter")
        written = MiniLmEmbedder(dense.model_copy(update={"question_adapter": out}), settings.paths.models)
        before = found_by(lambda one: one.vector.tolist(), chunks, held)
        after = found_by(lambda one: written.embed_question(one.text), chunks, held)
    return QuestionReport(
        data_sha256=sha256,
        questions=len(asked),
        held_out=len(held),
        seconds=trained.seconds,
        loss=recent_loss(trained.losses),
        before=before,
        after=after,
        interrupted=trained.interrupted,
        written=bool(trained.losses),
    )


def found_by(encode: Callable[[Asked], Sequence[float]], chunks: Sequence[Chunk], asked: Sequence[Asked]) -> Found:
    """How well the vectors of some questions find the chunks that the questions were written for; twins do not count.

    Args:
        encode: Makes the vector of a question.
        chunks: All chunks.
        asked: The questions, at least one.
    """
    ranks = list(_ranks(encode, chunks, asked))
    return Found(float(np.mean([1 / rank for rank in ranks])), float(np.mean([rank <= CUT for rank in ranks])))


def _ranks(
    encode: Callable[[Asked], Sequence[float]], chunks: Sequence[Chunk], asked: Sequence[Asked]
) -> Iterator[int]:
    passages, may = Passages(chunks), MayAnswer(chunks)
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        _, best = passages.compared(np.array([encode(one) for one in batch], dtype=np.float32))
        for row, one in zip(best, batch, strict=True):
            own = row[one.chunk]
            row[list(may.twins(one.chunk))] = -np.inf
            # Of equal scores, the right one counts as the last.
            yield 1 + int(np.sum(row >= own))


def _sha256(chunks: Sequence[Chunk], asked: Sequence[Asked]) -> str:
    """The hash of all questions, in their order, and of the texts of all chunks."""
    digest = hashlib.sha256()
    for text in (*(one.text for one in asked), *(chunk.key for chunk in chunks)):
        data = text.encode("utf-8", "replace")
        # The length separates two texts.
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()
