"""The trainer of an adapter for questions: each is brought nearer to the passages that answer it.

The vectors of passages stay as the index has them, so that all chunks can be compared with a question at once: the loss
is a softmax over the most similar passage of every chunk (query-side fine-tuning, Lee et al. 2021).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.embedding.minilm.adapter import About, Adapter
from adk_evidence.embedding.minilm.model import open_tokenizer, tokens_of
from tests.quality.training.chunks import Asked, Chunk, MayAnswer, Passages, Tell
from tests.quality.training.network import TELL_SECONDS, Descent, LowRankBert, padded, recent_loss, torch_library


@dataclass(frozen=True)
class Plan:
    """How a training goes.

    - `epochs`: how often each question is asked.
    - `tokens`: of a question, at most.
    - `questions`: how many questions a step has.
    - `temperature`: cosines are divided by it before the softmax.
    - `dropout`: the share of the numbers of states that a step drops.
    """

    seed: int = 0
    epochs: int = 2
    rank: int = 8
    alpha: float = 16.0
    tokens: int = 64
    questions: int = 64
    rate: float = 3e-4
    temperature: float = 0.05
    dropout: float = 0.1


@dataclass(frozen=True)
class Trained:
    """The adapter, the losses of all steps, how long they took, and whether Ctrl+C came."""

    adapter: Adapter
    losses: tuple[float, ...]
    seconds: float
    interrupted: bool


def train(
    folder: Path,
    heads: int,
    chunks: Sequence[Chunk],
    asked: Sequence[Asked],
    plan: Plan,
    about: About,
    *,
    tell: Tell = lambda sentence: None,
) -> Trained:
    """Train an adapter until every question was asked `plan.epochs` times, or Ctrl+C is pressed.

    Args:
        folder: A folder with the encoder's weights and tokeniser.
        heads: The encoder's number of attention heads.
        chunks: What may answer; those of held-out files take no part.
        asked: The questions, at least one.
        plan: How the training goes.
        about: What the adapter's file says, but for the number of questions that were read.
        tell: Gets a sentence from time to time.

    Raises:
        TorchMissingError: torch is not installed.
    """
    torch = torch_library()
    network = LowRankBert(torch, folder, heads, rank=plan.rank, alpha=plan.alpha, seed=plan.seed, dropout=plan.dropout)
    tokenizer, compare = open_tokenizer(folder), _Comparison(chunks, plan.temperature)
    random = np.random.default_rng(plan.seed)
    steps = plan.epochs * math.ceil(len(asked) / plan.questions)
    descent = Descent(torch, network.trained, plan.rate, steps)
    losses: list[float] = []
    read, interrupted = 0, False
    begin = told = time.monotonic()
    try:
        for _ in range(plan.epochs):
            order = random.permutation(len(asked))
            for start in range(0, len(order), plan.questions):
                batch = [asked[place] for place in order[start : start + plan.questions]]
                ids, mask = padded(tokens_of(tokenizer, [one.text for one in batch], plan.tokens))
                vectors = _means(torch, network.states(ids, mask, learn=True), mask)
                loss, gradient = compare.loss(vectors.detach().cpu().numpy(), batch)
                slope = torch.from_numpy(gradient).to(network.device)
                descent.step(len(losses) / steps, partial(vectors.backward, slope))
                losses.append(loss)
                read += len(batch)
                now = time.monotonic()
                if now - told > TELL_SECONDS:
                    told, left = now, (now - begin) * (steps - len(losses)) / len(losses)
                    tell(
                        f"step {len(losses):,} of {steps:,}: loss {recent_loss(losses):.3f}, "
                        f"{read / (now - begin):.0f} questions/s, about {left:,.0f} s left"
                    )
    except KeyboardInterrupt:
        interrupted = True
    adapter = Adapter(network.layers(), about.model_copy(update={"pairs": read}))
    return Trained(adapter, tuple(losses), time.monotonic() - begin, interrupted)


class _Comparison:
    """Compares questions with all chunks."""

    def __init__(self, chunks: Sequence[Chunk], temperature: float) -> None:
        self._may, self._passages, self._temperature = MayAnswer(chunks), Passages(chunks), temperature
        self._held_out = np.array([chunk.is_held_out for chunk in chunks])

    def loss(self, vectors: FloatMatrix, batch: Sequence[Asked]) -> tuple[float, FloatMatrix]:
        """The mean cross-entropy of questions, and its gradient by their vectors, of shape (questions, dimension).

        Each question has its own chunk against those that surely do not answer.
        """
        rows, own = np.arange(len(batch)), [one.chunk for one in batch]
        near, best = self._passages.compared(vectors)
        scores = best / self._temperature
        out = np.stack([self._may.of(one) | self._held_out for one in batch])
        out[rows, own] = False
        scores[out] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        sums = shares.sum(axis=1, keepdims=True)
        loss = float(np.mean(np.log(sums[:, 0]) - scores[rows, own]))
        shares /= sums
        shares[rows, own] -= 1
        by_chunk = shares / (self._temperature * len(batch))
        counts = self._passages.counts
        is_best = near == np.repeat(best, counts, axis=1)
        gradient: FloatMatrix = (np.repeat(by_chunk, counts, axis=1) * is_best) @ self._passages.vectors
        return loss, gradient.astype(np.float32)


def _means(torch: Any, states: Any, mask: NDArray[np.int64]) -> Any:
    """The vectors of texts: the L2-normalised means of the states of their tokens."""
    kept = torch.from_numpy(mask).to(states.device)[:, :, None]
    return torch.nn.functional.normalize((states * kept).sum(1) / kept.sum(1), dim=-1)
