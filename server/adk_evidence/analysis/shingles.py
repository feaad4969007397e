"""Near-duplicates by MinHash: which texts share most of their five-word sequences (Broder 1997).

The share of common sequences (the Jaccard coefficient of two texts' shingles) says how much was copied, whatever the
texts mean: vectors of a dense model find what is about the same, which people write on purpose. A sketch of 100 minimal
hashes stands for a text. Texts whose sketches agree in one of 20 bands of five hashes are compared exactly (Indyk and
Motwani 1998): those that share .8 of their sequences meet there with a probability of .9996, those that share .7 with
.97. Hashes depend on nothing but the texts, so that the same index gives the same groups.

Texts join the first text that they are like, in the order of paths, and only texts that joined no other are compared
with those that follow, of those that agree in a band with the first 50. So the work grows with the number of different
texts: a thousand copies cost a thousand comparisons, and a thousand texts that have a template in common and are not
alike at most 1,000 estimates and 8 comparisons each. There a text may miss a later one that it is like. Members are
like the first of their group; they may be less like each other.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # The different hashes of a text's sequences, ascending.
    Shingles = NDArray[np.uint32]

SEQUENCE = 5
# Shorter texts are alike by chance: getters, lists of imports, headings.
LEAST_SHINGLES = 40
_BANDS, _ROWS = 20, 5
# As many earlier texts are compared exactly with one text, the likeliest by their sketches.
_MOST_COMPARED = 8
# As many earlier texts are kept of those that agree in a band: texts of one template would all be compared with all.
_MOST_FIRSTS = 50
# Sketches estimate a share with a standard error of at most .05.
_SLACK = 0.15
_WORD = re.compile(r"\w+|[^\w\s]")
_MIX = 0x9E3779B97F4A7C15


class Shingler:
    """Cuts texts into sequences of words and signs, and hashes these. Each word is hashed once."""

    def __init__(self) -> None:
        self._words = _Hashes()

    def shingles(self, text: str) -> Shingles | None:
        """The hashes of a text's sequences; None where the text is too short to be compared."""
        import numpy as np

        words = _WORD.findall(text)
        count = len(words) - SEQUENCE + 1
        if count < LEAST_SHINGLES:
            return None
        known = self._words
        hashes = np.fromiter((known[word] for word in words), dtype=np.uint64, count=len(words))
        mixed = np.zeros(count, dtype=np.uint64)
        for offset in range(SEQUENCE):
            mixed = (mixed ^ hashes[offset : offset + count]) * np.uint64(_MIX)
            mixed ^= mixed >> np.uint64(29)
        found = np.unique((mixed >> np.uint64(32)).astype(np.uint32))
        return found if len(found) >= LEAST_SHINGLES else None


class _Hashes(dict[str, int]):
    def __missing__(self, word: str) -> int:
        self[word] = value = zlib.crc32(word.encode("utf-8", "surrogatepass"))
        return value


class Joined(NamedTuple):
    """A text that is like an earlier one: the places of both in the list, and the share of common sequences."""

    place: int
    first: int
    similarity: float


def near_duplicates(
    texts: Sequence[Shingles | None], least: float, progress: Callable[[int, int], None]
) -> list[Joined]:
    """The texts that share at least `least` (0 to 1) of their sequences with an earlier text that is like none.

    Texts that are None take no part. `progress` hears how many of how many texts were compared, and may stop it.
    """
    import numpy as np

    sketch = _Sketcher()
    sketches = np.zeros((len(texts), _BANDS * _ROWS), dtype=np.uint32)
    known = [(place, text) for place, text in enumerate(texts) if text is not None]
    for count, (place, text) in enumerate(known):
        if count % 500 == 0:
            progress(count, len(known))
        sketches[place] = sketch(text)
    shared = _shared_bands(sketches, [place for place, _ in known])
    # The firsts of groups by band and by what they share there. Most texts share nothing, and are in none.
    firsts: list[dict[int, list[int]]] = [{} for _ in range(_BANDS)]
    found: list[Joined] = []
    for count, place in enumerate(np.flatnonzero((shared >= 0).any(axis=1)).tolist()):
        # Each of these may take a thousand times as long as a sketch.
        if count % 20 == 0:
            progress(len(known), len(known))
        keys = [(band, key) for band, key in enumerate(shared[place].tolist()) if key >= 0]
        candidates = sorted({other for band, key in keys for other in firsts[band].get(key, ())})
        best = _nearest(texts, place, sketches, candidates, least) if candidates else None
        if best is not None:
            found.append(best)
            continue
        for band, key in keys:
            alike = firsts[band].setdefault(key, [])
            if len(alike) < _MOST_FIRSTS:
                alike.append(place)
    return found


def _shared_bands(sketches: NDArray[np.uint32], compared: list[int]) -> NDArray[np.int32]:
    """For each text and band a number that all texts have that agree there; -1 where no other text agrees."""
    import numpy as np

    shared = np.full((len(sketches), _BANDS), -1, dtype=np.int32)
    places = np.array(compared, dtype=np.intp)
    for band in range(_BANDS):
        keys = np.zeros(len(places), dtype=np.uint64)
        for column in range(band * _ROWS, (band + 1) * _ROWS):
            keys = (keys ^ sketches[places, column]) * np.uint64(_MIX)
            keys ^= keys >> np.uint64(29)
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        several = counts[numbers] > 1
        shared[places[several], band] = numbers[several]
    return shared


def _nearest(
    texts: Sequence[Shingles | None], place: int, sketches: NDArray[np.uint32], candidates: list[int], least: float
) -> Joined | None:
    import numpy as np

    estimates = (sketches[candidates] == sketches[place]).mean(axis=1)
    likeliest = np.argsort(-estimates, kind="stable")[:_MOST_COMPARED]
    shares = [
        (jaccard(texts[candidates[at]], texts[place]), -candidates[at])
        for at in likeliest
        if estimates[at] >= least - _SLACK
    ]
    similarity, first = max(shares, default=(0.0, 0))
    return Joined(place, -first, similarity) if similarity >= least else None


def jaccard(one: Shingles | None, other: Shingles | None) -> float:
    """The share of common sequences of two texts; 0 where one of them is too short to be compared."""
    import numpy as np

    if one is None or other is None:
        return 0.0
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


class _Sketcher:
    """The minimal hashes of a text under 100 functions of multiply-and-shift, which are the same in every process."""

    def __init__(self) -> None:
        import numpy as np

        # Generators of random numbers change from one release of a library to the next.
        count = _BANDS * _ROWS
        numbers = np.frombuffer(hashlib.shake_128(b"near-duplicates").digest(16 * count), dtype="<u8")
        self._factors, self._terms = numbers[:count] | np.uint64(1), numbers[count:]

    def __call__(self, text: Shingles) -> NDArray[np.uint32]:
        import numpy as np

        products = text.astype(np.uint64)[:, None] * self._factors[None, :] + self._terms[None, :]
        least: NDArray[np.uint32] = (products >> np.uint64(32)).astype(np.uint32).min(axis=0)
        return least
