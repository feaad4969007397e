"""The branch of the search that compares a question with those that were written for chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.errors import SettingsError
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from adk_ingest.records import questions
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_questions

PAGE = "# Kettles\n\nA sensor ends the current at one hundred degrees.\n"
OTHER = "# Pots\n\nLids keep the warmth inside.\n"
WRITTEN = "tea water should switch off by itself when hot enough"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    made = Workplace(tmp_path_factory.mktemp("asked"))
    for name, text in {"kettles.md": PAGE, "pots.md": OTHER}.items():
        (made.docs / "docs" / name).write_text(text, encoding="utf-8")
    table = made.root / "table.json.gz"
    write_questions(table, {"docs/kettles.md#Kettles": [(PAGE.rstrip("\n"), [WRITTEN])]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "config_file", lambda name: table)
        made.ingest(dense=HashEmbedder())
    return made


@pytest.fixture
def ask(place: Workplace) -> Iterator[Callable[..., EvidencePack]]:
    def asked(query: str, **overrides: Any) -> EvidencePack:
        settings = place.settings_with(overrides)
        with closing(EvidenceService(settings, dense=HashEmbedder(), sparse=shared_sparse())) as service:
            return service.find(EvidenceRequest(query=query))

    yield asked


def branches(pack: EvidencePack) -> dict[str, set[str]]:
    """The branches that found each page."""
    return {Path(one.path).name: {place.branch for place in one.why.branches} for one in pack.candidates}


def test_a_question_finds_the_page_that_a_like_question_was_written_for(ask: Callable[..., EvidencePack]) -> None:
    found = branches(ask("should tea water switch off by itself, or lids keep the warmth inside?"))
    assert "asked" in found["kettles.md"]
    # Nobody wrote a question for the other page.
    assert found["pots.md"] and "asked" not in found["pots.md"]


@pytest.mark.parametrize("query", ["RetryPlugin.on_error", "ValueError: tea water is too hot"])
def test_names_and_errors_are_not_compared_with_questions(ask: Callable[..., EvidencePack], query: str) -> None:
    found = branches(ask(query))
    assert found and all("asked" not in names for names in found.values())


def test_a_setting_leaves_the_branch_out(ask: Callable[..., EvidencePack]) -> None:
    found = branches(ask("should tea water switch off by itself?", retrieval={"branches": ["dense", "sparse"]}))
    assert found["kettles.md"] and all("asked" not in names for names in found.values())


def test_the_branch_needs_dense_vectors(place: Workplace) -> None:
    with pytest.raises(SettingsError, match="needs dense for asked"):
        place.settings_with({"retrieval": {"branches": ["sparse", "asked"]}})
