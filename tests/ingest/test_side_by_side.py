"""Files that are cut in several processes make the index that one process makes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adk_ingest.pipeline as pipeline
import adk_ingest.records.processes as side_by_side
from adk_evidence.errors import IngestError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_evidence.models.chunk import KINDS
from adk_evidence.store.base import scroll_all
from adk_evidence.store.factory import open_generations, open_reader
from adk_ingest.corpora.codebase import codebase_corpora
from adk_ingest.corpora.forms import chunk_file
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import IngestCancelledError
from adk_ingest.sources.codebase import open_codebase
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_files

pytestmark = pytest.mark.slow

FILES: dict[str, str | bytes] = {
    **{
        f"pkg/m{n}.py": f'"""Module {n}."""\n\n\ndef f{n}(x):\n    """Add {n}."""\n    return x + {n}\n'
        for n in range(9)
    },
    **{f"web/w{n}.ts": f"export function w{n}(x: number): number {{\n  return x * {n};\n}}\n" for n in range(5)},
    "docs/guide.md": '# Guide\n\nThe sum is here:\n\n```python\n--8<-- "pkg/m3.py"\n```\n',
    "docs/empty.md": "!!!\n",
    "broken.py": "def f(:\n    return\n",
    "model.r": "fit <- function(data) {\n  lm(y ~ x, data = data)\n}\n",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setattr(side_by_side, "LEAST_FILES", 2)
    write_files(tmp_path / "app", FILES)
    return Workplace(tmp_path)


def build(place: Workplace, home: str, cpus: int, monkeypatch: pytest.MonkeyPatch, **more: Any) -> dict[str, Any]:
    """Index the folder in a home folder of its own, and return the points with what the run said."""
    monkeypatch.setattr(pipeline, "processors", lambda: cpus)
    settings = place.settings_with({"home": place.root / home})
    codebase = Codebase(name="app", path=place.root / "app")
    indexer = CodebaseIndexer(settings, dense=HashEmbedder(), sparse=more.pop("sparse", shared_sparse()))
    report = indexer.build(codebase, Progress(), **more)
    own = settings_for(settings, codebase)
    current = open_generations(own).current()
    assert current is not None
    reader = open_reader(current.folder, own)
    points = {
        record.id: ({**record.payload, "created_at": ""}, record.vectors)
        for kind in KINDS
        for record in scroll_all(reader, own.store.collection(kind), with_vectors=True)
    }
    reader.close()
    corpora = {name: one.model_dump(exclude={"location"}) for name, one in sorted(current.manifest.corpora.items())}
    return {"points": points, "corpora": corpora, "warnings": report.warnings, "chunks": report.chunks}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that were started."""
    processes: list[Any] = []
    start = side_by_side._start
    monkeypatch.setattr(side_by_side, "_start", lambda: processes.append(start()) or processes[-1])
    return processes


def test_several_processes_make_the_same_index(
    place: Workplace, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = build(place, "alone", 1, monkeypatch)
    assert not started
    several = build(place, "several", 3, monkeypatch)
    assert len(started) == 3 and all(process.returncode is not None for process in started)
    assert several == alone
    assert any("broken.py" in warning for warning in alone["warnings"])
    assert any("return x + 3" in payload["text"] for payload, _ in alone["points"].values() if payload["kind"] == "doc")
    # No process is started for few files, or for an encoder that no process can make.
    started.clear()

    class Other:
        model, requires_idf, exact_terms = "other", True, True
        has_terms, encode_documents = shared_sparse().has_terms, shared_sparse().encode_documents

    assert build(place, "other", 2, monkeypatch, sparse=Other())["chunks"]
    monkeypatch.setattr(side_by_side, "LEAST_FILES", len(FILES) + 1)
    assert build(place, "few", 2, monkeypatch)["chunks"] and not started


def test_what_the_system_does_not_start_is_done_in_one_process(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = side_by_side._start

    def refused_later() -> Any:
        if started:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        started.append(start())
        return started[0]

    monkeypatch.setattr(side_by_side, "_start", refused_later)
    assert build(place, "refused", 2, monkeypatch)["chunks"]
    assert started and started[0].returncode is not None


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("pass", r"ended with 0 before it had done \w+"),
        ("import adk_ingest.records.files as m; m.records = None; main()", "cannot be made: TypeError"),
    ],
)
def test_a_process_that_dies_or_fails_is_an_error_that_says_so(
    place: Workplace, monkeypatch: pytest.MonkeyPatch, program: str, said: str
) -> None:
    whole = program if program == "pass" else side_by_side._PROGRAM.replace("main()", program)
    monkeypatch.setattr(side_by_side, "_PROGRAM", whole)
    with pytest.raises(IngestError, match=said):
        build(place, "failing", 2, monkeypatch)


def test_a_cancelled_run_leaves_no_process(
    place: Workplace, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(IngestCancelledError):
        build(place, "cancelled", 2, monkeypatch, cancelled=lambda: bool(started))
    assert started and all(process.returncode is not None for process in started)


def test_a_corpus_travels_without_its_files_and_with_the_questions_of_the_run(place: Workplace) -> None:
    settings = settings_for(place.settings, Codebase(name="app", path=place.root / "app"))
    for corpus in codebase_corpora(settings, open_codebase(place.root / "app"), "now").corpora:
        questions: Callable[..., Any] = corpus.questions.of
        copy = pickle.loads(pickle.dumps(corpus.without_files()))  # noqa: S301 - our own
        assert copy.files == () and not copy.found.files
        assert copy.questions.of("name", 0, "text") == questions("name", 0, "text")
        assert (copy.name, copy.state, copy.source) == (corpus.name, corpus.state, corpus.source)
        file = corpus.files[0] if corpus.files else None
        if file is not None:
            assert [chunk.body for chunk in chunk_file(copy, file).chunks] == [
                chunk.body for chunk in chunk_file(corpus, file).chunks
            ]
