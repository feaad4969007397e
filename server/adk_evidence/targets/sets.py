"""Sets of ranked targets on disk.

    <home>/targets/<key>/ranked_targets.yaml    every target with the parts of its rank, for people
    <home>/targets/<key>/targets_meta.json      the same as a list, which searches load
    <home>/targets/<key>/hidden_symbols.json    the definitions that are no targets, which exact names find
    <home>/targets/<key>/extras.json            what brings the optional packages that the code imports
    <home>/targets/<key>/outside_imports.json   the statements that import names from other packages
    <home>/targets/<key>/targets_vectors.npy    (N, D) float32, L2-normalised, row i for entry i of the list
    <home>/targets/<key>/about.json             the corpora and the model that the set is built of

The key is a hash of the indexed files and of the dense model. So a set belongs to every generation of the index that
holds the same corpora, and a rollback to an earlier generation goes back to its targets. A written file never changes;
vectors may be added later.
"""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.errors import StoreError, TargetsMissingError
from adk_evidence.files import remove_tree, rename, write_atomic
from adk_evidence.targets.about import ABOUT, VECTORS, About, built_sets
from adk_evidence.targets.internals import HiddenSymbol
from adk_evidence.targets.target import Target

LISTING = "ranked_targets.yaml"
META = "targets_meta.json"
HIDDEN = "hidden_symbols.json"
EXTRAS = "extras.json"
OUTSIDE = "outside_imports.json"
KEPT_SETS = 4
_BUILDING = ".building-"
# Writing a set takes a second.
_ABANDONED_SECONDS = 3600

_TARGETS = TypeAdapter(list[Target])
_HIDDEN = TypeAdapter(list[HiddenSymbol])
_TEXTS = TypeAdapter(dict[str, str])
_AGAIN = "Remove that folder and run `adk-ingest all`."


@dataclass(frozen=True)
class TargetSet:
    """A set as searches load it. `stale` says that the code has changed since the set was built.

    Where only docs have changed, definitions and their lines are still right, and little of the ranking differs.
    `folder` is where the set lies, None of one that lies nowhere.
    """

    about: About
    targets: Sequence[Target]
    vectors: FloatMatrix | None
    stale: bool = False
    folder: Path | None = None


@dataclass(frozen=True)
class Contents:
    """What a set says of the code, apart from vectors: the ranked targets, and what few answers need.

    `hidden` are the definitions beside the targets. `extras` says what brings the optional packages that the code
    imports, e.g. `google-adk[mcp]`, by the paths of the imports. `outside` has the statements that import names from
    other packages, by these names.
    """

    targets: Sequence[Target]
    hidden: Sequence[HiddenSymbol] = ()
    extras: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)


def write_set(root: Path, about: About, contents: Contents, formula: str) -> Path:
    """Write a set without vectors, completely or not at all; a set that exists stays. Returns its folder.

    Raises:
        StoreError: The folder cannot be written.
    """
    folder, scratch = root / about.key, root / f"{_BUILDING}{uuid.uuid4().hex}"
    try:
        scratch.mkdir(parents=True)
        files = {
            META: _TARGETS.dump_json(list(contents.targets)),
            HIDDEN: _HIDDEN.dump_json(list(contents.hidden)),
            EXTRAS: _TEXTS.dump_json(dict(contents.extras)),
            OUTSIDE: _TEXTS.dump_json(dict(contents.outside)),
            LISTING: _listing(about, contents.targets, formula).encode("utf-8"),
            ABOUT: about.model_dump_json(indent=1).encode("utf-8"),
        }
        for name, data in files.items():
            (scratch / name).write_bytes(data)
        try:
            if not folder.is_dir():
                rename(scratch, folder)
        except OSError:
            # Another process may have been first, and has written the same.
            if not folder.is_dir():
                raise
    except OSError as exc:
        raise StoreError.of_disk(f"The targets at {root} cannot be written", exc) from exc
    finally:
        remove_tree(scratch)
    return folder


