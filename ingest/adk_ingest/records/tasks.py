"""Tasks and troubles of people who build agents, with the places that together answer each.

A written question belongs to one chunk. What readers miss is the set: the procedure, its registration, the field, the
remedy. A task says in five ways, without the ADK's words, what somebody wants or meets, and names the chunks that
answer it, each with its role. Each of them is found by the ways, as by questions that were written for it.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from adk_evidence.errors import SourceError
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import sha256_text
from adk_evidence.paths import config_file
from adk_evidence.settings import Settings
from adk_ingest.records.questions import HASH_CHARS

SHIPPED = "tasks.json.gz"


class Task(NamedTuple):
    """What somebody wants or meets, in the ADK's terms, the ways to say it in other words, and its number of chunks."""

    title: str
    ways: tuple[str, ...]
    chunks: int


class Part(NamedTuple):
    """A chunk that belongs to a task: how many chunks of its name stand before it, the hash of its text, its role."""

    place: int
    text: str
    role: str
    task: Task


class Tasks:
    """The tasks that ship with the product, by the names of the chunks that answer them (see `questions.name_of`)."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @functools.cached_property
    def digest(self) -> str:
        """What decides the tasks of a chunk whose file did not change."""
        if self._path is None:
            return ""
        try:
            return hashlib.sha256(self._path.read_bytes()).hexdigest()[:16]
        except OSError as exc:
            raise _unreadable(self._path) from exc

    def of(self, name: str, place: int, text: str, inside: Sequence[str] = ()) -> list[Part]:
        """A chunk's part in each of its tasks: by its name with its text or place, and by the sections inside it."""
        digest = sha256_text(text)[:HASH_CHARS]
        own = (part for part in self._parts.get(name, ()) if part.text == digest or part.place == place)
        others = (part for section in inside for part in self._parts.get(section, ()))
        return list({part.task: part for part in (*others, *own)}.values())

    @functools.cached_property
    def _parts(self) -> Mapping[str, Sequence[Part]]:
        if self._path is None:
            return {}
        try:
            return _parsed(self._path.read_bytes())
        except (OSError, ValueError, KeyError, TypeError, EOFError) as exc:
            raise _unreadable(self._path) from exc


def _parsed(content: bytes) -> dict[str, list[Part]]:
    """The parts of tasks by the names of their chunks."""
    found: dict[str, list[Part]] = {}
    for one in json.loads(gzip.decompress(content))["tasks"]:
        task = Task(one["title"], tuple(one["ways"]), len(one["parts"]))
        for name, place, text, role in one["parts"]:
            found.setdefault(name, []).append(Part(place, text, role, task))
    return found


def tasks_for(settings: Settings) -> Tasks:
    """The tasks for an index of the ADK; none for other codebases, and where the settings want no written questions."""
    is_adk = settings.has_questions and not isinstance(settings, CodebaseSettings)
    return _shipped(config_file(SHIPPED)) if is_adk else NONE


NONE = Tasks()
_shipped = functools.cache(Tasks)


def _unreadable(path: Path) -> SourceError:
    return SourceError(f"{path.name} cannot be read.", "Install ADK Evidence again.")
