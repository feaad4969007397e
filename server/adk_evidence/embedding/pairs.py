"""Scores how well a text answers a question: an encoder that reads both at once, changed by an adapter.

The changes are added to the weights before these are quantised, so that a pair takes as long as a text takes the
encoder itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adk_evidence.embedding.adapted import adapted_graph
from adk_evidence.embedding.adapter import READER, Adapter, other_adapter
from adk_evidence.embedding.base import encodable
from adk_evidence.embedding.bert import Ranges
from adk_evidence.embedding.graphs import does_not_load
from adk_evidence.embedding.minilm import open_session, open_tokenizer, runs_of
from adk_evidence.errors import ModelError

# What lies behind so many characters is behind the last token that is read.
_MAX_CHARS = 4_000


@dataclass(frozen=True)
class Pair:
    """The tokens of `[CLS] question [SEP] text [SEP]`; `second` is the place of the first token of the text."""

    ids: tuple[int, ...]
    second: int

    @property
    def types(self) -> list[int]:
        """The token type of each token: 0 in the question, 1 in the text."""
        return [0] * self.second + [1] * (len(self.ids) - self.second)


class PairTokenizer:
    """Makes pairs of questions and texts, of at most `tokens` tokens, of which the question has `question_tokens`."""

    def __init__(self, folder: Path, tokens: int, question_tokens: int) -> None:
        self._tokenizer = open_tokenizer(folder)
        self._begin, self._end = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        self._tokens = tokens
        # The text keeps some room, whatever an adapter says.
        self._question_tokens = min(question_tokens, tokens // 2)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text, without special ones and cut to what a pair can hold."""
        batch = [encodable(text[:_MAX_CHARS]) for text in texts]
        return [one.ids[: self._tokens] for one in self._tokenizer.encode_batch(batch, add_special_tokens=False)]

    def pair(self, question: Sequence[int], text: Sequence[int]) -> Pair:
        """A pair of what `ids` made."""
        first = (self._begin, *question[: self._question_tokens], self._end)
        return Pair((*first, *text[: self._tokens - len(first) - 1], self._end), len(first))


class PairModel:
    """A tokeniser and the graph of an adapter. Safe between threads.

    Args:
        folder: A prepared folder, which gets the adapter's graph (11 MB) the first time.
        adapter: The adapter.
        heads: Number of attention heads of the encoder.
        ranges: How far the encoder's states reach.

    Raises:
        ModelError: The adapter does not fit the weights, the folder cannot be written, or the graph does not load.
    """

    def __init__(self, folder: Path, adapter: Adapter, heads: int, ranges: Ranges) -> None:
        about = adapter.about
        graph = adapted_graph(folder, adapter, heads, ranges)
        try:
            self._session: Any = open_session(graph)
            self._tokenizer = PairTokenizer(folder, about.tokens, about.question_tokens)
        # The exceptions of ONNX Runtime and tokenizers have no common base.
        except Exception as exc:
            raise does_not_load(graph, exc) from exc
        head, self._bias = adapter.head, adapter.bias
        if head is None or self._session.get_outputs()[0].shape[-1] != len(head):
            raise ModelError("The adapter's head does not fit the weights.", "Train the adapter anew.")
        self._head = head.astype(np.float64)

    def scores(self, question: str, texts: Sequence[str], workers: Executor) -> list[float]:
        """A score for each text, higher is better; a score does not depend on the other texts.

        Raises:
            ModelError: A score is no number.
        """
        [asked], found = self._tokenizer.ids([question]), self._tokenizer.ids(texts)
        pairs = [self._tokenizer.pair(asked, ids) for ids in found]
        lengths = [len(pair.ids) for pair in pairs]
        by_length = sorted(range(len(pairs)), key=lengths.__getitem__, reverse=True)
        runs = list(runs_of(by_length, lengths.__getitem__))
        answers = workers.map(lambda run: self._run([pairs[place] for place in run]), runs)
        scores = [0.0] * len(pairs)
        for places, answer in zip(runs, answers, strict=True):
            for place, score in zip(places, answer, strict=True):
                scores[place] = score
        if not all(map(math.isfinite, scores)):
            raise ModelError("The adapter makes scores that are no numbers.", other_adapter(READER))
        return scores

    def _run(self, pairs: Sequence[Pair]) -> list[float]:
        """The scores of pairs of the same number of tokens."""
        ids = np.array([pair.ids for pair in pairs], dtype=np.int64)
        types = np.array([pair.types for pair in pairs], dtype=np.int64)
        [states] = self._session.run(None, {"input_ids": ids, "token_type_ids": types})
        scores: list[float] = (states[:, 0].astype(np.float64) @ self._head + self._bias).tolist()
        return scores
