"""A folder that says in its `corpus.json` which repository and commit its files are of."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adk_evidence.errors import SourceError
from adk_evidence.settings import CorpusSettings
from adk_evidence.validation import first_problem
from adk_ingest.sources.base import CorpusSource

MANIFEST = "corpus.json"


class SnapshotManifest(BaseModel):
    """What `corpus.json` holds; other keys are remarks."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    corpus: str | None = None
    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    commit: str = Field(pattern=r"^[\w.+/-]+$")
    ref: str | None = None
    license: str | None = None
    site_url: str | None = Field(default=None, pattern=r"^https?://\S+$")


def open_snapshot(root: Path, settings: CorpusSettings) -> CorpusSource:
    """The snapshot in a folder; the site URL of the settings counts where the snapshot names none.

    Raises:
        SourceError: `corpus.json` is missing or wrong, or it is of another corpus.
    """
    manifest = _read(root / MANIFEST)
    if manifest.corpus is not None and manifest.corpus != settings.corpus:
        message = f"The snapshot {root} is the corpus {manifest.corpus}, not {settings.corpus}."
        raise SourceError(message, "Name the folder of the right corpus.")
    return CorpusSource(
        corpus=settings.corpus,
        repo=manifest.repo,
        kind="snapshot",
        root=root.resolve(),
        commit=manifest.commit,
        ref=manifest.ref,
        site_url=manifest.site_url or settings.site_url,
        licence=manifest.license,
    )


def _read(path: Path) -> SnapshotManifest:
    hint = 'It needs at least {"repo": "owner/name", "commit": "<sha>"}.'
    try:
        return SnapshotManifest.model_validate_json(path.read_bytes())
    except OSError as exc:
        raise SourceError(f"{path} cannot be read: {exc.strerror}.", hint) from exc
    except ValidationError as exc:
        raise SourceError(f"{path} is not valid: {first_problem(exc)}.", hint) from exc
