"""What a request names is read from the store to the last chunk."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from adk_evidence.search.candidates.lookup import read_hits
from adk_evidence.search.stages import Question
from adk_evidence.settings import load_settings
from adk_evidence.store.base import Filter, Match, Record
from tests.core.factories import payload


class _Pages:
    """A store that gives its records in pages, in the order of their ids."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def scroll(
        self, _collection: str, *, limit: int, offset: str | None, **_: object
    ) -> tuple[list[Record], str | None]:
        begin = int(offset or 0)
        end = begin + limit
        return self._records[begin:end], str(end) if end < len(self._records) else None


def test_no_chunk_that_is_named_is_lost_behind_many_others() -> None:
    chunks = [payload("code", f"src/part_{number:03}.py", "def run(): ...") for number in range(900)]
    # The order of ids, which are hashes, has nothing to do with paths.
    records = [Record(f"{number:03}", dict(chunk), {}) for number, chunk in enumerate(reversed(chunks))]
    asked = SimpleNamespace(
        settings=load_settings(user_file=None),
        scope=SimpleNamespace(filters={"code": Filter()}),
        index=SimpleNamespace(store=_Pages(records)),
    )
    found = read_hits(cast(Question, asked), "code", Match("names", ("run",)))
    assert [hit.payload.path for hit in found] == [chunk.path for chunk in chunks]
