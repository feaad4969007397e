"""Every check passes with the reference, and fails with a wrong solution and with none."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason="NO google-adk HERE: `npm test` runs this in .venv-adk, as a part of its own")

from tests.tasks.checking import tasks

# The ADK says of much that it is experimental, and wrong solutions are wrong.
pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::DeprecationWarning", "ignore:coroutine:RuntimeWarning"
)
ALL = pytest.mark.parametrize("name", tasks())


def test_there_are_twenty_tasks() -> None:
    assert len(tasks()) == 20


@ALL
def test_the_reference_passes(name: str) -> None:
    task = tasks()[name]
    assert task.failure(task.folder / "reference.py") is None


@ALL
def test_a_wrong_solution_fails(name: str) -> None:
    task = tasks()[name]
    assert task.failure(task.folder / "wrong.py")


@ALL
def test_an_empty_solution_fails(name: str, tmp_path: Path) -> None:
    empty = tmp_path / "solution.py"
    empty.touch()
    assert tasks()[name].failure(empty)
