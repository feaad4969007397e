"""The files of an index with chunks whose questions changed since they were indexed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import KINDS
from adk_evidence.settings import Settings
from adk_evidence.store.base import scroll_all
from adk_evidence.store.factory import open_reader
from adk_evidence.store.generations import Generation
from adk_ingest.questions import WrittenQuestions, written_questions

_FIELDS = ("corpus", "origin", "path", "source_hash", "questions")
# A file of the index: the name of its corpus, and its path.
File = tuple[str, str]


def files_with_new_questions(generation: Generation, settings: Settings) -> frozenset[File]:
    """The files of a published generation that hold a text for which questions were written on this machine since.

    What the table of the product says by the name of a chunk is part of the index's fingerprint instead.
    """
    written = written_questions(settings)
    # Reading every chunk takes a third of a second for the ADK.
    return frozenset(_files(generation, settings, written)) if written.has_answers else frozenset()


def _files(generation: Generation, settings: Settings, written: WrittenQuestions) -> Iterator[File]:
    with closing(open_reader(generation.folder, settings)) as store:
        for kind in KINDS:
            try:
                for record in scroll_all(store, settings.store.collection(kind), with_payload=_FIELDS):
                    payload = record.payload
                    found = written.answer(payload["source_hash"])
                    if found is None or payload["origin"] == "api-reference":
                        continue
                    if found != tuple(payload.get("questions", ())):
                        yield payload["corpus"], payload["path"]
            except CollectionUnavailableError:
                # A run that needs the collection says what is wrong with it.
                continue
