"""BM25 term weights through FastEmbed, offline; the store multiplies in the inverse document frequency."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from adk_evidence.embedding.base import Once, SparseVector
from adk_evidence.settings import SparseSettings, config_file

MODEL = "Qdrant/bm25"
STOPWORDS_FILE = "stopwords.txt"

_WORD = re.compile(r"\w+")


def load_stopwords() -> frozenset[str]:
    """The words of config/stopwords.txt; see `load_words`."""
    return load_words(STOPWORDS_FILE)


@functools.cache
def load_words(name: str) -> frozenset[str]:
    """The words of a list among the configuration files, as they stand there; the rest of a line after # is a comment.

    Raises:
        SettingsError: The installation lacks the file.
    """
    lines = config_file(name).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


class Bm25Encoder:
    """The local `SparseEncoder`: English stems, our own stop words, term ids by hash.

    FastEmbed makes the terms. Terms are counted here, by FastEmbed's formula: a corpus repeats the same few words, and
    stemming each of them once takes a quarter of the time that FastEmbed takes for all.

    FastEmbed is loaded at first use; methods may be called from threads.
    """

    def __init__(self, settings: SparseSettings) -> None:
        self._settings = settings
        self._encoder = Once(self._open)
        self._term = functools.lru_cache(maxsize=1 << 16)(self._look_up)

    @property
    def model(self) -> str:
        """Name of the model and of the parameters that change its vectors."""
        settings = self._settings
        words = "\n".join(sorted(load_stopwords())) if settings.stopwords else ""
        return (
            f"{MODEL};k={settings.k:g};b={settings.b:g};avg_len={settings.avg_len_docs:g}/{settings.avg_len_code:g}"
            f";stopwords={hashlib.sha256(words.encode()).hexdigest()[:12]}"
        )

    @property
    def requires_idf(self) -> bool:
        """True: the store applies its IDF modifier."""
        return True

    @property
    def exact_terms(self) -> bool:
        """True: a term is a word's stem."""
        return True

    def has_terms(self, text: str) -> bool:
        """Whether a lexical text holds a word that is not a stop word."""
        return any(self._term(match.group()) is not None for match in _WORD.finditer(text.lower()))

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        """Encode lexical texts of kind `doc` or `code`; a text without terms gives an empty vector."""
        average = self._settings.avg_len_docs if kind == "doc" else self._settings.avg_len_code
        return [self._encode(text, average) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        """Encode one query's lexical text: every distinct term counts 1."""
        terms = sorted(set(self._counts(text)))
        return SparseVector(tuple(terms), (1.0,) * len(terms))

    def _encode(self, text: str, average_length: float) -> SparseVector:
        counts = self._counts(text)
        k, b = self._settings.k, self._settings.b
        norm = k * (1 - b + b * counts.total() / average_length)
        terms = sorted(counts)
        return SparseVector(tuple(terms), tuple(counts[term] * (k + 1) / (counts[term] + norm) for term in terms))

    def _counts(self, text: str) -> Counter[int]:
        """How often each term is there, by its id."""
        counts: Counter[int] = Counter()
        for word, count in Counter(_WORD.findall(text.lower())).items():
            term = self._term(word)
            if term is not None:
                counts[term] += count
        return counts

    def _look_up(self, word: str) -> int | None:
        """The id of a word's stem; None for a stop word and for what FastEmbed leaves out."""
        return next((int(index) for index in next(iter(self._encoder().query_embed(word))).indices), None)

    def _open(self) -> Any:
        from fastembed import SparseTextEmbedding

        settings = self._settings
        # Without a path FastEmbed would look for its own stop words on the hub, for 40 s where there is none.
        folder = str(config_file(STOPWORDS_FILE).parent)
        return SparseTextEmbedding(
            MODEL,
            cache_dir=folder,
            specific_model_path=folder,
            stopwords=set(load_stopwords()) if settings.stopwords else set(),
        )
