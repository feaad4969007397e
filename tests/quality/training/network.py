"""BERT in torch, whose own weights stay, with low-rank changes of every linear layer (LoRA, Hu et al. 2021).

torch is imported when a training begins.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.minilm.adapter import LowRank
from adk_evidence.embedding.minilm.weights import WEIGHTS
from adk_evidence.errors import EvidenceError

_EPSILON = 1e-12  # of every layer normalisation
# The share of the training in which the learning rate rises, and the part of the rate that is left at the end.
_WARM_UP = 0.06
_LAST_RATE = 0.02
_DECAY = 0.01
_GRADIENT = 1.0  # the largest norm of a step's gradient
TELL_SECONDS = 20.0  # between two sentences on the way
_RECENT = 50  # the steps whose mean loss is told
_LINEAR = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


def padded(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers in rows of the length of the longest, with zeros behind, and which of them are given, as ones."""
    numbers = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(numbers)
    for place, row in enumerate(rows):
        numbers[place, : len(row)] = row
        mask[place, : len(row)] = 1
    return numbers, mask


class TorchMissingError(EvidenceError):
    """torch is not installed."""

    code = "training_missing"
    exit_code = 2


def torch_library() -> Any:
    """torch.

    Raises:
        TorchMissingError: The library is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError as exc:
        message = "A training needs torch, which is not installed."
        raise TorchMissingError(message, "Run `pip install --group train`.") from exc


class LowRankBert:
    """The forward pass; `trained` are the tensors that learn. On a GPU where there is one.

    Args:
        torch: The library.
        folder: A folder with the encoder's weights.
        heads: The encoder's number of attention heads.
        rank: Of the changes.
        alpha: Divided by the rank, it is what the changes are multiplied with.
        seed: Decides where the training begins, and what is dropped.
        dropout: The share of the numbers of states that a training step drops.
    """

    def __init__(
        self, torch: Any, folder: Path, heads: int, *, rank: int, alpha: float, seed: int, dropout: float = 0.0
    ) -> None:
        from safetensors.numpy import load_file

        self.torch, self._heads, self._scale, self._dropout = torch, heads, alpha / rank, dropout
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(seed)
        self._fixed = {
            name: torch.from_numpy(value).to(self.device)
            for name, value in load_file(folder / WEIGHTS).items()
            if value.dtype == np.float32
        }
        self._depth = 0
        self._low: dict[str, tuple[Any, Any]] = {}
        while f"encoder.layer.{self._depth}.output.dense.weight" in self._fixed:
            for name in (f"encoder.layer.{self._depth}.{linear}.weight" for linear in _LINEAR):
                outer, inner = self._fixed[name].shape
                # With one of the two at zero, the training begins at the encoder as it is.
                down = torch.randn(rank, inner) / math.sqrt(inner)
                self._low[name] = self._learning(down), self._learning(torch.zeros(outer, rank))
            self._depth += 1
        self.hidden = self._fixed["embeddings.word_embeddings.weight"].shape[1]
        self.trained = [one for pair in self._low.values() for one in pair]

    def states(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        *,
        learn: bool = False,
    ) -> Any:
        """The last states, of shape (texts, tokens, hidden); `learn` says whether some numbers are dropped."""
        functional = self.torch.nn.functional
        rows, kept = (self.torch.from_numpy(one).to(self.device) for one in (ids, mask))
        words, positions, both = (
            self._fixed[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )

        def dropped(states: Any) -> Any:
            return functional.dropout(states, self._dropout) if learn and self._dropout else states

        states = self._normalised(words[rows] + positions[: ids.shape[1]] + both[0], "embeddings.LayerNorm")
        states = dropped(states)
        for at in (f"encoder.layer.{layer}" for layer in range(self._depth)):
            query, key, value = (
                self._linear(states, f"{at}.attention.self.{name}").view(*ids.shape, self._heads, -1).transpose(1, 2)
                for name in ("query", "key", "value")
            )
            context = functional.scaled_dot_product_attention(query, key, value, attn_mask=kept[:, None, None].bool())
            joined = context.transpose(1, 2).reshape(*ids.shape, -1)
            attended = dropped(self._linear(joined, f"{at}.attention.output.dense"))
            states = self._normalised(attended + states, f"{at}.attention.output.LayerNorm")
            inner = functional.gelu(self._linear(states, f"{at}.intermediate.dense"))
            made = dropped(self._linear(inner, f"{at}.output.dense"))
            states = self._normalised(made + states, f"{at}.output.LayerNorm")
        return states

    def layers(self) -> dict[str, LowRank]:
        """The changes as they are now, in the precision of an adapter's file."""
        return {name: LowRank(_stored(down), _stored(up)) for name, (down, up) in self._low.items()}

    def _learning(self, tensor: Any) -> Any:
        """A tensor that learns."""
        return tensor.to(self.device).requires_grad_()

    def _linear(self, states: Any, name: str) -> Any:
        linear = self.torch.nn.functional.linear
        down, up = self._low[f"{name}.weight"]
        fixed = linear(states, self._fixed[f"{name}.weight"], self._fixed[f"{name}.bias"])
        return fixed + self._scale * linear(linear(states, down), up)

    def _normalised(self, states: Any, name: str) -> Any:
        weight, bias = self._fixed[f"{name}.weight"], self._fixed[f"{name}.bias"]
        return self.torch.nn.functional.layer_norm(states, (self.hidden,), weight, bias, _EPSILON)


class Descent:
    """AdamW, whose rate rises at first and then falls in proportion to what is left of the training.

    Args:
        torch: The library.
        tensors: What learns.
        rate: The highest learning rate.
        steps: How many steps the training has at most.
    """

    def __init__(self, torch: Any, tensors: Sequence[Any], rate: float, steps: int) -> None:
        self._torch, self._tensors, self._rate, self._steps = torch, tensors, rate, steps
        self._optimiser = torch.optim.AdamW(tensors, lr=rate, weight_decay=_DECAY)

    def step(self, share: float, backward: Callable[[], object]) -> None:
        """Take a step when a share of the training is done; `backward` computes the gradients."""
        rising = min(1.0, (share + 1 / self._steps) / _WARM_UP)
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate * rising * max(_LAST_RATE, 1 - share)
        self._optimiser.zero_grad()
        backward()
        self._torch.nn.utils.clip_grad_norm_(self._tensors, _GRADIENT)
        self._optimiser.step()


def recent_loss(losses: Sequence[float]) -> float:
    """The mean loss of the last steps; 0 before the first one."""
    return float(np.mean(losses[-_RECENT:])) if losses else 0.0


def _stored(tensor: Any) -> NDArray[np.float32]:
    """The numbers of a tensor in the precision of an adapter's file."""
    values: NDArray[np.float32] = tensor.detach().cpu().numpy().astype(np.float16).astype(np.float32)
    return values
