"""Which folders are copies of others, and which of two copies can be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from adk_evidence.analysis.chunks import Chunk, idle_folders
from adk_evidence.analysis.repeats import Group

_NAMED = 3
# A folder is a copy if at least this share of its text, and so many chunks, stand in another folder, too.
_SHARE, _CHUNKS = 0.8, 10
# Where projects keep what they did not write.
_VENDORED = frozenset({"vendor", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "external"})


class Folder(NamedTuple):
    """A folder of a repository; `path` ends with `/`."""

    repo: str
    path: str

    def is_apart(self, other: Folder) -> bool:
        """Whether neither of two folders holds the other."""
        return self.repo != other.repo or not (self.path.startswith(other.path) or other.path.startswith(self.path))


class CopiedFolder(NamedTuple):
    """A folder that can be left out, the folder that has its text, too, and how much of it (0 to 1)."""

    folder: Folder
    kept: Folder
    share: float


class _Repeated(NamedTuple):
    """A text that stands in several chunks: its bytes, and in how many of them it stands below each folder."""

    bytes: int
    chunks: int
    below: Counter[Folder]


def copied_folders(chunks: Sequence[Chunk], copies: Iterable[Group]) -> Iterator[CopiedFolder]:
    """Folders that are copies of others, those of most repeated text first.

    Whoever leaves all of them out keeps what they have in common with the folders that are kept. Of two that are copies
    of each other, the vendored or deeper one is to go. Versions that are kept beside a corpus do not count.
    """
    weights: Counter[Folder] = Counter()
    chains: set[tuple[Folder, ...]] = set()
    for chunk in chunks:
        if not chunk.edition:
            above = _above(chunk)
            chains.add(above)
            for folder in above:
                weights[folder] += chunk.bytes
    idle = idle_folders(chains, weights)
    texts = [
        _Repeated(group[0].bytes, len(group), Counter(folder for chunk in group for folder in _above(chunk)))
        for group in copies
        if not group[0].edition
    ]
    repeated: Counter[Folder] = Counter()
    numbers: Counter[Folder] = Counter()
    holding: dict[Folder, list[_Repeated]] = {}
    for text in texts:
        for folder, inside in text.below.items():
            holding.setdefault(folder, []).append(text)
            if inside < text.chunks:
                repeated[folder] += inside * text.bytes
                numbers[folder] += inside

    def shared(folder: Folder, other: Folder) -> float:
        common = sum(text.below[folder] * text.bytes for text in holding[folder] if other in text.below)
        return common / weights[folder]

    left_out: list[Folder] = []
    kept: list[Folder] = []
    for folder in sorted(repeated, key=lambda folder: (-repeated[folder], folder.path.count("/"), folder)):
        if len(left_out) == _NAMED:
            return
        large = numbers[folder] >= _CHUNKS and repeated[folder] >= _SHARE * weights[folder]
        if folder in idle or not large or not _are_apart(folder, left_out):
            continue
        other = _counterpart(folder, holding[folder], left_out)
        if other is None or shared(folder, other) < _SHARE:
            continue
        pair = folder, other
        if _rank(other) > _rank(folder) and shared(other, folder) >= _SHARE:
            pair = other, folder
        if _are_apart(pair[0], kept):
            left_out.append(pair[0])
            kept.append(pair[1])
            yield CopiedFolder(*pair, shared(*pair))


def _counterpart(folder: Folder, texts: Iterable[_Repeated], left_out: Sequence[Folder]) -> Folder | None:
    """The folder with most of another folder's text; of several, the innermost."""
    common: Counter[Folder] = Counter()
    for text in texts:
        for other in text.below:
            if other.is_apart(folder) and _are_apart(other, left_out):
                common[other] += text.below[folder] * text.bytes
    return max(common, key=lambda other: (common[other], other.path.count("/"), other), default=None)


def _rank(folder: Folder) -> tuple[bool, int, Folder]:
    """The higher, the rather a folder is the copy and not the original."""
    parts = PurePosixPath(folder.path.lower()).parts
    return (not _VENDORED.isdisjoint(parts), len(parts), folder)


def _are_apart(folder: Folder, others: Iterable[Folder]) -> bool:
    return all(folder.is_apart(other) for other in others)


def _above(chunk: Chunk) -> tuple[Folder, ...]:
    """The folders above a chunk's file without the root, the innermost first."""
    return tuple(Folder(chunk.repo, f"{path}/") for path in PurePosixPath(chunk.path).parents if str(path) != ".")
