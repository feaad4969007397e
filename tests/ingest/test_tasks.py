"""The table of tasks that ships: which chunks belong to a task, and how a question near the task finds them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.errors import SourceError
from adk_evidence.index.registry import settings_of
from adk_evidence.models.chunk import sha256_text
from adk_evidence.store.factory import open_generations
from adk_ingest.commands.codebase import codebase_from
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.records import tasks
from adk_ingest.records.questions import HASH_CHARS
from adk_ingest.records.tasks import Tasks
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_files

# Words that stand in no text of the small corpora.
WAY = "how do pelicans negotiate breakfast with seventeen reluctant otters?"
TITLE = "Share breakfast among pelicans"
SECTION = ("docs/tools/confirm.md#Confirm a tool > Ask a person", 0, "0", "how-to")
METHOD = ("google.adk.runners.Runner", 0, "0", "registration")

WriteTable = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteTable:
    """Puts a table with one task in the place of the one that ships."""
    path = tmp_path / "table.json.gz"

    def write(*parts: tuple[Any, ...]) -> Path:
        found = [{"title": TITLE, "ways": [WAY], "parts": parts}]
        path.write_bytes(gzip.compress(json.dumps({"format": 1, "tasks": found}).encode()))
        tasks._shipped.cache_clear()
        return path

    monkeypatch.setattr(tasks, "config_file", lambda name: path)
    write()
    return write


@pytest.mark.slow
class TestAQuestionNearATask:
    def test_finds_all_that_the_task_needs_and_says_so(self, tmp_path: Path, table: WriteTable) -> None:
        table(SECTION, METHOD)
        place = Workplace(tmp_path)
        place.ingest()
        first, second, *others = place.ask(WAY).candidates
        assert {first.why.task, second.why.task} == {TITLE}
        roles = {one.headings[-1] if one.headings else one.symbol: one.why.task_role for one in (first, second)}
        assert roles == {"Ask a person": "how-to", "Runner": "registration"}
        assert not any(one.why.task for one in others)
        assert not any(one.why.task for one in place.ask("back off after a failure").candidates)

    def test_a_changed_table_is_indexed_by_the_next_run(self, tmp_path: Path, table: WriteTable) -> None:
        place = Workplace(tmp_path)
        place.ingest()
        assert place.ingest().status == "unchanged"
        table(SECTION, METHOD)
        place.ingest()
        assert sorted(found.tasks[0][1] for found in place.points().values() if found.tasks) == [
            "how-to",
            "registration",
        ]

    def test_other_codebases_have_no_tasks(self, tmp_path: Path, table: WriteTable) -> None:
        table(("README.md#Shop", 0, "0", "how-to"))
        place = Workplace(tmp_path)
        folder = write_files(tmp_path / "shop", {"README.md": "# Shop\n\nA shop sells small things.\n"})
        indexer = CodebaseIndexer(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
        assert indexer.build(codebase_from(place.settings, folder, "shop", {}), Progress()).status == "success"
        current = open_generations(settings_of(place.settings, "shop")).current()
        assert current is not None
        assert sum(corpus.with_questions for corpus in current.manifest.corpora.values()) == 0


def test_a_chunk_belongs_to_a_task_by_its_text_or_place_and_by_the_sections_inside_it(table: WriteTable) -> None:
    moved = sha256_text("moved")[:HASH_CHARS]
    found = Tasks(table(("a#A", 0, "0", "how-to"), ("a#A", 3, moved, "caveat"), ("a#A > B", 0, "0", "remedy")))

    def roles(*chunk: Any) -> list[str]:
        return [part.role for part in found.of(*chunk)]

    assert roles("a#A", 0, "any text") == ["how-to"] and roles("a#A", 1, "any text") == []
    assert roles("a#A", 1, "moved") == ["caveat"]
    assert roles("a#A", 1, "any text", ["a#A > B"]) == ["remedy"]
    # A chunk has one part in a task: its own name says it better than a section inside it.
    assert roles("a#A", 0, "any text", ["a#A > B"]) == ["how-to"]


@pytest.mark.parametrize("text", [None, "", "{}", '{"tasks": [{"title": 1}]}'])
def test_a_damaged_table_is_one_sentence(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "tasks.json.gz"
    if text is not None:
        path.write_bytes(gzip.compress(text.encode()) if text else b"")
    with pytest.raises(SourceError, match=r"^tasks\.json\.gz cannot be read\."):
        Tasks(path).of("a#A", 0, "text")
