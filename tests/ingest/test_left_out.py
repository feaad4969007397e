"""What an index lacks on purpose or for a fault, and how a run, a plan and a status say so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from typer.testing import CliRunner

import adk_ingest.pipeline as pipeline
import adk_ingest.publishing.verify as verify
from adk_evidence.embedding.base import SparseVector
from adk_evidence.store.base import NewPoint
from adk_evidence.store.factory import open_reader, open_writer
from adk_ingest.chunking.code import chunk_code
from adk_ingest.commands.cli import app
from adk_ingest.commands.doctor import examine
from adk_ingest.commands.reports import make_plan, verify_published
from adk_ingest.progress import Progress
from adk_ingest.session import plan
from tests.corpora import HashEmbedder, Workplace, change, shared_sparse, write_files

pytestmark = pytest.mark.slow

PLUGIN = "src/google/adk/plugins/retry.py"
# Their names are no words to search for, either.
WITHOUT_TERMS = {
    "docs/index/index.md": "---\n---\n",
    "docs/the/index.md": "***\n",
    "docs/a/index.md": "<!-- -->\n",
}
PLACES = ["docs/a/index.md:1-1", "docs/index/index.md:1-2", "docs/the/index.md:1-1"]
LONG = "docs/long.md"


@pytest.fixture(params=["edge", "server"])
def place(request: pytest.FixtureRequest, workplace: Workplace) -> Workplace:
    workplace.store = request.param
    return workplace


def write_many_chunks(workplace: Workplace) -> None:
    """A page with many more chunks than a sample has."""
    sections = [f"## Part {number}\n\n" + f"What part{number} says of the runner. " * 20 for number in range(100)]
    (workplace.docs / LONG).write_text("# A long page\n\n" + "\n\n".join(sections) + "\n")


def printed(workplace: Workplace, *arguments: str) -> str:
    named = ["--docs", str(workplace.docs), "--code", str(workplace.code), "--offline"]
    corpora = named if arguments[0] in ("plan", "all") else []
    result = CliRunner().invoke(app, [*arguments, *corpora, "--home", str(workplace.home)])
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


class TestWithoutTerms:
    def test_chunks_without_a_word_are_left_out_and_named(self, place: Workplace) -> None:
        write_files(place.docs, WITHOUT_TERMS)
        write_files(place.code, {"src/google/adk/index.json": "[]\n"})
        run = place.ingest()
        assert run.status == "complete"
        assert run.corpora["adk_docs"].chunks_without_terms == PLACES
        assert run.corpora["adk_python"].chunks_without_terms == ["src/google/adk/index.json:1-1"]
        assert any("3 chunks of adk_docs hold no word to search for" in notice for notice in run.notices)
        assert run.qdrant_counts["adk_docs"] == run.corpora["adk_docs"].chunks == run.points_uploaded["adk_docs"]
        assert not WITHOUT_TERMS.keys() & {payload.path for payload in place.points().values()}
        assert verify_published(place.settings, citations=True).ok
        assert place.ingest().status == "unchanged"
        change(place.docs / "docs/the/index.md", "***", "Flamingo")
        assert place.ingest().corpora["adk_docs"].chunks_without_terms == []
        assert "docs/the/index.md" in {payload.path for payload in place.points().values()}

    def test_a_plan_counts_and_names_them(self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())
        write_files(workplace.docs, WITHOUT_TERMS)
        planned = make_plan(workplace.settings, plan(workplace.settings, "all", workplace.sources, Progress()))
        assert planned.corpora["adk_docs"].chunks_without_terms == PLACES
        said = f"3 chunks of adk_docs hold no word to search for and are left out: {', '.join(PLACES)}."
        assert said in printed(workplace, "plan")
        assert said in printed(workplace, "all")

    def test_what_a_learned_model_finds_nothing_in_is_left_out_as_well(
        self, place: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Published twice, first for keywords alone.
        monkeypatch.setattr(pipeline, "LEXICAL_FIRST", 1)

        class Blind:
            model, requires_idf, exact_terms = shared_sparse().model, True, True
            has_terms = shared_sparse().has_terms

            def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
                found = shared_sparse().encode_documents(texts, kind)
                nothing = SparseVector((), ())
                return [nothing if "back_off" in text else v for text, v in zip(texts, found, strict=True)]

            def encode_query(self, text: str) -> Any:
                raise NotImplementedError

        run = place.ingest(sparse=Blind())
        (place_of_it,) = run.corpora["adk_python"].chunks_without_terms
        assert run.status == "complete" and place_of_it.startswith(PLUGIN)
        assert run.corpora["adk_python"].chunks == run.qdrant_counts["adk_python"]
        assert verify_published(place.settings, citations=False).ok


class TestVerification:
    @pytest.mark.parametrize("lost", ["sparse_lexical", "dense_docs"])
    def test_one_point_of_many_without_a_vector_is_found(
        self, place: Workplace, monkeypatch: pytest.MonkeyPatch, lost: str
    ) -> None:
        monkeypatch.setattr(verify, "SAMPLE_SIZE", 1)
        write_many_chunks(place)
        place.ingest()
        current = place.published
        with closing(open_reader(current.folder, place.settings)) as reader:
            record = reader.scroll("adk_docs", limit=1, with_vectors=True)[0][0]
        vectors = {name: vector for name, vector in record.vectors.items() if name != lost}
        with closing(open_writer(current.folder, current.manifest.specs(), place.settings)) as writer:
            writer.upsert("adk_docs", [NewPoint(record.id, vectors, record.payload)])
            writer.flush()
        report = verify_published(place.settings, citations=False)
        assert f"In adk_docs, 1 point lacks its vector {lost}." in report.problems


class TestFilesThatFail:
    @pytest.fixture(autouse=True)
    def _picky(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def picky(file: Any, chunking: Any) -> Any:
            if file.path == PLUGIN:
                raise RecursionError("too deep")
            return chunk_code(file, chunking)

        monkeypatch.setattr("adk_ingest.corpora.forms.chunk_code", picky)
        monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())

    def test_a_run_that_lacks_a_file_is_incomplete_and_names_the_file(self, workplace: Workplace) -> None:
        said = f"1 file of adk_python could not be split into chunks; the index lacks {PLUGIN}."
        assert said in printed(workplace, "plan")
        assert said in printed(workplace, "all")
        (run,) = workplace.runs()
        assert run.status == "incomplete" and said in run.notices
        assert run.corpora["adk_python"].failed_files == [PLUGIN]

    def test_later_runs_and_the_status_go_on_saying_so(
        self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workplace.ingest()
        again = workplace.ingest()
        assert (again.status, again.corpora["adk_python"].failed_files) == ("unchanged", [PLUGIN])
        said = f"1 file of adk_python could not be split into chunks; the index lacks {PLUGIN}."
        assert said in printed(workplace, "all")
        assert f"incomplete: {said}" in printed(workplace, "status")
        status = json.loads(printed(workplace, "status", "--json"))
        assert status["corpora"]["adk_python"]["failed_files"] == [PLUGIN]
        change(workplace.docs / "docs/tools/retry.md", "busy service", "tired service")
        assert workplace.ingest().status == "incomplete"
        assert [f.found for f in examine(workplace.settings) if f.what == "adk_python is incomplete"] == [
            f"1 file could not be split into passages, so the index lacks {PLUGIN}."
        ]
        monkeypatch.undo()
        change(workplace.code / PLUGIN, "MAX_RETRIES = 3", "MAX_RETRIES = 4")
        run = workplace.ingest()
        assert (run.status, run.corpora["adk_python"].failed_files) == ("complete", [])
