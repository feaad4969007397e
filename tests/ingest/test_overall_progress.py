"""One bar for a whole ingestion."""

from __future__ import annotations

import pytest

from adk_ingest import progress
from adk_ingest.progress import Overall, Progress

FIRST = [
    ("discover", None),
    ("chunk", 1862),
    ("upsert", 10_017),
    ("verify", None),
    ("publish", None),
    ("targets", None),
    ("embed", 25_894),
    ("upsert", 10_017),
    ("verify", None),
    ("publish", None),
    ("embed", 2_500),
]


def shares(stages: list[tuple[str, int | None]], *, symbols: bool = True) -> list[tuple[str, float, float]]:
    """Each stage with what is done of the whole at its beginning and at its end."""
    overall = Overall(symbols=symbols)
    found = []
    for name, total in stages:
        overall.stage(name, total)
        begun = overall.share
        for done in range(0, (total or 0) + 1, 500):
            overall.reach(done)
        overall.reach(total or 0)
        found.append((name, begun, overall.share))
    return found


def test_the_bar_of_a_first_ingestion_is_mostly_the_computing_of_vectors() -> None:
    found = shares(FIRST)
    name, begun, ended = found[6]
    assert name == "embed" and begun < 0.15 and ended - begun > 0.6
    assert found[-1][2] == 1


def test_it_never_goes_back() -> None:
    steps = [share for _, begun, ended in shares(FIRST) for share in (begun, ended)]
    assert steps == sorted(steps) and steps[0] >= 0 and steps[-1] <= 1


def test_an_update_with_few_vectors_does_not_wait_for_many() -> None:
    update = [("discover", None), ("chunk", 4), ("embed", 20), ("upsert", 20), ("verify", None), ("publish", None)]
    found = {name: ended for name, _, ended in shares(update, symbols=False)}
    assert found["chunk"] < 0.5
    assert found["upsert"] > 0.7


def test_stages_that_it_does_not_know_move_nothing() -> None:
    overall = Overall(symbols=False)
    overall.stage("unheard of", 5)
    overall.reach(5)
    assert overall.share == 0


def test_the_time_left_is_that_of_the_vectors_at_the_speed_of_this_machine() -> None:
    now = 0.0
    overall = Overall(symbols=True, clock=lambda: now)
    for name, total in FIRST[:7]:
        overall.stage(name, total)
    overall.reach(0)
    assert overall.seconds_left is None
    # The model was loaded before the first vectors.
    now = 40.0
    overall.reach(100)
    assert overall.seconds_left is None
    now = 50.0
    overall.reach(600)
    left = overall.seconds_left
    # 50 vectors a second, and the stages after them at that pace.
    assert left is not None and (25_894 - 600) / 50 < left < 1.5 * (25_894 - 600) / 50
    now = 556.0
    overall.reach(25_894)
    later = overall.seconds_left
    assert later is not None and 0 < later < 200
    for name, total in FIRST[7:]:
        overall.stage(name, total)
    overall.reach(2_500)
    assert overall.seconds_left == 0


def test_the_time_that_is_left_is_told_after_ten_seconds_of_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    view = Progress()
    view.stage("embed", 30_100, "vectors")
    # The first units wait for a model.
    told = []
    for now in (60.0, 65.0, 70.0, 75.0):
        view.advance(100 if now == 60 else 500)
        told.append(view.left)
    assert told == ["", "", "about 4 min 50 s left", "about 4 min 45 s left"]
    view.stage("discover")
    assert view.left == ""
