"""BM25 term weights, the same as FastEmbed's; the store multiplies in the inverse document frequency."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import mmh3
from py_rust_stemmers import SnowballStemmer

from adk_evidence.embedding.base import SparseVector
from adk_evidence.paths import config_file

MODEL = "Qdrant/bm25"
STOPWORDS_FILE = "stopwords.txt"
# BM25's usual constants, which FastEmbed has, too.
K = 1.2
B = 0.75
# Mean lengths in terms. Fixed, so that a chunk's vector does not depend on its neighbours.
DOCS_LENGTH = 220.0
CODE_LENGTH = 190.0
# FastEmbed leaves out longer words.
_MOST_CHARS = 40

_WORD = re.compile(r"\w+")


def load_stopwords() -> frozenset[str]:
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

    Terms and weights are those of `fastembed.sparse.bm25.Bm25`, with the stemmer and the hash that it uses, but for a
    Greek capital sigma before a sign. FastEmbed itself takes a second to load, in which it loads its models of images
    and goes through all of Unicode; and a corpus repeats the same few words, which are stemmed once here.
    """

    requires_idf = True
    exact_terms = True

    def __init__(self, code_length: float = CODE_LENGTH) -> None:
        self._code_length = code_length
        self._stopwords = load_stopwords()
        self._stem = SnowballStemmer("english").stem_word
        self._term = functools.lru_cache(maxsize=1 << 16)(self._look_up)

    def __reduce__(self) -> tuple[type[Bm25Encoder], tuple[float]]:
        return Bm25Encoder, (self._code_length,)

    @property
    def model(self) -> str:
        words = "\n".join(sorted(self._stopwords))
        return (
            f"{MODEL};k={K:g};b={B:g};avg_len={DOCS_LENGTH:g}/{self._code_length:g}"
            f";stopwords={hashlib.sha256(words.encode()).hexdigest()[:12]}"
        )

    def has_terms(self, text: str) -> bool:
        return any(self._term(match.group()) is not None for match in _WORD.finditer(text.lower()))

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        average = DOCS_LENGTH if kind == "doc" else self._code_length
        return [self._encode(text, average) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        """Encode one query's lexical text: every distinct term counts 1."""
        return SparseVector.of(dict.fromkeys(self._counts(text), 1.0))

    def _encode(self, text: str, average_length: float) -> SparseVector:
        counts = self._counts(text)
        norm = K * (1 - B + B * counts.total() / average_length)
        return SparseVector.of({term: count * (K + 1) / (count + norm) for term, count in counts.items()})

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
        # Of all punctuation, the pattern of words lets the underscore through.
        if word == "_" or len(word) > _MOST_CHARS or word in self._stopwords:
            return None
        stem = self._stem(word)
        return abs(mmh3.hash(stem)) if stem else None
