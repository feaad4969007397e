"""The trainer of a reader: low-rank changes of every linear layer and a head.

The loss is a softmax over the passage that answers a question and some that do not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.adapter import About, Adapter
from adk_evidence.embedding.pairs import Pair, PairTokenizer
from adk_evidence_eval.adapters.chunks import Tell
from adk_evidence_eval.adapters.network import TELL_SECONDS, Descent, LowRankBert, padded, recent_loss, stored
from adk_evidence_eval.adapters.reader_data import HeldOut, TrainingData
from adk_evidence_eval.extra import training_library


@dataclass(frozen=True)
class Plan:
    """How a training goes.

    - `minutes`: when to end, even if not all examples were seen.
    - `negatives`: how many passages that do not answer are read with each that does.
    - `questions`: how many questions a step has.
    - `checks`: how often the choosing questions are asked on the way; the adapter that answers best is kept.
    """

    seed: int = 0
    minutes: float | None = None
    rank: int = 16
    alpha: float = 32.0
    tokens: int = 128
    question_tokens: int = 40
    negatives: int = 5
    questions: int = 8
    rate: float = 6e-4
    checks: int = 8


@dataclass(frozen=True)
class Trained:
    """The best adapter, the losses of all steps, how many pairs were read in how long, and whether Ctrl+C came."""

    adapter: Adapter
    losses: tuple[float, ...]
    pairs: int
    seconds: float
    interrupted: bool


def train(
    folder: Path,
    heads: int,
    data: TrainingData,
    plan: Plan,
    about: About,
    *,
    tell: Tell = lambda sentence: None,
    keep: Callable[[Adapter], None] = lambda adapter: None,
) -> Trained:
    """Train an adapter with every example once, or until the time is spent or Ctrl+C is pressed.

    Args:
        folder: A folder with the encoder's weights and tokeniser.
        heads: The encoder's number of attention heads.
        data: Examples, at least one, and held-out questions.
        plan: How the training goes.
        about: What the adapter's file says, but for the number of pairs.
        tell: Gets a sentence from time to time.
        keep: Gets each adapter that is the best so far, at least one.

    Raises:
        EvaluationMissingError: torch is not installed.
    """
    torch = training_library()
    network, reading = _Network(torch, folder, heads, plan), _Pairs(folder, data, plan)
    random = np.random.default_rng(plan.seed)
    steps = math.ceil(len(data.examples) / plan.questions)
    descent = Descent(torch, network.trained, plan.rate, steps)
    due = {math.ceil(steps * check / plan.checks) for check in range(1, plan.checks + 1)}
    losses: list[float] = []
    pairs, best, reached, interrupted = 0, None, -1.0, False
    begin = told = time.monotonic()

    def spent() -> float:
        """The share of the time that is spent."""
        return (time.monotonic() - begin) / (60 * plan.minutes) if plan.minutes else 0.0

    def adapter() -> Adapter:
        return network.adapter(about.model_copy(update={"pairs": pairs}))

    try:
        for step in range(1, steps + 1):
            share = max((step - 1) / steps, spent())
            chosen = data.examples[(step - 1) * plan.questions : step * plan.questions]
            batch = [pair for example in chosen for pair in reading.drawn(example, plan.negatives, random)]
            scores = network.scores(batch).view(len(chosen), -1)
            right = torch.zeros(len(chosen), dtype=torch.long, device=scores.device)
            loss = torch.nn.functional.cross_entropy(scores, right)
            descent.step(share, loss.backward)
            losses.append(float(loss))
            pairs += len(batch)
            share, now = max(step / steps, spent()), time.monotonic()
            if now - told > TELL_SECONDS:
                told, left = now, (now - begin) * (1 - share) / share
                tell(
                    f"step {step:,} of {steps:,}: loss {recent_loss(losses):.3f}, "
                    f"{pairs / (now - begin):.1f} pairs/s, about {max(0.0, left):,.0f} s left"
                )
            if step in due or share >= 1:
                found = _mrr(network, reading, data.choosing)
                tell(f"step {step:,} of {steps:,}: MRR {found:.3f} on the choosing questions")
                # Of states that rank alike, the later one has seen more.
                if found >= reached:
                    best, reached = adapter(), found
                    keep(best)
            if share >= 1:
                break
    except KeyboardInterrupt:
        interrupted = True
    if best is None:
        best = adapter()
        keep(best)
    return Trained(best, tuple(losses), pairs, time.monotonic() - begin, interrupted)


def _mrr(network: _Network, reading: _Pairs, questions: Sequence[HeldOut]) -> float:
    """The mean reciprocal rank of what answers, by the reader alone; 0 without questions."""
    found = [(network.read(reading.pool(question)), question.right) for question in questions]
    # Of equal scores, the right one counts as the last. Scores that are no numbers rank nothing.
    ranks = [np.sum(scores >= scores[right]) if np.isfinite(scores).all() else np.inf for scores, right in found]
    return float(np.mean([1 / rank for rank in ranks])) if found else 0.0


class _Pairs:
    """The pairs of examples and pools. Each text is tokenised once."""

    def __init__(self, folder: Path, data: TrainingData, plan: Plan) -> None:
        self._tokenizer = PairTokenizer(folder, plan.tokens, plan.question_tokens)
        self._texts = self._tokenizer.ids(data.texts)

    def drawn(self, example: Any, count: int, random: np.random.Generator) -> list[Pair]:
        """What answers, then `count` of the passages that do not, of which the best ones are drawn most often."""
        likely = 1 / np.arange(3, 3 + len(example.negatives))
        places = random.choice(example.negatives, count, replace=False, p=likely / likely.sum())
        return self._of(example.question, [example.positive, *places])

    def pool(self, question: HeldOut) -> list[Pair]:
        return self._of(question.question, question.pool)

    def _of(self, question: str, places: Sequence[int]) -> list[Pair]:
        [asked] = self._tokenizer.ids([question])
        return [self._tokenizer.pair(asked, self._texts[place]) for place in places]


class _Network(LowRankBert):
    """A low-rank BERT with a head, which makes a score of the state of [CLS]."""

    def __init__(self, torch: Any, folder: Path, heads: int, plan: Plan) -> None:
        super().__init__(torch, folder, heads, rank=plan.rank, alpha=plan.alpha, seed=plan.seed)
        self._head = self.learning(torch.randn(self.hidden) * 0.02)
        self._bias = self.learning(torch.zeros(1))
        self.trained = [*self.trained, self._head, self._bias]

    def read(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The scores of pairs, without learning from them."""
        with self.torch.no_grad():
            found: NDArray[np.float32] = self.scores(pairs).cpu().numpy()
        return found

    def scores(self, pairs: Sequence[Pair]) -> Any:
        """The scores of pairs, as a tensor."""
        ids, mask = padded([pair.ids for pair in pairs])
        types, _ = padded([pair.types for pair in pairs])
        states = self.states(ids, mask, types)
        return states[:, 0] @ self._head + self._bias

    def adapter(self, about: About) -> Adapter:
        """The changes and the head as they are now, in the precision of an adapter's file."""
        return Adapter(self.layers(), about, stored(self._head), float(stored(self._bias)[0]))
