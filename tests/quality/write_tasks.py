"""Makes the table of tasks that ships (`config/tasks.json.gz`) of tasks that name lines.

    python -m tests.quality.write_tasks tasks.jsonl --table config/tasks.json.gz

Each line of the file is {"title", "ways": [...], "spans": [{"path", "start", "end", "role"}]}, the most important span
first. The chunks of the index say which text a span is of; a span in no chunk ends the command.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field

from adk_evidence.errors import InvalidRequestError
from adk_evidence.files import write_atomic
from adk_evidence.index.opened import CurrentIndex
from adk_evidence.models.chunk import KINDS, ChunkPayload
from adk_evidence.settings import Settings
from adk_evidence.store.base import scroll_all
from adk_evidence_console import Home, path_option, say, settings_from, stdout
from adk_ingest.records.questions import HASH_CHARS, name_of
from tests.quality.tool import tool


class Span(BaseModel):
    """Lines of a file, from 1, and what they are to the task."""

    model_config = ConfigDict(extra="forbid")

    path: str
    start: int
    end: int
    role: str


class Written(BaseModel):
    """A task as somebody wrote it."""

    model_config = ConfigDict(extra="forbid")

    title: str
    ways: tuple[str, ...] = Field(min_length=1)
    spans: tuple[Span, ...] = Field(min_length=1)


class Place(BaseModel):
    """A chunk with its name and how many chunks of this name stand before it."""

    payload: ChunkPayload
    name: str
    place: int


def places(settings: Settings) -> dict[str, list[Place]]:
    """The chunks of the index by the paths of their files, without generated pages."""
    found: dict[str, list[ChunkPayload]] = defaultdict(list)
    with closing(CurrentIndex(settings)) as current, current.pin() as index:
        for kind in KINDS:
            for record in scroll_all(index.store, settings.store.collection(kind)):
                payload = ChunkPayload.model_validate(record.payload)
                if payload.origin != "api-reference":
                    found[payload.path].append(payload)
    return {path: _placed(chunks) for path, chunks in found.items()}


def _placed(chunks: Sequence[ChunkPayload]) -> list[Place]:
    seen = Counter[str]()
    made = []
    for chunk in sorted(chunks, key=lambda one: one.chunk_index):
        name = name_of(chunk, chunk.path, "code" if chunk.origin == "sample" else chunk.kind)
        made.append(Place(payload=chunk, name=name, place=seen[name]))
        seen[name] += 1
    return made


def parts(task: Written, known: Mapping[str, Sequence[Place]]) -> list[tuple[str, int, str, str]]:
    """Name, place, hash of the text, and role of the chunks that the spans of a task are in, each once.

    Raises:
        InvalidRequestError: A span is in no chunk.
    """
    found: dict[tuple[str, int], tuple[str, int, str, str]] = {}
    for span in task.spans:
        near = [(_shared(one.payload, span), one) for one in known.get(span.path, ())]
        most = max((lines for lines, _ in near), default=0)
        if most <= 0:
            place = f"{span.path}:{span.start}-{span.end}"
            raise InvalidRequestError(f"{place} of the task '{task.title}' is in no chunk.", "Name other lines.")
        for lines, one in near:
            # A span may go on in the next chunk; what holds little of it is not meant.
            if lines == most or lines * 3 > span.end - span.start + 1:
                text = one.payload.source_hash[:HASH_CHARS]
                found.setdefault((one.name, one.place), (one.name, one.place, text, span.role))
    return list(found.values())


def _shared(payload: ChunkPayload, span: Span) -> int:
    """How many lines a chunk and a span have in common; below 1 for none."""
    return min(payload.end_line, span.end) - max(payload.start_line, span.start) + 1


def write_tasks(
    source: Annotated[Path, typer.Argument(help="File of tasks, one JSON object a line.")],
    table: Annotated[Path, path_option("Table to write.")],
    home: Home = None,
) -> None:
    """Make the table of tasks that ships."""
    written = [Written.model_validate_json(line) for line in source.read_text().splitlines() if line.strip()]
    known = places(settings_from(None, home))
    tasks: list[dict[str, Any]] = [
        {"title": one.title, "ways": one.ways, "parts": parts(one, known)} for one in written
    ]
    text = json.dumps({"format": 1, "tasks": tasks}, ensure_ascii=False, separators=(",", ":"))
    # Without a time, so that the same tasks make the same bytes.
    write_atomic(table, gzip.compress(text.encode(), mtime=0))
    count = sum(len(task["parts"]) for task in tasks)
    say(stdout(), f"{len(tasks)} tasks with {count} parts: {table.stat().st_size:,} bytes")


app = tool(write_tasks)

if __name__ == "__main__":
    app()
