"""What a first index takes over from another index: the collections that hold mostly the same files.

Two versions of the ADK share the docs and many modules. A copy of a collection whose other files are then replaced is
ready sooner than a collection into which every chunk is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from adk_evidence.errors import StoreError
from adk_evidence.models.chunk import KINDS
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.generations import Generation
from adk_evidence.store.manifest import CorpusEntry, IndexManifest
from adk_ingest.changes import kept_files
from adk_ingest.corpora import PAGES_FOLDER, CorpusInput

# Of the chunks of a collection. The chunks that are replaced leave room behind that the engine does not use again.
LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Base:
    """What a new generation starts as a copy of.

    `generation` is the published one, or that of another index, with a manifest of the corpora that are taken over, and
    was built under `settings`. Of another index, `name` says to a reader which that is, `left_out` names the files and
    folders that are not copied, and `left_files` the files of the corpora that are not, each behind the name of its
    corpus.
    """

    generation: Generation
    settings: Settings
    name: str | None = None
    left_out: frozenset[str] = frozenset()
    left_files: tuple[str, ...] = ()


@contextmanager
def taken_over(
    neighbours: Mapping[str, Settings], corpora: Sequence[CorpusInput], fingerprint: Mapping[str, str | int]
) -> Iterator[Base | None]:
    """The index that shares most chunks with the corpora of a run; nobody removes that index meanwhile.

    None where no index was built as this one is, or none shares half of a collection. The points of a server are not
    copied.

    Args:
        neighbours: The settings of the indexes, each with its name for a reader.
        corpora: What the new index is made of.
        fingerprint: What the new index is built with.
    """
    with ExitStack() as leases:
        found: list[tuple[int, Base]] = []
        for name, settings in neighbours.items():
            if settings.store.kind == "server":
                continue
            try:
                current = leases.enter_context(open_generations(settings).open_current())
            except StoreError:
                continue
            manifest = current.manifest
            is_complete = manifest.dense == "complete" and manifest.store == settings.store.kind
            if is_complete and manifest.fingerprint == dict(fingerprint):
                found.append(_of(name, settings, Generation(current.id, current.folder, manifest), corpora))
        shared, best = max(found, key=lambda one: one[0], default=(0, None))
        yield best if shared else None


def _of(name: str, settings: Settings, neighbour: Generation, corpora: Sequence[CorpusInput]) -> tuple[int, Base]:
    """What can be taken over of a neighbour, and how many chunks of that stay."""
    manifest = neighbour.manifest
    kept = {corpus.name: kept_files(manifest.corpora.get(corpus.name), corpus) for corpus in corpora}
    entries: dict[str, CorpusEntry] = {}
    left_out: set[str] = set()
    shared = 0
    for kind in KINDS:
        own = {name: entry for name, entry in manifest.corpora.items() if entry.kind == kind}
        chunks = sum(file.chunks for name in own for file in kept.get(name, {}).values())
        if chunks and chunks >= LEAST_SHARE * sum(entry.chunks for entry in own.values()):
            shared += chunks
            entries |= own
        else:
            left_out |= {
                settings.store.collection(kind),
                *(PAGES_FOLDER for entry in own.values() if _has_pages(entry)),
            }
    taken = IndexManifest.model_construct(**{**dict(manifest), "corpora": entries})
    left_files = (
        f"{name}/{path}" for name, entry in manifest.corpora.items() if name not in entries for path in entry.files
    )
    return shared, Base(replace(neighbour, manifest=taken), settings, name, frozenset(left_out), tuple(left_files))


def _has_pages(entry: CorpusEntry) -> bool:
    return entry.location.root == Path(PAGES_FOLDER)
