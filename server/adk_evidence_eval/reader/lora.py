"""The trainer: BERT in torch, whose own weights stay, with low-rank changes of every linear layer and a head.

torch is imported when a training begins. The loss is a softmax over the passage that answers a question and some that
do not.
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

from adk_evidence.embedding.adapter import About, Adapter, LowRank
from adk_evidence.embedding.minilm import WEIGHTS
from adk_evidence.embedding.pairs import Pair, PairTokenizer, padded
from adk_evidence_eval.extra import training_library
from adk_evidence_eval.reader.data import HeldOut, Tell, TrainingData

# The share of the training in which the learning rate rises, and the part of the rate that is left at the end.
_WARM_UP = 0.06
_LAST_RATE = 0.02
_DECAY = 0.01
_GRADIENT = 1.0  # the largest norm of a step's gradient
_EPSILON = 1e-12  # of every layer normalisation
_TELL_SECONDS = 20.0
_RECENT = 50  # the steps whose mean loss is told
_LINEAR = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


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
    optimiser = torch.optim.AdamW(network.trained, lr=plan.rate, weight_decay=_DECAY)
    steps = math.ceil(len(data.examples) / plan.questions)
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
            for group in optimiser.param_groups:
                group["lr"] = plan.rate * min(1.0, (share + 1 / steps) / _WARM_UP) * max(_LAST_RATE, 1 - share)
            chosen = data.examples[(step - 1) * plan.questions : step * plan.questions]
            batch = [pair for example in chosen for pair in reading.drawn(example, plan.negatives, random)]
            scores = network.scores(batch).view(len(chosen), -1)
            right = torch.zeros(len(chosen), dtype=torch.long, device=scores.device)
            loss = torch.nn.functional.cross_entropy(scores, right)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.trained, _GRADIENT)
            optimiser.step()
            losses.append(float(loss))
            pairs += len(batch)
            share, now = max(step / steps, spent()), time.monotonic()
            if now - told > _TELL_SECONDS:
                told, left = now, (now - begin) * (1 - share) / share
                tell(
                    f"step {step:,} of {steps:,}: loss {np.mean(losses[-_RECENT:]):.3f}, "
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


class _Network:
    """The forward pass; `trained` are the tensors that learn. On a GPU where there is one."""

    def __init__(self, torch: Any, folder: Path, heads: int, plan: Plan) -> None:
        from safetensors.numpy import load_file

        self._torch, self._heads, self._scale = torch, heads, plan.alpha / plan.rank
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(plan.seed)
        stored = load_file(folder / WEIGHTS)
        self._fixed = {
            name: torch.from_numpy(value).to(self._device)
            for name, value in stored.items()
            if value.dtype == np.float32
        }
        self._layers = 0
        self._low: dict[str, tuple[Any, Any]] = {}
        while f"encoder.layer.{self._layers}.output.dense.weight" in self._fixed:
            for name in (f"encoder.layer.{self._layers}.{linear}.weight" for linear in _LINEAR):
                outer, inner = self._fixed[name].shape
                # With one of the two at zero, the training begins at the encoder as it is.
                down = torch.randn(plan.rank, inner) / math.sqrt(inner)
                self._low[name] = self._learning(down), self._learning(torch.zeros(outer, plan.rank))
            self._layers += 1
        self._hidden = self._fixed["embeddings.word_embeddings.weight"].shape[1]
        self._head = self._learning(torch.randn(self._hidden) * 0.02)
        self._bias = self._learning(torch.zeros(1))
        self.trained = [*(one for pair in self._low.values() for one in pair), self._head, self._bias]

    def read(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The scores of pairs, without learning from them."""
        with self._torch.no_grad():
            found: NDArray[np.float32] = self.scores(pairs).cpu().numpy()
        return found

    def scores(self, pairs: Sequence[Pair]) -> Any:
        """The scores of pairs, as a tensor."""
        functional = self._torch.nn.functional
        rows = padded(pairs, max(len(pair.ids) for pair in pairs))
        ids, mask, types = (self._torch.from_numpy(row).to(self._device) for row in rows)
        kept = mask[:, None, None, :].bool()
        words, positions, kinds = (
            self._fixed[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        states = self._normalised(words[ids] + positions[: ids.shape[1]] + kinds[types], "embeddings.LayerNorm")
        for at in (f"encoder.layer.{layer}" for layer in range(self._layers)):
            query, key, value = (
                self._linear(states, f"{at}.attention.self.{name}").view(*ids.shape, self._heads, -1).transpose(1, 2)
                for name in ("query", "key", "value")
            )
            context = functional.scaled_dot_product_attention(query, key, value, attn_mask=kept)
            joined = context.transpose(1, 2).reshape(*ids.shape, -1)
            attended = self._linear(joined, f"{at}.attention.output.dense")
            states = self._normalised(attended + states, f"{at}.attention.output.LayerNorm")
            inner = functional.gelu(self._linear(states, f"{at}.intermediate.dense"))
            states = self._normalised(self._linear(inner, f"{at}.output.dense") + states, f"{at}.output.LayerNorm")
        return states[:, 0] @ self._head + self._bias

    def adapter(self, about: About) -> Adapter:
        """The changes and the head as they are now, in the precision of an adapter's file."""

        def stored(tensor: Any) -> NDArray[np.float32]:
            values: NDArray[np.float32] = tensor.detach().cpu().numpy().astype(np.float16).astype(np.float32)
            return values

        layers = {name: LowRank(stored(down), stored(up)) for name, (down, up) in self._low.items()}
        return Adapter(layers, stored(self._head), float(stored(self._bias)[0]), about)

    def _learning(self, tensor: Any) -> Any:
        return tensor.to(self._device).requires_grad_()

    def _linear(self, states: Any, name: str) -> Any:
        linear = self._torch.nn.functional.linear
        down, up = self._low[f"{name}.weight"]
        fixed = linear(states, self._fixed[f"{name}.weight"], self._fixed[f"{name}.bias"])
        return fixed + self._scale * linear(linear(states, down), up)

    def _normalised(self, states: Any, name: str) -> Any:
        weight, bias = self._fixed[f"{name}.weight"], self._fixed[f"{name}.bias"]
        return self._torch.nn.functional.layer_norm(states, (self._hidden,), weight, bias, _EPSILON)
