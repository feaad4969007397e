"""What a new generation starts as: a copy of the published one, without the collections of which little stays.

The chunks that are replaced leave room behind that the embedded engine does not use again, so a collection of which
little stays is written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adk_evidence.models.chunk import KINDS
from adk_evidence.settings import StoreSettings
from adk_evidence.store.generations import Generation
from adk_evidence.store.manifest import CorpusEntry
from adk_ingest.corpora.corpus import PAGES_FOLDER, CorpusInput
from adk_ingest.publishing.changes import kept_files

# Of the room of a collection, what must be of chunks that stay, where the others are so many points or more; each takes
# about 10 KB.
LEAST_SHARE = 0.5
WASTE = 1_000


@dataclass(frozen=True)
class Base:
    """What a new generation starts as a copy of; nothing by default.

    `corpora` are those of the published generation that are copied. `left_out` names the files and folders that are
    not, and `left_files` the files of the corpora that are not, each behind the name of its corpus.
    """

    published: Generation | None = None
    corpora: Mapping[str, CorpusEntry] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    left_files: tuple[str, ...] = ()


def without_waste(published: Generation, store: StoreSettings, corpora: Sequence[CorpusInput]) -> Base:
    """The published index without the collections of which little would stay; these are written anew as a whole.

    Corpora that the run is not about stay as they are: only the run can write them anew.
    """
    held = published.manifest.corpora
    if store.kind == "server":
        # What leaves an index on a server leaves no room behind.
        return Base(published, held)
    copied = dict(held)
    kept = {corpus.name: kept_files(held.get(corpus.name), corpus) for corpus in corpora}
    left_out: set[str] = set()
    for kind in KINDS:
        own = {name: entry for name, entry in held.items() if entry.kind == kind}
        collection = published.manifest.collections.get(store.collection(kind))
        room = sum(entry.chunks for entry in own.values()) + (collection.replaced if collection else 0)
        if not room or own.keys() - kept.keys():
            continue
        chunks = sum(file.chunks for name in own for file in kept[name].values())
        if not chunks or (chunks < LEAST_SHARE * room and room - chunks >= WASTE):
            pages = (PAGES_FOLDER for entry in own.values() if entry.location.kind == "pages")
            left_out |= {store.collection(kind), *pages}
            for name in own:
                del copied[name]
    left = (f"{name}/{path}" for name, entry in held.items() if name not in copied for path in entry.files)
    return Base(published, copied, frozenset(left_out), tuple(left))
