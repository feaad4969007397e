"""Which encoder an index has, where the settings leave a choice: all precisions of the local model can be asked.

An index says in its fingerprint what its vectors were computed with. So a question is encoded as the index was,
whatever precision the settings name by now, and an index answers while vectors of another precision replace its own.
"""

from __future__ import annotations

from typing import TypeVar, get_args

from adk_evidence.embedding.factory import make_dense
from adk_evidence.embedding.minilm.model import MODEL
from adk_evidence.settings import DensePrecision, Settings
from adk_evidence.store.manifest import IndexManifest

S = TypeVar("S", bound=Settings)

_LOCAL: tuple[DensePrecision, ...] = tuple(one for one in get_args(DensePrecision) if one != "auto")


def as_built(settings: S, manifest: IndexManifest) -> S:
    """The settings under which an index is read: with its own precision, if the local model made its vectors."""
    if settings.embedding.dense.provider != "minilm":
        return settings
    used = manifest.fingerprint.get("dense_model")
    each = (with_precision(settings, precision) for precision in _LOCAL)
    return next((one for one in each if make_dense(one).doc.model == used), settings)


def as_kept(settings: S, manifest: IndexManifest | None) -> S:
    """The settings under which an index is brought up to date: `auto` keeps the precision that the index has."""
    if manifest is None or settings.embedding.dense.precision != "auto":
        return settings
    # By the name, as an index is kept whose vectors other lengths of texts, or an older version, gave.
    name, *parts = str(manifest.fingerprint.get("dense_model")).split(";")
    if name != MODEL:
        return settings
    found = (precision for precision in _LOCAL if any(part.startswith(f"{precision}-") for part in parts))
    return with_precision(settings, next(found, "fp32"))


def with_precision(settings: S, precision: DensePrecision) -> S:
    """The settings with a precision of the local model; the same object where they have it."""
    dense = settings.embedding.dense
    if dense.precision == precision:
        return settings
    embedding = settings.embedding.model_copy(update={"dense": dense.model_copy(update={"precision": precision})})
    return settings.model_copy(update={"embedding": embedding})
