"""Which texts are nearly the same: found whatever their order, the same in every process, and compared exactly."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from adk_evidence.analysis import shingles
from adk_evidence.analysis.shingles import LEAST_SHINGLES, SEQUENCE, Shingler, jaccard, near_duplicates

WORDS = [f"word{number}" for number in range(3000)]


def text(seed: int, length: int = 200) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def changed(words: Sequence[str], number: int, seed: int = 0) -> list[str]:
    """The words with some of them replaced, at equal distances."""
    copy = [*words]
    for at in range(number):
        copy[(at * len(copy)) // number] = f"other{seed}x{at}"
    return copy


def joined(texts: Sequence[Sequence[str]], least: float = 0.8) -> list[tuple[int, int]]:
    shingler = Shingler()
    found = near_duplicates([shingler.shingles(" ".join(words)) for words in texts], least, lambda done, total: None)
    return [(place, first) for place, first, _ in found]


def test_the_share_is_that_of_all_sequences_of_five_words() -> None:
    one, other = text(1), changed(text(1), 4)
    shingles_of = Shingler().shingles

    def sequences(words: Sequence[str]) -> set[tuple[str, ...]]:
        return {tuple(words[at : at + SEQUENCE]) for at in range(len(words) - SEQUENCE + 1)}

    first, second = sequences(one), sequences(other)
    expected = len(first & second) / len(first | second)
    assert 0.8 < expected < 0.95
    assert jaccard(shingles_of(" ".join(one)), shingles_of(" ".join(other))) == pytest.approx(expected)
    assert jaccard(shingles_of(" ".join(one)), shingles_of("\n\t".join(one))) == 1, "white space does not count"


def test_texts_join_the_first_that_they_are_like() -> None:
    near, far = changed(text(1), 3), changed(text(1), 40)
    assert joined([text(1), text(2), near, far, changed(text(2), 2)]) == [(2, 0), (4, 1)]


def test_a_threshold_decides_what_is_like() -> None:
    assert joined([text(1), changed(text(1), 5)], 0.7) == [(1, 0)]
    assert joined([text(1), changed(text(1), 5)], 0.9) == []


def test_texts_that_join_another_are_no_firsts_themselves() -> None:
    # The third is like the second, which is like the first; the third is not like the first.
    def replaced(words: Sequence[str], *places: int) -> list[str]:
        return [f"other{at}" if at in places else word for at, word in enumerate(words)]

    second = replaced(text(1), 10, 60, 110)
    third = replaced(second, 35, 85, 135, 160, 185)
    assert joined([text(1), second], 0.75) == [(1, 0)]
    assert joined([second, third], 0.75) == [(1, 0)]
    assert joined([text(1), second, third], 0.75) == [(1, 0)]


def test_short_texts_are_not_compared() -> None:
    short = text(1, LEAST_SHINGLES + SEQUENCE - 2)
    assert Shingler().shingles(" ".join(short)) is None
    assert joined([short, short]) == []
    repeated = ["the", "same", "again"] * 100
    assert joined([repeated, repeated]) == [], "few different sequences say as little as few"


def test_nearly_all_pairs_are_found() -> None:
    texts = [words for seed in range(150) for words in (text(seed), changed(text(seed), 5))]
    found = joined(texts, 0.7)
    assert len(found) >= 145 and all(place == first + 1 and first % 2 == 0 for place, first in found)


def test_a_thousand_copies_are_one_group() -> None:
    texts = [changed(text(1), 1, seed=number) for number in range(1000)]
    assert joined(texts) == [(place, 0) for place in range(1, 1000)]


def test_texts_of_one_template_that_are_not_alike_are_compared_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    template, compared = text(1, 160), [0]

    def estimated(*args: Any) -> Any:
        compared[0] += len(args[3])
        return nearest(*args)

    nearest = shingles._nearest
    monkeypatch.setattr(shingles, "_nearest", estimated)
    # Two of such texts share about half of their sequences.
    counts = []
    for number in (500, 1000, 2000):
        compared[0] = 0
        assert joined([template + text(100 + seed, 80) for seed in range(number)]) == []
        counts.append(compared[0])
    first, second, third = counts
    assert first > 0
    assert third - second < 2.2 * (second - first), "as many more texts need as many more comparisons for each"


def test_hashes_are_the_same_in_every_process() -> None:
    program = (
        "from adk_evidence.analysis.shingles import Shingler, near_duplicates\n"
        "a = Shingler().shingles(' '.join(f'w{n}' for n in range(90)))\n"
        "b = Shingler().shingles(' '.join(f'w{n}' for n in range(3, 93)))\n"
        "print(a.tolist(), near_duplicates([a, b], .8, lambda done, total: None))"
    )
    runs = {
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=environment).stdout
        for environment in ({**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2"))
    }
    assert len(runs) == 1 and b"Joined(place=1, first=0" in runs.pop()


def test_comparing_can_be_stopped() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        near_duplicates([Shingler().shingles(" ".join(text(1)))], 0.8, stop)
    heard: list[int] = []
    shingler = Shingler()
    copies = [shingler.shingles(" ".join(changed(text(1), 1, seed))) for seed in range(100)]
    near_duplicates(copies, 0.8, lambda done, total: heard.append(done))
    assert heard.count(100) == 5, "after every twenty of the texts that share something"
