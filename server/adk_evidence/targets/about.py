"""What a set of ranked targets is built of, and which sets there are; the sets themselves are in `sets.py`.

Apart from the sets, whose types take time to make: a run of ingestion asks no more than whether there is a set.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.embedding.factory import make_dense
from adk_evidence.embedding.minilm.weights import Report
from adk_evidence.errors import TargetsMissingError
from adk_evidence.models.chunk import sha256_text
from adk_evidence.settings import Settings
from adk_evidence.store.manifest import IndexManifest

ABOUT = "about.json"
VECTORS = "targets_vectors.npy"


class About(BaseModel):
    """What a set of targets is built of. `corpora` is a hash of the indexed files, `code` a hash of those of code."""

    model_config = ConfigDict(frozen=True)

    format: Literal["targets-7"] = "targets-7"
    repo: str
    commit: str
    ref: str | None
    corpora: str
    code: str
    model: str
    dimension: int
    built_at: str
    targets: int

    @property
    def key(self) -> str:
        """Name of the set's folder."""
        return sha256_text("\0".join((self.format, self.corpora, self.model, str(self.dimension))))[:20]

    def is_similar(self, other: About) -> bool:
        """Whether another set is of the same commit and model, though files may differ."""
        return (self.repo, self.commit, self.model) == (other.repo, other.commit, other.model)


def code_corpus_name(manifest: IndexManifest) -> str:
    """Name of the code corpus of an index.

    Raises:
        TargetsMissingError: The index holds none.
    """
    name = next((name for name, corpus in manifest.corpora.items() if corpus.kind == "code"), None)
    if name is None:
        raise TargetsMissingError("The index holds no code, so there is no list of symbols.", "Run `adk-ingest code`.")
    return name


def make_target_embedder(settings: Settings, report: Report | None = None) -> DenseEmbedder:
    """The dense model that `targets.embedding` names; of a profile with two models, the model for code.

    Nothing is loaded before its first use; `report` gets a sentence before each long step of its preparation.
    """
    if settings.targets.embedding == "gemini":
        from adk_evidence.embedding.gemini import GeminiEmbedder

        return GeminiEmbedder(settings.embedding.gemini)
    # To models that tell docs and code apart, symbols and their descriptions are code.
    code: DenseEmbedder = make_dense(settings, report).code
    return code


def about_index(manifest: IndexManifest, model: str, dimension: int) -> About:
    """What a set of targets of an index is built of, before the targets are counted; `model` is the dense one.

    Raises:
        TargetsMissingError: The index holds no code.
    """
    code = manifest.corpora[code_corpus_name(manifest)]
    # The API reference is made of the code.
    files = {
        name: [corpus.repo, corpus.commit, *(f"{path} {file.sha256}" for path, file in sorted(corpus.files.items()))]
        for name, corpus in manifest.corpora.items()
        if corpus.source != "api-reference"
    }
    of_code = {name: about for name, about in files.items() if manifest.corpora[name].kind == "code"}
    return About(
        repo=code.repo,
        commit=code.commit,
        ref=code.ref,
        corpora=sha256_text(json.dumps(files, sort_keys=True)),
        code=sha256_text(json.dumps(of_code, sort_keys=True)),
        model=model,
        dimension=dimension,
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        targets=0,
    )


def built_sets(root: Path) -> list[tuple[Path, About]]:
    """Every set below a folder with what it is built of; sets that cannot be read are left out."""
    found = []
    for path in sorted(root.glob(f"*/{ABOUT}")):
        with suppress(OSError, ValidationError):
            found.append((path.parent, About.model_validate_json(path.read_bytes())))
    return [(folder, about) for folder, about in found if folder.name == about.key]


def has_vectors(folder: Path) -> bool:
    return (folder / VECTORS).is_file()
