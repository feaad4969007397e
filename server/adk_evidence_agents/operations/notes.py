"""What an operation has to say besides its result: error records, and recommendations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import ValidationError

from adk_evidence.admission import BusyError, WaitedTooLongError
from adk_evidence.errors import (
    EvidenceError,
    InvalidRequestError,
    MachineError,
    ModelError,
    RequestCancelledError,
    SettingsError,
    SourceError,
    StoreError,
    UnexpectedError,
    UnknownIndexError,
)
from adk_evidence.models.warning import Warning, WarningCode
from adk_evidence.search.read import NotIndexedError
from adk_evidence.text.identifiers import is_code_like
from adk_evidence.validation import problems
from adk_evidence_agents.operations.requests import TASK_OF
from adk_evidence_agents.operations.responses import ErrorRecord, ErrorType, Severity

# The first row with the class of an error decides; any other error is of an indexing run.
_TYPES: tuple[tuple[ErrorType, tuple[type[EvidenceError], ...]], ...] = (
    ("request_error", (InvalidRequestError, UnknownIndexError, SettingsError)),
    ("embedding_error", (ModelError,)),
    ("qdrant_error", (StoreError,)),
    ("source_error", (SourceError, NotIndexedError)),
    ("resource_error", (MachineError,)),
    ("busy", (BusyError, WaitedTooLongError)),
    ("internal_error", (UnexpectedError,)),
)
# The warnings of a retrieval that say that a part is missing from the answer; other warnings are advice.
_LOST_PARTS: dict[WarningCode, ErrorType] = {
    "dense_unavailable": "embedding_error",
    "sparse_unavailable": "embedding_error",
    "dense_pending": "embedding_error",
    "question_adapter_unavailable": "embedding_error",
    "collection_unavailable": "qdrant_error",
    "rerank_unavailable": "rerank_error",
    "wordings_unavailable": "rerank_error",
}


@dataclass
class Notes:
    """Errors and recommendations, each said once."""

    _errors: dict[ErrorRecord, None] = field(default_factory=dict)
    _advice: dict[str, None] = field(default_factory=dict)

    def fail(self, exc: EvidenceError, severity: Severity, index: str = "") -> None:
        """Record a failure, and the index that it is about where there are several."""
        type_: ErrorType = next((name for name, known in _TYPES if isinstance(exc, known)), "index_error")
        # Ingestion and searches cancel with different classes of one code.
        if exc.code == RequestCancelledError.code:
            type_ = "cancelled"
        self.note(type_, f"{index}: {exc}" if index else str(exc), severity)

    def note(self, type: ErrorType, message: str, severity: Severity, file: str | None = None) -> None:
        self._errors.setdefault(ErrorRecord(type=type, message=printable(message), severity=severity, file=file))

    def advise(self, sentence: str) -> None:
        self._advice.setdefault(printable(sentence))

    def take_warnings(self, warnings: Iterable[Warning]) -> None:
        """A retrieval's warnings: lost parts are errors, the rest is advice."""
        for warning in warnings:
            sentence = warning.text
            if warning.code in _LOST_PARTS:
                self.note(_LOST_PARTS[warning.code], sentence, "warning")
            else:
                # A name in code stays as it is.
                named = is_code_like(sentence.partition(" ")[0])
                self.advise(sentence if named else sentence[:1].upper() + sentence[1:])

    @property
    def errors(self) -> tuple[ErrorRecord, ...]:
        return tuple(self._errors)

    @property
    def recommendations(self) -> tuple[str, ...]:
        return tuple(self._advice)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors as sentences."""
        said = (f"{error.file}: {error.message}" if error.file else error.message for error in self.errors)
        return tuple(dict.fromkeys(said))


def invalid_request(exc: ValidationError) -> list[ErrorRecord]:
    """One record for each problem of a request, without what was sent."""
    records = []
    for where, what in problems(exc):
        # pydantic names the kind of the operation in the path, although it is not a field.
        where = ".".join(part for at, part in enumerate(where.split(".")) if at != 1 or part not in TASK_OF)
        subject = f"The field {where[:200]}" if where else "The request"
        text = printable(f"{subject} is not valid: {what[:300]}.")
        records.append(ErrorRecord(type="request_error", message=text, severity="critical"))
    return records


def printable(text: str) -> str:
    """A text that JSON in UTF-8 can hold: lone surrogates, which file names may have, are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
