"""BM25 term weights through FastEmbed, offline; the inverse document frequency is the store's part."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Sequence
from typing import Any

from adk_evidence.embedding.base import SparseVector
from adk_evidence.settings import SparseSettings, config_file

MODEL = "Qdrant/bm25"
STOPWORDS_FILE = "stopwords.txt"


@functools.cache
def load_stopwords() -> frozenset[str]:
    """The words of config/stopwords.txt, lower-case.

    Raises:
        SettingsError: The installation lacks the file.
    """
    lines = config_file(STOPWORDS_FILE).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


def sparse_model_name(settings: SparseSettings) -> str:
    """The encoder's name with every parameter that changes a vector."""
    words = "\n".join(sorted(load_stopwords())) if settings.stopwords else ""
    return (
        f"{MODEL};k={settings.k:g};b={settings.b:g};avg_len={settings.avg_len_docs:g}/{settings.avg_len_code:g}"
        f";stopwords={hashlib.sha256(words.encode()).hexdigest()[:12]}"
    )


class Bm25Encoder:
    """The local `SparseEncoder`: English stems, our own stop words, term ids by hash.

    FastEmbed is loaded at first use; methods may be called from threads.
    """

    def __init__(self, settings: SparseSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._encoders: dict[str, Any] = {}

    @property
    def model(self) -> str:
        """Name of the model and of the parameters that change its vectors."""
        return sparse_model_name(self._settings)

    @property
    def requires_idf(self) -> bool:
        """True: the store applies its IDF modifier."""
        return True

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        """Encode lexical texts of kind `doc` or `code`; a text without terms gives an empty vector."""
        return [_sorted(item) for item in self._encoder(kind).embed(list(texts))]

    def encode_query(self, text: str) -> SparseVector:
        """Encode one query's lexical text: every distinct term counts 1."""
        return _sorted(next(iter(self._encoder("doc").query_embed(text))))

    def _encoder(self, kind: str) -> Any:
        with self._lock:
            if kind not in self._encoders:
                self._encoders[kind] = self._open(kind)
            return self._encoders[kind]

    def _open(self, kind: str) -> Any:
        from fastembed import SparseTextEmbedding

        settings = self._settings
        # Without a path FastEmbed would look for its own stop words on the hub, for 40 s where there is none.
        folder = str(config_file(STOPWORDS_FILE).parent)
        return SparseTextEmbedding(
            MODEL,
            cache_dir=folder,
            specific_model_path=folder,
            k=settings.k,
            b=settings.b,
            avg_len=settings.avg_len_docs if kind == "doc" else settings.avg_len_code,
            stopwords=set(load_stopwords()) if settings.stopwords else set(),
        )


def _sorted(item: Any) -> SparseVector:
    # FastEmbed gives ids in the order of a dict or set, and int64 ones for a query. Terms whose hashes
    # collide already share one entry there.
    pairs = sorted(zip(item.indices.tolist(), item.values.tolist(), strict=True))
    return SparseVector(tuple(index for index, _ in pairs), tuple(float(value) for _, value in pairs))
