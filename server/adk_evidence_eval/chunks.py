"""The spans of an index's chunks, and the texts that golden spans point into."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from adk_evidence.index.opened import CurrentIndex, source_readers
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.settings import Settings
from adk_evidence.store.base import Filter, Match, scroll_all
from adk_evidence.store.factory import open_generations
from adk_evidence_eval.golden import is_docs
from adk_evidence_eval.run import Result, result_of


@contextmanager
def indexed_chunks(settings: Settings) -> Iterator[Callable[[str, str], Sequence[Result]]]:
    """A function from corpus and path to the spans of the file's indexed chunks.

    Raises:
        StoreError: There is no index, or it does not match the settings.
    """
    with closing(CurrentIndex(settings)) as current, current.pin() as index:

        @functools.cache
        def chunks_of(corpus: str, path: str) -> Sequence[Result]:
            collection = settings.store.collection("doc" if is_docs(corpus) else "code")
            records = scroll_all(index.store, collection, filter=Filter(must=(Match("path", (path,)),)))
            return [result_of(ChunkPayload.model_validate(record.payload)) for record in records]

        yield chunks_of


@contextmanager
def indexed_texts(settings: Settings) -> Iterator[Callable[[str, str], str | None]]:
    """A function from corpus and path to the current text of an indexed file, None where there is no such file.

    Raises:
        StoreError: There is no index.
        SourceError: From the function, where a whole corpus cannot be read.
    """
    with open_generations(settings).open_current() as lease:
        readers = source_readers(lease.manifest, lease.folder)
        yield lambda corpus, path: readers[corpus].read(path) if corpus in readers else None


@dataclass(frozen=True)
class IndexedFiles:
    """The current files of one indexed corpus, text by path, and what was indexed."""

    commit: str
    license: str | None
    texts: Mapping[str, str]


def indexed_files(settings: Settings) -> dict[str, IndexedFiles]:
    """The files of every indexed corpus, by the corpus's name; files that no longer exist are left out.

    Raises:
        StoreError: There is no index.
        SourceError: A whole corpus cannot be read.
    """
    with open_generations(settings).open_current() as lease:
        readers = source_readers(lease.manifest, lease.folder)
        found = {}
        for name, corpus in lease.manifest.corpora.items():
            texts = ((path, readers[name].read(path)) for path in sorted(corpus.files))
            known = {path: text for path, text in texts if text is not None}
            found[name] = IndexedFiles(corpus.commit, corpus.license, known)
        return found
