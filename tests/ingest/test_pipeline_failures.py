"""Runs that stop, fail or are refused: what serves meanwhile, what is reported, and how the next run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adk_ingest.pipeline as pipeline
import adk_ingest.publishing.publish as publishing
import adk_ingest.targets.build as targets
from adk_evidence.errors import EvidenceError, IngestError, StoreError, VerificationError
from adk_evidence.store.generations import GenerationStore
from adk_evidence.targets.about import built_sets
from adk_ingest.pipeline import Ingestion
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import IngestCancelledError
from adk_ingest.publishing.verify import VerificationReport
from adk_ingest.session import Sources
from tests.answers import told
from tests.corpora import HashEmbedder, Workplace, change, shared_sparse, write_docs

pytestmark = pytest.mark.slow

RETRY = "docs/tools/retry.md"
PLUGIN = "src/google/adk/plugins/retry.py"


class TestKeywordsFirst:
    @pytest.fixture(autouse=True)
    def _always(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pipeline, "LEXICAL_FIRST", 1)

    def test_keywords_answer_while_vectors_are_computed(self, workplace: Workplace) -> None:
        seen: list[Any] = []
        listed: list[int] = []

        def look(done: int) -> None:
            listed.append(len(built_sets(workplace.settings.paths.targets)))
            if not seen:
                seen.append(workplace.ask("RetryPlugin max_retries"))

        run = workplace.ingest(dense=HashEmbedder(on_batch=look))
        (pack,) = seen
        assert pack.index.generation == run.lexical_generation != run.generation
        assert pack.index.dense == "pending"
        (warning,) = (warning for warning in told(pack) if warning.startswith("dense_pending"))
        assert "still being computed" in warning
        assert pack.candidates[0].verification.state == "exact"
        assert pack.quality.level == "keyword_only"
        later = workplace.ask("RetryPlugin max_retries")
        assert later.index is not None
        assert later.index.dense == "complete"
        assert not any(warning.startswith("dense_pending") for warning in told(later))
        assert set(listed) == {1}, "symbols are listed before vectors are computed"
        assert len(built_sets(workplace.settings.paths.targets)) == 1

    def test_symbols_that_could_not_be_listed_at_first_are_listed_at_the_end(
        self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        build, tries = targets.build_targets, []

        def fail_at_first(*arguments: Any, **named: Any) -> Any:
            tries.append(named)
            if len(tries) == 1:
                raise StoreError("The disk is full for a moment.")
            return build(*arguments, **named)

        monkeypatch.setattr(targets, "build_targets", fail_at_first)
        workplace.ingest()
        assert len(tries) == 2
        assert len(built_sets(workplace.settings.paths.targets)) == 1

    def test_the_next_run_goes_on_from_the_vectors_that_were_computed(self, workplace: Workplace) -> None:
        broken = HashEmbedder(batch_size=4, fail_after=8)
        with pytest.raises(IngestError, match="stage embed"):
            workplace.ingest(dense=broken)
        assert len(broken.embedded) == 8
        assert workplace.ask("RetryPlugin").candidates
        (failed,) = workplace.runs()
        assert failed.status == "failed"
        assert failed.lexical_generation == workplace.generations.current_id()

        with pytest.raises(IngestError, match="lacks its dense vectors yet"):
            workplace.ingest("docs")

        embedder = HashEmbedder()
        run = workplace.ingest(dense=embedder)
        assert run.vectors_from_cache == 8
        assert not set(embedder.embedded) & set(broken.embedded)
        current = workplace.published
        assert current.manifest.dense == "complete"
        # Nothing is gained by publishing keywords a second time, nor in the place of an index that answers.
        assert run.lexical_generation is None
        change(workplace.docs / RETRY, "busy service", "tired service")
        assert workplace.ingest().lexical_generation is None


Arguments = dict[str, Any]


def fail_embed(monkeypatch: pytest.MonkeyPatch) -> Arguments:
    return {"dense": HashEmbedder(fail_after=0)}


def fail_upsert(monkeypatch: pytest.MonkeyPatch) -> Arguments:
    from adk_evidence.store.qdrant_edge import EdgeIndexWriter

    def broken(*_: object) -> int:
        raise StoreError("No space is left for points.", "Free some space.")

    monkeypatch.setattr(EdgeIndexWriter, "upsert", broken)
    return {}


def fail_verify(monkeypatch: pytest.MonkeyPatch) -> Arguments:
    monkeypatch.setattr(publishing, "verify_index", lambda *_: VerificationReport(problems=["A point is missing."]))
    return {}


def fail_publish(monkeypatch: pytest.MonkeyPatch) -> Arguments:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adk_evidence.store.generations.write_atomic", broken)
    monkeypatch.setattr("adk_evidence.store.generations.sync_tree", broken)
    return {}


FAILURES: list[tuple[str, Callable[[pytest.MonkeyPatch], Arguments], type[EvidenceError]]] = [
    ("embed", fail_embed, IngestError),
    ("upsert", fail_upsert, StoreError),
    ("verify", fail_verify, VerificationError),
    ("publish", fail_publish, StoreError),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """An ingested workplace, for tests that each leave it with an index that is up to date."""
    workplace = Workplace(tmp_path_factory.mktemp("shared"))
    workplace.ingest()
    return workplace


class TestARunThatFails:
    @pytest.mark.parametrize(("stage", "inject", "error"), FAILURES, ids=[inject.__name__ for _, inject, _ in FAILURES])
    def test_the_old_index_serves_and_the_next_run_completes(
        self,
        shared: Workplace,
        monkeypatch: pytest.MonkeyPatch,
        stage: str,
        inject: Callable[[pytest.MonkeyPatch], Arguments],
        error: type[EvidenceError],
    ) -> None:
        word = f"waits{inject.__name__.replace('_', '')}"
        (shared.docs / RETRY).write_text(f"# Retry\n\nThe runner {word} before it asks again.\n")
        old = shared.generations.current_id()
        with monkeypatch.context() as patched, pytest.raises(error) as raised:
            shared.ingest(**inject(patched))
        assert type(raised.value) is error
        assert "\n" not in str(raised.value)

        assert shared.generations.current_id() == old
        assert shared.ask("how do I retry a tool?").candidates
        failed = shared.runs()[0]
        assert failed.status == "failed"
        assert failed.errors
        assert failed.finished_at
        report = shared.failure(failed.run_id)
        assert report.stage == stage
        assert report.cursor is not None
        assert report.cursor.stage == stage
        assert report.error in failed.errors
        assert not [path for path in (shared.settings.index_path / "building").rglob("*") if path.is_file()]

        run = shared.ingest()
        assert run.status == "complete"
        assert any(word in candidate.text for candidate in shared.ask(word).candidates)

    def test_a_panic_of_a_native_library_is_a_failure_like_any_other(self, workplace: Workplace) -> None:
        class PanicException(BaseException):
            pass

        with pytest.raises(IngestError, match="PanicException"):
            workplace.ingest(dense=HashEmbedder(fail_after=0, failure=PanicException("index out of bounds")))
        assert workplace.runs()[0].status == "failed"

    def test_empty_corpora_are_refused_before_anything_is_published(self, workplace: Workplace) -> None:
        write_docs(workplace.root / "empty", {})
        sources = Sources(docs=str(workplace.root / "empty"), allow_network=False)
        with pytest.raises(IngestError, match="No chunk came out"):
            workplace.ingest("docs", sources=sources)
        assert workplace.generations.current() is None

    def test_a_home_that_cannot_be_written_is_one_sentence(self, workplace: Workplace) -> None:
        workplace.home.mkdir()
        (workplace.home / "manifests").write_text("a file, not a folder")
        with pytest.raises(StoreError, match="run manifest") as raised:
            workplace.ingest()
        assert "permissions" in raised.value.hint

    def test_a_chunker_that_fails_on_many_files_is_not_the_files_fault(
        self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object, **__: object) -> None:
            raise NameError("name 'strip' is not defined")

        monkeypatch.setattr("adk_ingest.corpora.forms.chunk_code", broken)
        with pytest.raises(IngestError, match=r"fails on many files.*NameError"):
            workplace.ingest()
        assert workplace.generations.current() is None


class TestARunThatIsStopped:
    def test_cancelling_keeps_the_vectors_that_were_computed(self, workplace: Workplace) -> None:
        first = HashEmbedder(batch_size=4)
        with pytest.raises(IngestCancelledError):
            ingestion = Ingestion(
                workplace.settings,
                Progress(),
                dense=first,
                sparse=shared_sparse(),
                cancelled=lambda: len(first.embedded) >= 8,
            )
            with ingestion.started("all") as log:
                ingestion.run(log, workplace.gather())
        (stopped,) = workplace.runs()
        assert stopped.status == "interrupted"
        assert stopped.vectors_embedded == len(first.embedded) == 8
        assert workplace.generations.current() is None
        second = HashEmbedder()
        run = workplace.ingest(dense=second)
        assert run.vectors_from_cache == 8
        assert not set(first.embedded) & set(second.embedded)

    def test_a_run_that_died_without_a_word_is_settled_by_the_next(self, workplace: Workplace) -> None:
        done = workplace.ingest()
        dead = done.model_copy(update={"run_id": "20200101T000000-dead", "status": "running"})
        other = dead.model_copy(update={"run_id": "20200101T000000-else", "config": {"store": {"path": "/elsewhere"}}})
        for run in (dead, other):
            (workplace.settings.paths.runs / f"{run.run_id}.json").write_text(run.model_dump_json())
        assert workplace.ingest().resumed_from == dead.run_id
        found = {run.run_id: run.status for run in workplace.runs()}
        assert found[dead.run_id] == "interrupted"
        assert found[other.run_id] == "running"


def test_the_writer_is_alone(workplace: Workplace) -> None:
    other = GenerationStore(workplace.settings.index_path)
    with other.writing("another-run"), pytest.raises(StoreError, match="another-run"):
        workplace.ingest()
    # It never began, so there is nothing to report or to resume.
    assert not workplace.runs()
