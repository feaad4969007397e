"""Questions that were written beforehand, by reading, for what a chunk answers (document expansion).

People rarely ask in the words that the text uses. A question that was written for a chunk has such words. A table
ships with the product. It knows a chunk by the hash of its text, wherever the text stands, and the chunks of the ADK
also by their names: what changed a little still answers the same questions. `tests/quality/write_questions.py` has a
model write what the table lacks.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from adk_evidence.errors import SourceError
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import Kind, sha256_text
from adk_evidence.paths import config_file
from adk_evidence.settings import Settings
from adk_ingest.chunking.base import RawChunk

SHIPPED = "questions.json.gz"
HASH_CHARS = 12
# The most questions of a chunk of several sections: each has a vector.
MAX_JOINED = 12


class _Written(NamedTuple):
    """The questions of one chunk, with the beginning of the hash of its text."""

    text: str
    questions: tuple[str, ...]


class WrittenQuestions:
    """The questions that ship with the product, for one kind of index; read when one of them is asked for.

    Args:
        table: Gives the chunks of each name (see `name_of`), in the order in which they stand.
        digest: What decides the questions of a chunk whose file did not change; known before the table is read.
        names: Whether a chunk has the questions of its name. Other codebases have names in common with the ADK.
    """

    def __init__(self, table: Callable[[], Mapping[str, Sequence[_Written]]], digest: str, *, names: bool) -> None:
        self._table = table
        self.digest = digest
        self._names = names

    @functools.cached_property
    def _by_name(self) -> Mapping[str, Sequence[_Written]]:
        return self._table()

    @functools.cached_property
    def _by_text(self) -> Mapping[str, tuple[str, ...]]:
        return {one.text: one.questions for chunks in self._by_name.values() for one in chunks}

    def of(self, name: str, place: int, text: str, inside: Sequence[str] = ()) -> tuple[str, ...]:
        """The questions of a chunk: those of its name and text, else of its text alone, else of its name and place.

        The same text may stand in several modules, each of which has questions of its own. A chunk of several sections,
        which were chunks of their own when the table was made, has the questions of all of them.

        Args:
            name: See `name_of`.
            place: How many chunks of this name stand before the chunk.
            text: The chunk's own lines.
            inside: The names of the sections that begin inside the chunk, without the chunk's own.
        """
        digest = sha256_text(text)
        named = self._named(name)
        at_place = named[place : place + 1]
        for one in (*at_place, *named):
            if one.text == digest[:HASH_CHARS]:
                return one.questions
        found = self.of_text(digest)
        if found is not None:
            return found
        sections = (one.questions for section in inside for one in self._named(section))
        # In turn, so that each section has some.
        joined = chain.from_iterable(zip_longest(*(one.questions for one in at_place), *sections))
        return tuple(islice(dict.fromkeys(one for one in joined if one is not None), MAX_JOINED))

    def _named(self, name: str) -> Sequence[_Written]:
        return self._by_name.get(name, ()) if self._names else ()

    def of_text(self, digest: str) -> tuple[str, ...] | None:
        """The questions of the text with a hash; None where nobody wrote for the text."""
        return self._by_text.get(digest[:HASH_CHARS])


NONE = WrittenQuestions(dict, "", names=True)


def name_of(raw: RawChunk, path: str, kind: Kind) -> str:
    """What a chunk is called in every version: a dotted path, or the page with the headings around the chunk."""
    if kind == "code" and raw.lang == "py" and raw.fqn:
        return raw.fqn
    symbol = f":{raw.symbol}" if raw.symbol else ""
    return f"{_section_name(path, raw.headings)}{symbol}"


def names_inside(raw: RawChunk, path: str) -> list[str]:
    """The names, as of `name_of`, of the sections that begin inside a chunk of a page, without the chunk's own."""
    return [_section_name(path, trail) for trail in raw.sections if trail != raw.headings]


def _section_name(path: str, headings: Sequence[str]) -> str:
    return f"{path}#{' > '.join(headings)}"


def written_questions(settings: Settings) -> WrittenQuestions:
    """The questions for an index; none where the settings want none, or the model embeds no single texts.

    Raises:
        SourceError: The table that ships is damaged.
    """
    if not settings.has_questions:
        return NONE
    return _read(config_file(SHIPPED), not isinstance(settings, CodebaseSettings))


@functools.cache
def _read(path: Path, names: bool) -> WrittenQuestions:
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise _unreadable(path.name) from exc
    # Not a closure: the table goes to the processes that make records.
    table = functools.partial(_parsed, path.name, content)
    return WrittenQuestions(table, hashlib.sha256(content).hexdigest()[:16], names=names)


def _parsed(name: str, content: bytes) -> dict[str, tuple[_Written, ...]]:
    try:
        data = json.loads(gzip.decompress(content))
        return {
            name: tuple(_Written(text, tuple(questions)) for text, questions in chunks)
            for name, chunks in data["questions"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, EOFError) as exc:
        raise _unreadable(name) from exc


def _unreadable(name: str) -> SourceError:
    return SourceError(f"{name} cannot be read.", "Install ADK Evidence again.")
