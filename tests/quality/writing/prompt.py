"""What a model is asked for a few chunks at once, and what of its answer counts.

The chunks come from corpora, where anybody may have written instructions. They are fenced and marked as data, and
nothing of an answer is used but questions that pass the checks.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from adk_evidence.models.chunk import ChunkPayload, Kind, sha256_text
from adk_evidence.render.sanitize import fenced, one_line
from adk_evidence.services.answers import json_objects
from adk_evidence.text.redaction import without_keys
from adk_ingest.records.questions import name_of
from tests.quality.writing.answers import MAX_CHARS, MAX_QUESTIONS, MIN_CHARS, clean

# The beginning of a chunk says what it is about, and the end what comes out; few chunks are longer.
FIRST_CHARS, LAST_CHARS = 1300, 450
# Of the name of a place; a heading may be as long as a page.
TITLE_CHARS = 200
_CUT = "\n[...]\n"
_MARK_CHARS = 8
# Twenty chunks have answers of some 12,000 characters.
_MAX_ANSWER_CHARS = 60_000
_AGAIN = (
    "\n\nYour last answer did not have valid JSON with an entry for each of these passages. Answer with JSON alone."
)


@dataclass(frozen=True)
class Asked:
    """A text that questions are wanted for: its hash, its name in the table, its place in words, and what is shown."""

    digest: str
    name: str
    title: str
    shown: str
    kind: Kind


def asked(payload: ChunkPayload) -> Asked:
    """What a model sees of a chunk: without its keys, if it holds some, and without the middle of a long one."""
    text = without_keys(payload.searched_body)
    if len(text) > FIRST_CHARS + LAST_CHARS + len(_CUT):
        text = f"{text[:FIRST_CHARS]}{_CUT}{text[-LAST_CHARS:]}"
    name = payload.fqn or payload.symbol or " > ".join(payload.headings)
    title = one_line(f"{payload.path}: {name}" if name else payload.path)
    # Half a key would pass for a name.
    title = without_keys(title)[:TITLE_CHARS]
    return Asked(payload.source_hash, name_of(payload, payload.path, payload.kind), title, text, payload.kind)


@functools.cache
def task() -> str:
    """The model's task, the same for every request."""
    return Path(__file__).with_name("prompt.md").read_text(encoding="utf-8")


def passages(chunks: Sequence[Asked]) -> tuple[str, dict[str, Asked]]:
    """The text of a request, and the chunks by the marks that stand above them.

    The marks depend on all texts of the request, so that no text can hold one on purpose.
    """
    salt = sha256_text("\0".join(f"{chunk.title}\0{chunk.shown}" for chunk in chunks))[:_MARK_CHARS]
    marks = {f"{salt}-{number}": chunk for number, chunk in enumerate(chunks, 1)}
    shown = [f"=== PASSAGE {mark} {chunk.title}\n{fenced(chunk.shown)}" for mark, chunk in marks.items()]
    # A lone surrogate could not be sent.
    return "\n\n".join(shown).encode("utf-8", "replace").decode(), marks


def asked_again(text: str) -> str:
    """The text of a request after an answer that lacks something."""
    return text + _AGAIN


class _Entry(BaseModel):
    passage: str
    questions: list[Any]


def read_answer(answer: str, marks: Mapping[str, Asked]) -> dict[str, tuple[str, ...]]:
    """The questions by the hash of the text that they were written for; texts without a usable entry are missing.

    Entries are read wherever they stand in an answer, also in one that was cut off. The first entry for a mark counts,
    and unknown marks do not.
    """
    found: dict[str, tuple[str, ...]] = {}
    for value in json_objects(answer[:_MAX_ANSWER_CHARS]):
        entries = value.get("passages") if isinstance(value, dict) else None
        for entry in entries if isinstance(entries, list) else [value]:
            try:
                read = _Entry.model_validate(entry)
            except ValidationError:
                continue
            chunk = marks.get(read.passage.strip())
            if chunk is None or chunk.digest in found:
                continue
            questions = _questions(read.questions)
            # A list of nothing but unusable questions does not say that nobody would ask.
            if questions or not read.questions:
                found[chunk.digest] = questions
    return found


def _questions(written: Sequence[Any]) -> tuple[str, ...]:
    """The usable questions among those of an entry, each once."""
    usable: dict[str, str] = {}
    for question in written:
        if isinstance(question, str):
            # What a request holds of keys was hidden; a model may make up one that looks real.
            text = without_keys(clean(question[: 4 * MAX_CHARS]))
            if MIN_CHARS <= len(text) <= MAX_CHARS:
                usable.setdefault(text.casefold(), text)
    return tuple(usable.values())[:MAX_QUESTIONS]
