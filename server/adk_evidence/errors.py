"""Errors that a user may see: each is one sentence that says what is wrong, plus what to do about it."""

from __future__ import annotations

from pathlib import Path

from adk_evidence.commands import with_options


class EvidenceError(Exception):
    """Base of every expected failure.

    Args:
        message: One sentence that says what is wrong, without a full path to a secret or a key.
        hint: What the user can do, one sentence; empty where nothing can be done. Commands in it stand between
            backticks, and get the options of this process.
    """

    code = "error"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = with_options(hint)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class SettingsError(EvidenceError):
    """A setting is unknown, has the wrong type or contradicts another."""

    code = "invalid_settings"
    exit_code = 2


class InvalidRequestError(EvidenceError):
    """A request's arguments are outside their contract."""

    code = "invalid_request"
    exit_code = 2


class RequestCancelledError(EvidenceError):
    """The caller no longer wants the answer."""

    code = "cancelled"


class SourceError(EvidenceError):
    """A corpus cannot be read: no such folder, not a checkout, no such distribution."""

    code = "source_unavailable"
    exit_code = 3


class ModelError(EvidenceError):
    """Model weights cannot be obtained, or are not the published ones."""

    code = "model_unavailable"
    exit_code = 4

    @classmethod
    def of_disk(cls, folder: Path, megabytes: int, error: OSError) -> ModelError:
        """A folder of models that cannot be written; its files take so many `megabytes`."""
        why = error.strerror or type(error).__name__
        return cls(
            f"The model folder {folder} cannot be written ({why}).",
            f"Free some space ({megabytes} MB) or set `home` to a folder that can be written.",
        )


class ServiceError(ModelError):
    """A model behind a network service does not answer, or answers what cannot be used."""

    code = "service_unavailable"


class CallCancelledError(ServiceError):
    """A call of a service was broken off, as the caller no longer wants the answer."""

    code = "cancelled"


class StoreError(EvidenceError):
    """The index cannot be read or written."""

    code = "store_error"
    exit_code = 5

    @classmethod
    def of_disk(cls, sentence: str, error: OSError) -> StoreError:
        """A file or folder that cannot be used; `sentence` says which, without its full stop."""
        return cls(
            f"{sentence}: {error.strerror or error}.", "Check the folder's permissions and the free space on its disk."
        )


class IndexBusyError(StoreError):
    """Another process is writing to the index."""


class IndexMissingError(StoreError):
    """Nothing has been ingested yet."""

    code = "index_missing"


class UnknownIndexError(StoreError):
    """No index goes by the name that was asked for."""

    code = "unknown_index"


class IndexMismatchError(StoreError):
    """The index was built with other models or versions than the query's settings name."""

    code = "index_mismatch"


class TargetsMissingError(StoreError):
    """The ranked targets of the published index were not built yet."""

    code = "targets_missing"


class CollectionUnavailableError(StoreError):
    """One collection of the index cannot answer; the others may."""

    code = "collection_unavailable"


class IngestError(EvidenceError):
    """Ingestion stopped; the failure report says at which stage and where."""

    code = "ingest_failed"
    exit_code = 6


class CostCapError(IngestError):
    """The ingestion would cost more than the settings allow."""

    code = "cost_cap"


class VerificationError(IngestError):
    """The built index does not hold what was produced; it was not published."""

    code = "verification_failed"
    exit_code = 7


class UnexpectedError(EvidenceError):
    """An unexpected failure."""


class MachineError(EvidenceError):
    """Memory, disk or a file of this machine failed."""
