"""From failures to error records: every kind of error has one type, and its sentence names what to do."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from pydantic import ValidationError

from adk_evidence.commands import with_options
from adk_evidence.errors import (
    EvidenceError,
    IngestError,
    InvalidRequestError,
    ModelError,
    SettingsError,
    SourceError,
    StoreError,
    UnknownIndexError,
)
from adk_evidence.identifiers import is_code_like
from adk_evidence.redaction import where_raised
from adk_evidence.search.context import RequestCancelledError
from adk_evidence.search.read import NotIndexedError
from adk_evidence.validation import problems
from adk_evidence_agents.operations.requests import TASK_OF
from adk_evidence_agents.operations.responses import ErrorRecord, ErrorType, Severity

_LOG = logging.getLogger(__name__)

# The first class that fits decides.
_TYPES: tuple[tuple[type[Exception], ErrorType], ...] = (
    (InvalidRequestError, "request_error"),
    (UnknownIndexError, "request_error"),
    (SettingsError, "request_error"),
    (ModelError, "embedding_error"),
    (StoreError, "qdrant_error"),
    (SourceError, "source_error"),
    (NotIndexedError, "source_error"),
    (IngestError, "index_error"),
    (MemoryError, "resource_error"),
    (OSError, "resource_error"),
)
# What a pack warns of when a part did not take part in the answer; its other warnings are advice.
_LOST_PARTS: dict[str, ErrorType] = {
    "dense_unavailable": "embedding_error",
    "sparse_unavailable": "embedding_error",
    "dense_pending": "embedding_error",
    "collection_unavailable": "qdrant_error",
    "rerank_unavailable": "rerank_error",
}


@dataclass
class Notes:
    """What an operation has to say besides its result; each thing is said once."""

    errors: dict[ErrorRecord, None] = field(default_factory=dict)
    recommendations: dict[str, None] = field(default_factory=dict)

    def fail(self, exc: Exception, severity: Severity, about: str = "") -> None:
        """Record a failure."""
        self.errors.setdefault(record_of(exc, severity, about))

    def note(self, type: ErrorType, message: str, severity: Severity, file: str | None = None) -> None:
        """Record something that no exception stands for."""
        self.errors.setdefault(ErrorRecord(type=type, message=printable(message), severity=severity, file=file))

    def advise(self, sentence: str) -> None:
        """Recommend something."""
        self.recommendations.setdefault(printable(sentence))

    def take_warnings(self, warnings: tuple[str, ...] | list[str]) -> None:
        """A retrieval's warnings, `code: sentence`: lost parts are errors, the rest is advice."""
        for warning in warnings:
            code, _, sentence = warning.partition(": ")
            if code in _LOST_PARTS:
                self.note(_LOST_PARTS[code], sentence, "warning")
            else:
                # A name in code stays as it is.
                named = is_code_like(sentence.partition(" ")[0])
                self.advise(sentence if named else sentence[:1].upper() + sentence[1:])


def record_of(exc: Exception, severity: Severity, about: str = "") -> ErrorRecord:
    """The record of an exception.

    Args:
        exc: An unexpected one is named only: its message may quote the user's files or a key.
        severity: What it means for the operation.
        about: The index that it is about.
    """
    type_ = next((name for known, name in _TYPES if isinstance(exc, known)), None)
    if isinstance(exc, EvidenceError) and exc.code == RequestCancelledError.code:
        type_ = "cancelled"
    if isinstance(exc, EvidenceError):
        message = str(exc)
    elif type_ == "resource_error":
        reason = getattr(exc, "strerror", None) or type(exc).__name__
        message = f"The machine cannot do this: {reason}. Free memory or disk space, then try again."
    else:
        _LOG.error("an operation failed:\n%s", where_raised(exc))
        message = with_options(f"The operation failed unexpectedly ({type(exc).__name__}). Run `adk-evidence doctor`.")
    fallback: ErrorType = "index_error" if isinstance(exc, EvidenceError) else "internal_error"
    text = f"{about}: {message}" if about else message
    return ErrorRecord(type=type_ or fallback, message=printable(text), severity=severity)


def invalid_request(exc: ValidationError) -> list[ErrorRecord]:
    """One record for each problem of a request, without what was sent."""
    records = []
    for where, what in problems(exc):
        # The kind of an operation is the value of its type, and no field of the request.
        where = ".".join(part for at, part in enumerate(where.split(".")) if at != 1 or part not in TASK_OF)
        subject = f"The field {where[:200]}" if where else "The request"
        text = printable(f"{subject} is not valid: {what[:300]}.")
        records.append(ErrorRecord(type="request_error", message=text, severity="critical"))
    return records


def printable(text: str) -> str:
    """A text that JSON in UTF-8 can hold: lone surrogates, which file names may have, are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
