"""The demo: what it ingests at first, and what serves the next one."""

from __future__ import annotations

import pytest

from adk_ingest import pipeline, session
from tests.corpora import HashEmbedder, Notes, Workplace

pytestmark = pytest.mark.slow


@pytest.fixture
def ingestions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The ingestions that the demo asks for; none is run."""
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(session, "ingest", lambda settings, mode, sources, progress: asked.append((mode, sources)))
    return asked


def test_the_first_demo_builds_an_index_of_the_named_docs_that_serves_the_next_demo(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())
    monkeypatch.setenv("ADK_EVIDENCE_DOCS", str(workplace.docs))
    corpora = {"adk_python": {"root": str(workplace.code)}}
    workplace.overrides = {"ingestion": {"corpora": corpora}}
    first = Notes()
    session.prepare_demo(workplace.settings, first)
    assert any(str(workplace.docs) in note for note in first.notes)
    current = workplace.generations.current()
    assert current is not None and set(current.manifest.corpora) == {"adk_docs", "adk_python", "api-reference"}
    runs = len(workplace.runs())
    session.prepare_demo(workplace.settings, second := Notes())
    assert not second.notes and len(workplace.runs()) == runs


def test_an_index_of_other_settings_is_built_anew(workplace: Workplace, ingestions: list[tuple[object, ...]]) -> None:
    workplace.ingest()
    workplace.overrides = {"ingestion": {"chunking": {"docs": {"target_chunk_chars": 900}}}}
    listener = Notes()
    session.prepare_demo(workplace.settings, listener)
    assert len(ingestions) == 1
    assert "built anew" in listener.notes[0]
