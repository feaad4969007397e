"""What a command changes for garbage collections."""

from __future__ import annotations

import gc

import pytest

from adk_ingest.garbage import one_command

pytestmark = pytest.mark.usefixtures("collector_as_before")


@pytest.mark.parametrize(("own", "then"), [(700, 500_000), (600_000, 600_000), (0, 0)])
def test_a_command_collects_less_often_and_leaves_everything_to_the_system(own: int, then: int) -> None:
    gc.set_threshold(own, 10, 10)
    with one_command():
        assert gc.get_threshold() == (then, 10, 10)
    assert gc.get_freeze_count() > 0
