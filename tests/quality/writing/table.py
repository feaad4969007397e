"""Adds what a model answered to the table of questions that ships (`config/questions.json.gz`)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from adk_evidence.files import write_atomic
from adk_ingest.records.questions import HASH_CHARS
from tests.quality.writing.answers import Answer


def add_to_table(path: Path, answers: Iterable[Answer]) -> int:
    """Add the answers whose texts the table does not know, behind the others of their names.

    Returns:
        How many were added.
    """
    data = json.loads(gzip.decompress(path.read_bytes()))
    names: dict[str, list[list[object]]] = data["questions"]
    known = {text for chunks in names.values() for text, _ in chunks}
    added = 0
    for answer in answers:
        if (text := answer.text[:HASH_CHARS]) not in known:
            names.setdefault(answer.name, []).append([text, list(answer.questions)])
            known.add(text)
            added += 1
    if added:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        # Without a time, so that the same answers make the same bytes.
        write_atomic(path, gzip.compress(text.encode(), mtime=0))
    return added
