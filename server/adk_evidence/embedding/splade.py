"""SPLADE through FastEmbed: learned sparse vectors, also of texts that are longer than the model reads.

FastEmbed silently cuts a text after 512 tokens. Here a longer text is read in windows whose vectors are max-pooled,
as SPLADE pools over the tokens of a text, or it is cut and counted. The weights of [CLS], [SEP] and other special
tokens, which every text has, are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adk_evidence.embedding.base import Once, SparseVector, encodable
from adk_evidence.embedding.fastembed_models import open_model
from adk_evidence.embedding.minilm.weights import Report
from adk_evidence.settings import DenseSettings

MODEL = "prithivida/Splade_PP_en_v1"
# The model reads 512 tokens. Longer texts are read in windows that share so many tokens, and a term counts as much as
# in the window where it counts most.
WINDOW_OVERLAP = 32

_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class _Loaded:
    model: Any
    tokenizer: Any  # without truncation and padding
    room: int  # tokens that a window has besides the special ones
    special: frozenset[int]


class SpladeEncoder:
    """A `SparseEncoder` that runs a model, `batch_size` windows in one pass; memory grows with their number.

    `settings` say where the model is, and how many threads it may take.
    """

    requires_idf = False  # the model has learned how rare its terms are
    exact_terms = False  # a text's vector holds related terms, and terms are pieces of words

    def __init__(
        self,
        settings: DenseSettings,
        batch_size: int,
        models: Path,
        report: Report | None = None,
    ) -> None:
        self.model = f"{MODEL};long_text=pool/{WINDOW_OVERLAP};without_special_tokens"
        self._settings = settings
        self._batch_size = batch_size
        self._models = models
        self._report = report
        self._load = Once(self._open)

    def has_terms(self, text: str) -> bool:
        return _WORD.search(text) is not None

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        loaded = self._load()
        flat = [
            (number, window) for number, text in enumerate(texts) for window in self._windows(loaded, encodable(text))
        ]
        # Texts of similar length together: a batch is padded to its longest text.
        flat.sort(key=lambda item: -len(item[1]))
        windows = [window for _, window in flat]
        found = loaded.model.embed(windows, batch_size=self._batch_size) if windows else ()
        pooled: list[dict[int, float]] = [{} for _ in texts]
        for (number, _), vector in zip(flat, found, strict=True):
            weights = pooled[number]
            for index, value in zip(vector.indices.tolist(), vector.values.tolist(), strict=True):
                if index not in loaded.special and value > weights.get(index, 0.0):
                    weights[index] = value
        return [SparseVector.of(weights) for weights in pooled]

    def encode_query(self, text: str) -> SparseVector:
        return self.encode_documents([text], "query")[0]

    def _windows(self, loaded: _Loaded, text: str) -> list[str]:
        """The text as the model can read it, in parts that begin where a word does."""
        if not text.strip():
            return []
        offsets = loaded.tokenizer.encode(text, add_special_tokens=False).offsets
        if len(offsets) <= loaded.room:
            return [text]
        # Where a token begins a word: only there do the parts have the same tokens as the whole text.
        starts = [start for start, _ in offsets]
        words = [n for n, start in enumerate(starts) if start == 0 or text[start - 1].isspace()]
        spans = _windows(words, len(offsets), loaded.room, WINDOW_OVERLAP)
        return [text[starts[first] : offsets[last - 1][1]] for first, last in spans]

    def _open(self) -> _Loaded:
        from tokenizers import Tokenizer

        model = open_model("sparse", MODEL, self._settings, self._models, self._report)
        truncating = model.model.tokenizer
        limit = int(truncating.truncation["max_length"])
        tokenizer = Tokenizer.from_str(truncating.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        special = {index for index, token in tokenizer.get_added_tokens_decoder().items() if token.special}
        room = max(1, limit - tokenizer.num_special_tokens_to_add(False))
        return _Loaded(model, tokenizer, room, frozenset(special))


def _windows(words: Sequence[int], count: int, room: int, overlap: int) -> list[tuple[int, int]]:
    """Spans of at most `room` tokens that cover `count` tokens and end and begin at words where one begins in time.

    Neighbours share `overlap` tokens or a little less, at most half a window.
    """
    overlap = min(overlap, room // 2)
    beginnings = set(words)
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        last = min(first + room, count)
        if last < count:
            last = next((n for n in range(last, first + room // 2, -1) if n in beginnings), last)
        spans.append((first, last))
        if last == count:
            return spans
        first = next((n for n in range(max(first + 1, last - overlap), last) if n in beginnings), last)
