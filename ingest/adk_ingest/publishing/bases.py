"""What a run starts from: the published index, or what another index holds alike.

Two versions of the ADK share the docs and many modules. A copy of a collection whose other files are then replaced is
ready sooner than a collection into which every chunk is written anew. The chunks that are replaced leave room behind
that the embedded engine does not use again, so a collection of which little stays is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from adk_evidence.errors import StoreError
from adk_evidence.models.chunk import KINDS
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
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
    """What a new generation starts as a copy of.

    `generation` is the published one, or that of another index, with a manifest of the corpora that are taken over. It
    was built under `settings`. `left_out` names the files and folders that are not copied, and `left_files` the files
    of the corpora that are not, each behind the name of its corpus. `name` says to a reader which other index that is.
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

    None where no index was built as this one is, or little of each would stay. The points of a server are not copied.

    Args:
        neighbours: The settings of the indexes, each with its name for a reader.
        corpora: What the new index is made of.
        fingerprint: What the new index is built with.
    """
    with ExitStack() as lease:
        shared, best = 0, None
        for name, settings in neighbours.items():
            if settings.store.kind == "server":
                continue
            with ExitStack() as own:
                try:
                    current = own.enter_context(open_generations(settings).open_current())
                except StoreError:
                    continue
                manifest = current.manifest
                is_complete = manifest.dense == "complete" and manifest.store == settings.store.kind
                if not is_complete or manifest.fingerprint != dict(fingerprint):
                    continue
                whole = Base(Generation(current.id, current.folder, manifest), settings, name)
                stays, base = _what_stays(whole, corpora, others_stay=False)
                if stays > shared:
                    shared, best = stays, base
                    # The lease of the best so far is kept, and that of the one before is given back.
                    lease.close()
                    lease.push(own.pop_all())
        yield best


def without_waste(base: Base, corpora: Sequence[CorpusInput]) -> Base:
    """The published index without the collections of which little would stay; these are written anew as a whole.

    Args:
        base: The published index.
        corpora: What the run is about; other corpora of the index stay as they are.
    """
    if base.settings.store.kind == "server":
        # What leaves an index on a server leaves no room behind.
        return base
    return _what_stays(base, corpora, others_stay=True)[1]


def _what_stays(base: Base, corpora: Sequence[CorpusInput], *, others_stay: bool) -> tuple[int, Base]:
    """A base with the collections that are worth copying, and how many chunks of these stay.

    `others_stay` says whether corpora stay that the run is not about. Only the run can write them anew.
    """
    manifest, store = base.generation.manifest, base.settings.store
    kept = {corpus.name: kept_files(manifest.corpora.get(corpus.name), corpus) for corpus in corpora}
    entries: dict[str, CorpusEntry] = {}
    left_out: set[str] = set()
    shared = 0
    for kind in KINDS:
        own = {name: entry for name, entry in manifest.corpora.items() if entry.kind == kind}
        collection = manifest.collections.get(store.collection(kind))
        room = sum(entry.chunks for entry in own.values()) + (collection.replaced if collection else 0)
        if not room:
            continue
        chunks = sum(file.chunks for name in own for file in kept.get(name, {}).values())
        is_worth_it = chunks > 0 and (chunks >= LEAST_SHARE * room or room - chunks < WASTE)
        if is_worth_it or (others_stay and own.keys() - kept.keys()):
            shared += chunks
            entries |= own
        else:
            pages = (PAGES_FOLDER for entry in own.values() if entry.location.kind == "pages")
            left_out |= {store.collection(kind), *pages}
    taken = manifest.model_copy(update={"corpora": entries})
    left_files = (
        f"{name}/{path}" for name, entry in manifest.corpora.items() if name not in entries for path in entry.files
    )
    generation = replace(base.generation, manifest=taken)
    return shared, replace(base, generation=generation, left_out=frozenset(left_out), left_files=tuple(left_files))
