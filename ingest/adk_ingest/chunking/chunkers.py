"""Which chunker a file gets, and what of the settings and the code decides which chunks an index holds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePosixPath

from adk_evidence.embedding.factory import fingerprint
from adk_evidence.models.chunk import PAYLOAD_VERSION, sha256_text
from adk_evidence.settings import Settings
from adk_ingest.chunking import prose
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.code import OTHER_EXTENSIONS, OTHER_VERSIONS, PYTHON_VERSION
from adk_ingest.records.dense_text import VERSIONS
from adk_ingest.records.questions import written_questions
from adk_ingest.records.tasks import tasks_for

MARKDOWN = (".md", ".mdx")


def chunker_version() -> str:
    """One version for the chunkers of the ADK's files; a change of any of them makes other chunks."""
    return "+".join((f"md{prose.VERSION}", f"txt{prose.VERSION}", f"py{PYTHON_VERSION}"))


def index_fingerprint(settings: Settings) -> dict[str, str | int]:
    """Everything that an index must have been built with to be brought up to date file by file."""
    ingestion = settings.ingestion
    sizes = json.dumps(ingestion.chunking.model_dump(), sort_keys=True)
    lexical = json.dumps(ingestion.lexical.model_dump(exclude={"sparse_batch_size"}), sort_keys=True)
    return {
        **fingerprint(settings),
        "chunker": chunker_version(),
        "payload": PAYLOAD_VERSION,
        "chunking": sha256_text(sizes)[:16],
        "lexical": sha256_text(lexical)[:16],
        "api_reference": "yes" if ingestion.api_reference else "no",
        "questions": written_questions(settings).digest,
        "tasks": tasks_for(settings).digest,
        "chunks_without_terms": "left out",
        "decorators": "tags",
        "chunk_ids": "without commits",
        "dense_text": VERSIONS[settings.embedding.dense.text],
    }


def other_chunkers(files: Iterable[SourceFile]) -> tuple[str, ...]:
    """Versions of the chunkers of other languages that some files need; none for the ADK's files as released.

    They are part of a corpus's state and not of every index's fingerprint: a change of one makes the files of the
    corpora that it cuts count as changed, and leaves all other indexes as they are.
    """
    extensions = {PurePosixPath(file.path).suffix.lower() for file in files}
    return OTHER_VERSIONS if extensions & OTHER_EXTENSIONS else ()