def write_vectors(folder: Path, vectors: FloatMatrix) -> None:
    """Add the vectors of a set, in one step.

    Raises:
        StoreError: The file cannot be written.
    """
    buffer = io.BytesIO()
    np.save(buffer, vectors.astype(np.float32), allow_pickle=False)
    try:
        write_atomic(folder / VECTORS, buffer.getvalue())
    except OSError as exc:
        raise StoreError.of_disk(f"The vectors at {folder} cannot be written", exc) from exc


def find_set(root: Path, wanted: About, command: str = "adk-ingest all") -> Path:
    """Folder of the set of an index: the set of exactly its corpora, else the latest of the same commit and model.

    `command` builds such a set.

    Raises:
        TargetsMissingError: There is none.
    """
    exact = root / wanted.key
    if (exact / META).is_file():
        return exact
    similar = [(about.built_at, folder) for folder, about in built_sets(root) if about.is_similar(wanted)]
    if not similar:
        raise TargetsMissingError("The list of symbols of this index is not made yet.", f"Run `{command}`.")
    return max(similar)[1]


def load_set(folder: Path, wanted: About) -> TargetSet:
    """The set in the folder that `find_set` returned for `wanted`.

    Raises:
        StoreError: The set cannot be read.
    """
    try:
        about = About.model_validate_json((folder / ABOUT).read_bytes())
        targets = _TARGETS.validate_json((folder / META).read_bytes())
        vectors = _vectors(folder / VECTORS)
    except (OSError, ValueError, EOFError) as exc:
        raise StoreError(f"The ranked targets at {folder} cannot be read.", _AGAIN) from exc
    if vectors is not None and vectors.shape != (len(targets), about.dimension):
        raise StoreError(f"The vectors at {folder} do not belong to its targets.", _AGAIN)
    stale = about.code != wanted.code
    if not stale:
        # A commit that changes no code leaves every place as it was.
        about = about.model_copy(update={"commit": wanted.commit, "ref": wanted.ref})
    return TargetSet(about, targets, vectors, stale, folder)


def load_hidden(found: TargetSet) -> list[HiddenSymbol]:
    """The definitions beside the targets of a set; see `Contents`. Few answers need them.

    Raises:
        StoreError: Their file cannot be read.
    """
    try:
        return _HIDDEN.validate_json((found.folder / HIDDEN).read_bytes()) if found.folder is not None else []
    except (OSError, ValueError) as exc:
        raise StoreError(f"The names beside the targets at {found.folder} cannot be read.", _AGAIN) from exc


def load_texts(found: TargetSet, name: str) -> dict[str, str]:
    """What the file `EXTRAS` or `OUTSIDE` of a set says; see `Contents`. Answers do without what cannot be read."""
    with suppress(OSError, ValueError):
        return _TEXTS.validate_json((found.folder / name).read_bytes()) if found.folder is not None else {}
    return {}


def remove_old(root: Path, keep: Path) -> None:
    """Remove all but the latest sets and `keep`, and what processes left behind that ended while they wrote a set."""
    for scratch in root.glob(f"{_BUILDING}*"):
        with suppress(OSError):
            if scratch.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                remove_tree(scratch)
    by_age = sorted(built_sets(root), key=lambda item: item[1].built_at, reverse=True)
    for folder, _ in by_age[KEPT_SETS:]:
        if folder != keep:
            remove_tree(folder)


def _vectors(path: Path) -> FloatMatrix | None:
    if not path.is_file():
        return None
    vectors: FloatMatrix = np.load(path, allow_pickle=False).astype(np.float32)
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    return vectors


def _listing(about: About, targets: Sequence[Target], formula: str) -> str:
    import yaml

    # The C dumper takes a tenth of the time.
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    content = {
        "format": about.format,
        "repo": about.repo,
        "commit": about.commit,
        "corpora": about.corpora,
        "rank": formula,
        "targets": [target.model_dump(mode="json", exclude_none=True) for target in targets],
    }
    text: str = yaml.dump(content, Dumper=dumper, sort_keys=False, allow_unicode=True, width=120)
    return f"# Public symbols of {about.repo}, ranked. Made by `adk-ingest`; changes are not read.\n{text}"
