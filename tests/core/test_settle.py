"""What the first answer of a process changes for garbage collections."""

from __future__ import annotations

import gc

import pytest

from adk_evidence.search import session

pytestmark = pytest.mark.usefixtures("collector_as_before")


@pytest.mark.parametrize(("own", "then"), [(700, session.COLLECTED_AT_ONCE), (50_000, 50_000), (0, 0)])
def test_a_process_collects_less_often_than_before_and_never_more_often(own: int, then: int) -> None:
    gc.set_threshold(own, 10, 10)
    session.settle.__wrapped__()
    assert gc.get_threshold() == (then, 10, 10) and gc.get_freeze_count() > 0
