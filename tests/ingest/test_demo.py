"""The demo: what it ingests at first, and what serves the next one."""

from __future__ import annotations

import pytest

from adk_evidence.desk import Indexes
from adk_evidence.errors import ModelError
from adk_evidence_cli import asking, main
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


def test_the_demo_answers_as_soon_as_keywords_can_and_again_when_the_index_is_complete(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answered: list[str] = []

    def answer(indexes: Indexes, *_: object, **__: object) -> None:
        current = workplace.generations.current()
        assert current is not None
        answered.append(current.manifest.dense)

    monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())
    monkeypatch.setattr(pipeline, "LEXICAL_FIRST", 0)
    monkeypatch.setattr(asking, "answer", answer)
    monkeypatch.setattr(main, "settings_from", lambda **_: workplace.settings)
    monkeypatch.setenv("ADK_EVIDENCE_DOCS", str(workplace.docs))
    workplace.overrides = {"ingestion": {"corpora": {"adk_python": {"root": str(workplace.code)}}}}
    main.demo("how do I retry?")
    assert len(answered) == 2 and answered[0] != answered[1] == "complete"
    told = capsys.readouterr().err
    assert (
        told.index("The first answer, by keywords alone") < told.rindex("upsert") < told.index("The complete answer:")
    )
    main.demo("how do I retry?")
    assert len(answered) == 3 and "answer" not in capsys.readouterr().err


@pytest.mark.parametrize("fails", [False, True])
def test_where_no_vectors_are_missing_the_demo_answers_once_before_the_symbols_are_listed(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fails: bool
) -> None:
    listed: list[bool] = []

    def answer(indexes: Indexes, *_: object, **__: object) -> None:
        listed.append("targets" in capsys.readouterr().err)
        if fails and len(listed) == 1:
            raise ModelError("The model cannot be had.", "Wait.")

    monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())
    monkeypatch.setattr(asking, "answer", answer)
    monkeypatch.setattr(main, "settings_from", lambda **_: workplace.settings)
    monkeypatch.setenv("ADK_EVIDENCE_DOCS", str(workplace.docs))
    workplace.overrides = {"ingestion": {"corpora": {"adk_python": {"root": str(workplace.code)}}}}
    main.demo("how do I retry?")
    assert listed == ([False, True] if fails else [False]), "an early failure ends nothing"


def test_an_index_of_other_settings_is_built_anew(workplace: Workplace, ingestions: list[tuple[object, ...]]) -> None:
    workplace.ingest()
    workplace.overrides = {"ingestion": {"chunking": {"docs": {"target_chunk_chars": 900}}}}
    listener = Notes()
    session.prepare_demo(workplace.settings, listener)
    assert len(ingestions) == 1
    assert "built anew" in listener.notes[0]
