from __future__ import annotations

import pytest

from adk_ingest import session
from adk_ingest.progress import Silent
from adk_ingest.sources.resolve import DEMO_ORDER
from tests.corpora import Workplace

pytestmark = pytest.mark.slow


class Listener(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def ingestions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The ingestions that the demo asks for; none is run."""
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(session, "ingest", lambda settings, mode, sources, progress: asked.append((mode, sources)))
    return asked


def test_the_first_demo_ingests_everything_with_a_clone_of_the_docs_before_the_named_folder(
    workplace: Workplace, ingestions: list[tuple[object, ...]]
) -> None:
    session.prepare_demo(workplace.settings, Listener())
    ((mode, sources),) = ingestions
    assert mode == "all"
    assert sources.docs_order == DEMO_ORDER == ("root", "clone", "env")


def test_a_later_demo_ingests_nothing(workplace: Workplace, ingestions: list[tuple[object, ...]]) -> None:
    workplace.ingest()
    session.prepare_demo(workplace.settings, Listener())
    assert ingestions == []


def test_an_index_of_other_settings_is_built_anew(workplace: Workplace, ingestions: list[tuple[object, ...]]) -> None:
    workplace.ingest()
    workplace.overrides = {"ingestion": {"chunking": {"docs": {"target_chunk_chars": 900}}}}
    listener = Listener()
    session.prepare_demo(workplace.settings, listener)
    assert len(ingestions) == 1
    assert "built anew" in listener.notes[0]
