"""The table of questions that ships, and whose questions a chunk has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adk_evidence.index.registry import settings_of
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.store.factory import open_generations
from adk_ingest.commands.codebase import codebase_from
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.records import questions, tasks
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_files, write_questions

# Words that stand in no text of the small corpora.
ODD = "how do pelicans negotiate their breakfast with seventeen reluctant otters?"
OTHER = "how do the otters answer when the pelicans come back?"
BACK_OFF = "docs/tools/retry.md#Retry a tool > Back off"

WriteTable = Callable[[dict[str, list[tuple[str, list[str]]]]], None]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteTable:
    """Puts a table of questions in the place of the one that ships: texts and their questions by name."""

    def write(chunks: dict[str, list[tuple[str, list[str]]]]) -> None:
        write_questions(tmp_path / "table.json.gz", chunks)
        questions._read.cache_clear()

    monkeypatch.setattr(questions, "config_file", lambda name: tmp_path / "table.json.gz")
    # The ways to say a task are questions, too.
    monkeypatch.setattr(tasks, "tasks_for", lambda settings: tasks.NONE)
    write({})
    return write


def own(place: Workplace) -> list[ChunkPayload]:
    """The chunks that may have questions."""
    return [payload for payload in place.points().values() if payload.origin != "api-reference"]


@pytest.mark.slow
class TestWhoseQuestionsAChunkHas:
    def test_a_chunk_is_found_by_a_question_that_was_written_for_it(self, tmp_path: Path, table: WriteTable) -> None:
        place = Workplace(tmp_path)
        place.ingest()
        before = {one.chunk_id: one.rank for one in place.ask(ODD).candidates}
        table({BACK_OFF: [("an older text", [ODD])]})
        place.ingest()
        (asked,) = [chunk for chunk in own(place) if chunk.questions == (ODD,)]
        assert asked.headings[-1] == "Back off"
        (found,) = [one for one in place.ask(ODD).candidates if one.chunk_id == asked.chunk_id]
        assert found.rank < before.get(found.chunk_id, 99)
        assert [one.rank for one in found.why.branches if one.branch == "sparse"] == [1]
        table({BACK_OFF: [("an older text", [ODD])], "elsewhere#Other": [(asked.body, [])]})
        place.ingest()
        assert not any(chunk.questions for chunk in own(place)), "what is known of the text itself counts"

    def test_an_index_without_questions_answers_as_one_that_has_no_vectors_for_them(
        self, tmp_path: Path, table: WriteTable
    ) -> None:
        place, without = Workplace(tmp_path), Workplace(tmp_path / "without", {"ingestion": {"questions": False}})
        place.ingest()
        without.ingest()
        for query in ("how often is a tool called again?", "RetryPlugin max_retries", ODD):
            mine, other = place.ask(query), without.ask(query)
            assert [one.chunk_id for one in mine.candidates] == [one.chunk_id for one in other.candidates]
            scores = [one.rerank_score for one in other.candidates]
            assert [one.rerank_score for one in mine.candidates] == pytest.approx(scores, abs=1e-5)

    def test_a_text_that_two_chunks_share_has_the_questions_of_its_own_name(
        self, tmp_path: Path, table: WriteTable
    ) -> None:
        same = "# Twin\n\nThe same words stand on two pages of this small kit."
        place = Workplace(tmp_path)
        write_files(place.docs, {"docs/one.md": f"{same}\n", "docs/two.md": f"{same}\n", "docs/x.md": f"{same}\n"})
        place.ingest()
        (text,) = {chunk.body for chunk in own(place) if "Twin" in chunk.headings}
        table({"docs/one.md#Twin": [(text, [ODD])], "docs/two.md#Twin": [(text, [OTHER])]})
        place.ingest()
        asked = {chunk.path: chunk.questions for chunk in own(place) if chunk.questions}
        assert asked["docs/one.md"] == (ODD,) and asked["docs/two.md"] == (OTHER,) and "docs/x.md" in asked
        assert place.ingest().status == "unchanged"

    def test_a_text_keeps_its_questions_where_it_moves(self, tmp_path: Path, table: WriteTable) -> None:
        place = Workplace(tmp_path)
        place.ingest()
        (text,) = [chunk.body for chunk in own(place) if chunk.headings[-1:] == ("Back off",)]
        table({BACK_OFF: [(text, [ODD])]})
        (place.docs / "docs/tools/retry.md").rename(place.docs / "docs/tools/again.md")
        place.ingest()
        (asked,) = [chunk for chunk in own(place) if chunk.questions]
        assert asked.path == "docs/tools/again.md"

    def test_a_codebase_has_the_questions_of_its_texts_and_not_of_its_names(
        self, tmp_path: Path, table: WriteTable
    ) -> None:
        place = Workplace(tmp_path)
        text = "# Shop\n\nA shop sells small things to people who walk by."
        folder = write_files(tmp_path / "shop", {"README.md": f"{text}\n"})
        indexer = CodebaseIndexer(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
        codebase = codebase_from(place.settings, folder, "shop", {})

        def with_questions() -> int:
            assert indexer.build(codebase, Progress()).status == "success"
            current = open_generations(settings_of(place.settings, "shop")).current()
            assert current is not None
            return sum(corpus.with_questions for corpus in current.manifest.corpora.values())

        table({"README.md#Shop": [("an older text", [ODD])]})
        assert with_questions() == 0
        table({"elsewhere#Shop": [(text, [ODD])]})
        assert with_questions() == 1

    def test_chunks_have_the_questions_of_their_places_and_of_all_their_sections(
        self, tmp_path: Path, table: WriteTable
    ) -> None:
        table(
            {
                "docs/twice.md#Page > Part": [("was first", [ODD]), ("was second", [OTHER])],
                "docs/one.md#Page > First": [("was", [ODD])],
                "docs/one.md#Page > Second": [("was", [OTHER, ODD])],
            }
        )
        place = Workplace(tmp_path)
        part = "## Part\n\n" + "Words that say which part this is. " * 15 + "\n\n"
        sections = "# Page\n\nShort.\n\n#### First\n\nText.\n\n#### Second\n\nMore.\n"
        twice = f"# Page\n\n{part}First.\n\n{part}Second.\n"
        write_files(place.docs, {"docs/twice.md": twice, "docs/one.md": sections})
        place.ingest()
        asked = sorted((chunk.path, chunk.start_line, chunk.questions) for chunk in own(place) if chunk.questions)
        assert [found for _, _, found in asked] == [(ODD, OTHER), (ODD,), (OTHER,)]
