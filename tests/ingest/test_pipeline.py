"""Ingestion as a whole: what is published, what a second run does, and what a run leaves behind that fails."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import adk_ingest.publishing.bases as bases
from adk_evidence.errors import EvidenceError, IngestError
from adk_evidence.models.chunk import ChunkPayload, point_id, sha256_text
from adk_evidence.store.factory import rollback
from adk_ingest.chunking.base import RawChunk
from adk_ingest.commands.reports import verify_published
from adk_ingest.corpora.forms import chunk_file
from adk_ingest.publishing.manifest import RunManifest
from adk_ingest.records.dense_text import passages
from adk_ingest.records.files import make_file
from adk_ingest.records.record import records
from adk_ingest.records.spool import RecordSpool
from adk_ingest.session import Sources
from tests.answers import told
from tests.corpora import (
    CODE,
    CODE_COMMIT,
    DOCS_COMMIT,
    HashEmbedder,
    Notes,
    Workplace,
    change,
    shared_sparse,
    word_vector,
    write_checkout,
    write_code,
    write_docs,
    write_wheel,
)

pytestmark = pytest.mark.slow

RETRY = "docs/tools/retry.md"
PLUGIN = "src/google/adk/plugins/retry.py"


@dataclass
class Published:
    """An ingested workplace, for tests that only look."""

    workplace: Workplace
    run: RunManifest
    points: dict[str, ChunkPayload]

    @property
    def chunks(self) -> dict[str, list[ChunkPayload]]:
        return group(self.points)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    workplace = Workplace(tmp_path_factory.mktemp("published"))
    return Published(workplace, workplace.ingest(), workplace.points())


def write_long_page(workplace: Workplace) -> Path:
    """A page with one section of several passages in the place of RETRY."""
    lines = [f"Step {number} of a long list says what the runner does then, and why.\n" for number in range(60)]
    page = workplace.docs / RETRY
    page.write_text("# Retry a tool\n\n" + "\n".join(lines))
    return page


def _as_made_at_once(points: dict[str, ChunkPayload]) -> dict[str, ChunkPayload]:
    """The points without the times of the runs that wrote them."""
    return {point: payload.model_copy(update={"created_at": ""}) for point, payload in points.items()}


def _content(workplace: Workplace) -> str | None:
    current = workplace.generations.current()
    return None if current is None else current.manifest.content


def _bytes_of(folder: Path) -> dict[str, str]:
    """The content of a generation's files, by their paths. The engine replaces two small ones when it opens them."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("edge_config.json", "segment.json")
    }


def by_path(workplace: Workplace) -> dict[str, list[ChunkPayload]]:
    return group(workplace.points())


def group(points: dict[str, ChunkPayload]) -> dict[str, list[ChunkPayload]]:
    found: dict[str, list[ChunkPayload]] = {}
    for payload in points.values():
        found.setdefault(payload.path, []).append(payload)
    return {path: sorted(chunks, key=lambda chunk: chunk.chunk_index) for path, chunks in found.items()}


class TestWhatIsPublished:
    def test_the_counts_of_run_manifest_and_store_agree(self, published: Published) -> None:
        workplace, run = published.workplace, published.run
        current = workplace.published
        assert run.status == "complete"
        assert run.generation == current.id
        assert current.manifest.dense == "complete"
        chunks = {name: corpus.chunks for name, corpus in run.corpora.items()}
        assert chunks == run.points_uploaded == {name: c.chunks for name, c in current.manifest.corpora.items()}
        assert run.qdrant_counts == {**chunks, "total": sum(chunks.values())}
        assert len(published.points) == sum(chunks.values())
        assert {name: corpus.files for name, corpus in run.corpora.items()} == {
            "adk_docs": 3,
            "adk_python": len(CODE),
            "api-reference": 4,
        }

    def test_every_chunks_own_text_stands_at_its_cited_lines(self, published: Published) -> None:
        workplace = published.workplace
        current = workplace.published
        roots = {"adk_docs": workplace.docs, "adk_python": workplace.code, "api-reference": current.folder / "pages"}
        for payload in published.points.values():
            root = roots[payload.corpus if payload.origin == "repository" else payload.origin]
            lines = (root / payload.path).read_text().split("\n")
            assert payload.body == "\n".join(lines[payload.start_line - 1 : payload.end_line]), payload.path
            assert sha256_text(payload.body) == payload.source_hash

    def test_a_chunk_says_where_it_came_from(self, published: Published) -> None:
        run = published.run
        for point, payload in published.points.items():
            of_docs = payload.kind == "doc"
            assert payload.corpus == ("adk_docs" if of_docs else "adk_python")
            assert payload.source_type == ("docs" if of_docs else "code")
            from_docs = payload.path.startswith("docs/")
            assert payload.repo == ("google/adk-docs" if from_docs else "google/adk-python")
            assert (payload.commit, payload.ref) == ((DOCS_COMMIT, "main") if from_docs else (CODE_COMMIT, "v9.9.0"))
            assert payload.created_at <= (run.finished_at or "")
            assert payload.chunker_version == run.chunker_version
            assert payload.text_hash == sha256_text(payload.text)
            assert payload.text_tokens > 0
            material = f"{payload.corpus}:{payload.path}:{payload.chunk_index}:{payload.text_hash}"
            assert payload.chunk_id == hashlib.sha1(material.encode(), usedforsecurity=False).hexdigest()
            assert point == point_id(payload.chunk_id)
            assert bool(payload.uri) == of_docs

    def test_indices_of_a_files_chunks_count_from_zero(self, published: Published) -> None:
        for path, chunks in published.chunks.items():
            assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks))), path
            assert [chunk.start_line for chunk in chunks] == sorted(chunk.start_line for chunk in chunks), path

    def test_a_page_knows_its_address_and_its_title_in_the_navigation(self, published: Published) -> None:
        chunks = published.chunks[RETRY]
        assert {chunk.title for chunk in chunks} == {"Retrying tools"}
        assert chunks[-1].uri == "https://docs.example.org/tools/retry/#back-off"
        assert published.chunks["docs/index.md"][-1].uri == "https://docs.example.org/#sessions"

    def test_headers_are_those_of_the_specification_but_for_the_commit(self, published: Published) -> None:
        chunks = published.chunks
        doc = chunks[RETRY][-1]
        assert doc.text.startswith(
            f"[CORPUS=adk_docs] [REPO=google/adk-docs]\n[PATH={RETRY}]\n[HEADINGS=Retry a tool > Back off]\n---\n"
        )
        code = next(chunk for chunk in chunks[PLUGIN] if chunk.symbol == "RetryPlugin")
        assert code.text.startswith(
            "[CORPUS=adk_python] [REPO=google/adk-python]\n"
            f"[PATH={PLUGIN}] [SYMBOL=RetryPlugin] [LINES={code.start_line}-{code.end_line}]\n"
            "---\nclass RetryPlugin:\n"
        )
        module = chunks[PLUGIN][0]
        assert f"[PATH={PLUGIN}] [SYMBOL=google.adk.plugins.retry] [LINES=1-3]\n---\n" in module.text

    def test_the_manifest_tells_how_the_run_went(self, published: Published) -> None:
        workplace, run = published.workplace, published.run
        saved = json.loads((workplace.settings.paths.runs / f"{run.run_id}.json").read_text())
        assert saved == run.model_dump(mode="json")
        stages = {"discover", "chunk", "embed", "sparse", "upsert", "verify", "publish"}
        assert set(saved["seconds"]) == stages
        assert saved["config"]["ingestion"]["chunking"]["max_chunk_chars"] == 12000
        assert saved["corpora"]["adk_docs"]["skipped"] == {"excluded": 1, "extension": 1}
        assert saved["corpora"]["adk_docs"]["commit"].startswith("d0c500000000")
        # Which sources were used is progress: a person need not look into a log for it.
        assert not any(notice.startswith("Using ") for notice in saved["notices"])
        assert not list(workplace.settings.paths.runs.glob("*.failure.json"))


class TestWhereCodeComesFrom:
    def test_a_wheel_is_of_its_versions_tag_and_its_api_reference_stands_in_for_docs(
        self, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ADK_EVIDENCE_DOCS", raising=False)
        wheel = write_wheel(workplace.root / "dist")
        run = workplace.ingest("all", sources=Sources(code=str(wheel), allow_network=False))
        assert set(run.corpora) == {"adk_python", "api-reference"}
        assert run.missing["adk_docs"].startswith("No source of google/adk-docs could be had.")
        assert run.corpora["adk_python"].commit == "v9.9.0"
        chunks = by_path(workplace)[PLUGIN]
        assert chunks[0].commit == chunks[0].ref == "v9.9.0"
        assert any(path.startswith("api-reference/") for path in by_path(workplace))

    def test_a_checkout_is_of_its_commit_and_says_when_it_was_changed(self, workplace: Workplace) -> None:
        checkout = workplace.root / "checkout"
        commit = write_checkout(checkout)
        (checkout / "src/google/adk/new.py").write_text("def added() -> int:\n    return 1\n")
        sources = Sources(code=str(checkout), allow_network=False)
        run = workplace.ingest("code", sources=sources)
        corpus = run.corpora["adk_python"]
        assert (corpus.commit, corpus.ref, corpus.source, corpus.dirty) == (commit, "main", "git", True)
        cited = {path: chunks[0].commit for path, chunks in by_path(workplace).items()}
        tree = cited["src/google/adk/new.py"]
        assert tree.startswith("tree-")
        # The API reference is made of all modules together.
        assert {path: at for path, at in cited.items() if path.endswith(".py")} == {
            **{path: commit for path in cited if path.endswith(".py")},
            "src/google/adk/new.py": tree,
        }
        assert {at for path, at in cited.items() if path.startswith("api-reference/")} == {tree}
        assert f"adk_python: 1 file is not as in commit {commit[:12]}, and cited as {tree} instead." in run.notices

        pack = workplace.ask("what does added return")
        by = {candidate.path: candidate for candidate in pack.candidates}
        assert f"@{tree}:" in by["src/google/adk/new.py"].citation
        assert by["src/google/adk/new.py"].verification.state == "exact"
        assert any(warning.startswith("uncommitted: ") and "new.py" in warning for warning in told(pack))


class TestARunAgain:
    def test_files_that_lie_elsewhere_by_now_keep_their_chunks_and_are_cited_there(self, workplace: Workplace) -> None:
        workplace.ingest()
        before, pages = workplace.points(), len(workplace.records("doc"))
        shutil.move(workplace.docs, workplace.root / "moved")
        embedder = HashEmbedder()
        sources = replace(workplace.sources, docs=str(workplace.root / "moved"))
        run = workplace.ingest(dense=embedder, sources=sources)
        assert run.status == "complete" and not embedder.embedded
        assert {corpus.files_changed for corpus in run.corpora.values()} == {0}
        assert workplace.points() == before and len(workplace.records("doc")) == pages
        assert verify_published(workplace.settings, citations=True).citations == {"exact": len(before)}
        assert workplace.ingest(sources=sources).status == "unchanged"

    def test_a_chunk_has_a_vector_for_each_of_its_passages_in_their_order(self, workplace: Workplace) -> None:
        page, first, second = write_long_page(workplace), HashEmbedder(), HashEmbedder()
        workplace.ingest(dense=first)
        found, questions = [], 0
        for kind, dense in (("doc", "dense_docs"), ("code", "dense_code")):
            for record in workplace.records(kind, with_vectors=True):  # type: ignore[arg-type]
                payload = ChunkPayload.model_validate(record.payload)
                fields = payload.model_dump(include={"start_line", "end_line", "symbol", "symbol_kind"})
                raw = RawChunk(**fields, body=payload.body, headings=payload.headings)
                repeats = payload.origin == "api-reference"
                found_here = passages(raw, path=payload.path, title=payload.title, kind=payload.kind, repeats=repeats)
                texts = [passage.text for passage in found_here]
                assert payload.passage_lines == tuple(passage.line for passage in found_here)
                assert record.vectors[dense] == [pytest.approx(word_vector(text), abs=1e-3) for text in texts]
                found.append(len(texts))
                questions += len(payload.questions)
        current = workplace.published
        assert max(found) > 5
        assert current.manifest.dense_vectors() == sum(found) + questions
        # Only the changed passages of a long chunk are embedded again.
        before = [text for text in first.embedded if "of a long list" in text]
        change(page, "Step 30 of", "Part 30 of")
        run = workplace.ingest(dense=second)
        [text] = second.embedded
        assert "Part 30 of" in text and text.startswith("Retrying tools > Retry a tool\n")
        assert (run.vectors_embedded, run.vectors_from_cache) == (1, len(before) - 1)
        assert len(before) > 5

    def test_points_of_a_removed_file_are_gone(self, workplace: Workplace) -> None:
        workplace.ingest()
        (workplace.code / PLUGIN).unlink()
        (workplace.docs / "docs/index.md").unlink()
        run = workplace.ingest()
        assert run.corpora["adk_docs"].files_removed == run.corpora["adk_python"].files_removed == 1
        left = by_path(workplace)
        assert "docs/index.md" not in left
        assert not any("retry" in path for path in left if path.startswith(("src/", "api-reference/")))
        current = workplace.published
        assert not list((current.folder / "pages").rglob("*retry*"))
        assert run.qdrant_counts["total"] == sum(map(len, left.values()))
        workplace.overrides = {"ingestion": {"api_reference": False}}
        workplace.ingest()
        assert {payload.origin for payload in workplace.points().values()} == {"repository"}

    def test_a_new_commit_cites_every_chunk_anew_and_writes_none(self, workplace: Workplace) -> None:
        workplace.ingest()
        before = workplace.points()
        write_docs(workplace.docs, {}, commit="f" * 40)
        run = workplace.ingest()
        assert run.status == "complete" and set(run.points_uploaded.values()) == {0}
        docs = {point: chunk for point, chunk in before.items() if chunk.path.startswith("docs/")}
        assert workplace.points() == {
            point: chunk.model_copy(update={"commit": "f" * 40}) if point in docs else chunk
            for point, chunk in before.items()
        }
        # The API reference is a part of the documentation, and of the code's commit.
        write_code(workplace.code, {}, commit="e" * 40)
        run = workplace.ingest()
        assert run.status == "complete" and set(run.points_uploaded.values()) == {0}
        assert {point: chunk.commit for point, chunk in workplace.points().items()} == {
            point: "f" * 40 if point in docs else "e" * 40 for point in before
        }
        assert verify_published(workplace.settings, citations=True).citations == {"exact": len(before)}
        assert workplace.ingest().status == "unchanged"

    def test_a_changed_page_and_module_leave_the_index_of_a_fresh_ingestion_and_the_older_one_as_it_was(
        self, workplace: Workplace, tmp_path: Path
    ) -> None:
        def change_both(place: Workplace) -> None:
            change(place.docs / RETRY, "Waiting longer after", "Pausing longer after")
            change(place.code / PLUGIN, "Retries", "Repeats")

        workplace.ingest()
        older, points = workplace.published, workplace.points()
        before = _bytes_of(older.folder)
        assert any("api_reference" in path or "pages" in path for path in before)
        change_both(workplace)
        run = workplace.ingest()
        assert {name for name, corpus in run.corpora.items() if corpus.files_changed} == {
            "adk_docs",
            "adk_python",
            "api-reference",
        }
        assert _bytes_of(older.folder) == before
        other = Workplace(tmp_path / "other")
        change_both(other)
        other.ingest()
        assert _as_made_at_once(workplace.points()) == _as_made_at_once(other.points())
        newer = workplace.published
        fresh = other.published
        assert _bytes_of(newer.folder / "pages") == _bytes_of(fresh.folder / "pages")
        assert verify_published(workplace.settings, citations=True).ok
        rollback(workplace.settings)
        assert workplace.points() == points

    def test_a_collection_without_a_change_is_the_published_one(self, workplace: Workplace) -> None:
        workplace.ingest()
        older, store = workplace.published, workplace.settings.store
        change(workplace.docs / RETRY, "Waiting longer after", "Pausing longer after")
        workplace.ingest()
        newer = workplace.published
        for kind, is_kept in (("doc", False), ("code", True)):
            files = list((newer.folder / store.collection(kind)).rglob("page_0.dat"))
            assert files
            assert all(path.samefile(older.folder / path.relative_to(newer.folder)) == is_kept for path in files)
        assert verify_published(workplace.settings, citations=True).ok

    def test_what_a_commit_says_of_the_site_reaches_pages_that_it_does_not_change(self, workplace: Workplace) -> None:
        (workplace.docs / "docs/tools/README.md").write_text("# All tools\n\nTools that retry and tools that ask.\n")
        workplace.ingest()
        write_docs(workplace.docs, {}, commit="f" * 40)
        change(workplace.docs / "mkdocs.yml", "Retrying tools", "Trying again")
        run = workplace.ingest()
        assert run.corpora["adk_docs"].files_changed == run.corpora["adk_docs"].files
        assert {chunk.title for chunk in by_path(workplace)[RETRY]} == {"Trying again"}
        [readme] = by_path(workplace)["docs/tools/README.md"]
        assert readme.uri is not None and readme.uri.startswith("https://docs.example.org/tools/#")
        (workplace.docs / "docs/tools/index.md").write_text("# Tools\n\nThis page takes the place of the other one.\n")
        write_docs(workplace.docs, {}, commit="a" * 40)
        change(workplace.docs / "mkdocs.yml", "Retrying tools", "Trying again")
        workplace.ingest()
        [readme] = by_path(workplace)["docs/tools/README.md"]
        assert readme.uri is not None and readme.uri.startswith("https://docs.example.org/tools/README/#")

    def test_one_mode_leaves_the_other_corpus_alone_and_no_change_leaves_all(self, workplace: Workplace) -> None:
        first, embedder = workplace.ingest(), HashEmbedder()
        before, published = workplace.points(), [one.id for one in workplace.generations.published()]
        second = workplace.ingest(dense=embedder)
        assert (second.status, second.generation, embedder.embedded) == ("unchanged", first.generation, [])
        assert [one.id for one in workplace.generations.published()] == published
        chunks = {name: corpus.chunks for name, corpus in second.corpora.items()}
        assert chunks == {name: corpus.chunks for name, corpus in first.corpora.items()}
        change(workplace.code / PLUGIN, "MAX_RETRIES = 3", "MAX_RETRIES = 4")
        change(workplace.docs / RETRY, "busy service", "tired service")
        run = workplace.ingest("docs")
        assert set(run.corpora) == {"adk_docs"}
        kept = {point for point, payload in before.items() if not payload.path.startswith("docs/")}
        assert kept < workplace.points().keys()
        run = workplace.ingest("code")
        assert set(run.corpora) == {"adk_python", "api-reference"}
        assert "tired service" in by_path(workplace)[RETRY][-1].text

    def test_other_chunk_sizes_rebuild_everything_and_one_corpus_alone_is_refused(self, workplace: Workplace) -> None:
        workplace.ingest()
        old = workplace.generations.current_id()
        workplace.overrides = {"ingestion": {"chunking": {"docs": {"overlap_chars": 0}}}}
        with pytest.raises(IngestError, match="one corpus alone cannot be brought up to date") as refused:
            workplace.ingest("docs")
        assert "adk-ingest all" in refused.value.hint
        with pytest.raises(IngestError, match="one corpus alone"):
            workplace.plan("docs")
        assert workplace.generations.current_id() == old
        run = workplace.ingest("all")
        assert all(corpus.files_changed == corpus.files for corpus in run.corpora.values())
        assert workplace.ingest().status == "unchanged"

    def test_only_the_kept_generations_stay(self, workplace: Workplace) -> None:
        notes = Notes()
        for word in ("one", "two", "three"):
            (workplace.docs / RETRY).write_text(f"# Page\n\nText number {word}.\n")
            workplace.ingest("docs", progress=notes)
        assert len(workplace.generations.published()) == 2
        assert len(list((workplace.settings.index_path / "generations").iterdir())) == 2
        # The collection of the code has no points.
        assert not any("written anew" in note for note in notes.notes)

    def test_a_page_of_stop_words_and_signs_is_no_obstacle(self, workplace: Workplace) -> None:
        workplace.overrides = {"ingestion": {"lexical": {"include_path_tokens": False, "include_symbol_tokens": False}}}
        (workplace.docs / "docs/the.md").write_text("!!! ??? ---\n\nthe and of\n")
        workplace.ingest()
        assert by_path(workplace)["docs/the.md"]


class TestPlan:
    def test_it_tells_what_would_happen_and_does_nothing(self, workplace: Workplace) -> None:
        changes, missing = workplace.plan()
        assert {change.corpus.name for change in changes} == {"adk_docs", "adk_python", "api-reference"}
        chunks = sum(change.said.chunks for change in changes)
        assert 0 < missing <= len({key for change in changes for keys in change.dense_keys.values() for key in keys})
        assert not workplace.settings.index_path.exists()
        assert not workplace.settings.paths.runs.exists()
        run = workplace.ingest()
        assert run.qdrant_counts["total"] == chunks
        assert run.vectors_embedded == missing
        assert workplace.plan()[1] == 0
        assert not any(workplace.plan()[0])


def test_a_site_that_cannot_be_read_is_a_warning(workplace: Workplace) -> None:
    (workplace.docs / "mkdocs.yml").write_text("nav: [unclosed")
    warnings = workplace.ingest("docs").corpora["adk_docs"].warnings
    assert any("mkdocs.yml cannot be read" in warning for warning in warnings)


def test_records_come_back_in_their_order_from_disk_too(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adk_ingest.records.spool.MEMORY_BYTES", 1)
    corpus = workplace.gather("code")[0]
    files = [make_file(corpus, file, shared_sparse(), encode=True) for file in corpus.files]
    made = [record for file in corpus.files for record in records(file, chunk_file(corpus, file), corpus)]
    with RecordSpool() as spool:
        for file in files:
            spool.add(file.pickled, file.entry.chunks)
        assert len(spool) == len(made)
        for _ in range(2):
            batches = list(spool.batches(3))
            assert [record.chunk_id for batch in batches for record, _ in batch] == [one.chunk_id for one in made]
            encoded = shared_sparse().encode_documents([one.lexical_text for one in made], corpus.kind)
            assert [sparse for batch in batches for _, sparse in batch] == encoded
            assert {len(batch) for batch in batches[:-1]} == {3}


def test_a_collection_of_which_little_would_stay_is_written_anew(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace.ingest()

    def replaced() -> dict[str, int]:
        current = workplace.published
        return {name: entry.replaced for name, entry in current.manifest.collections.items()}

    for old, new in (("Waiting longer", "Pausing longer"), ("Pausing longer", "Pausing")):
        lost = len(by_path(workplace)[RETRY])
        before = replaced()
        change(workplace.docs / RETRY, old, new)
        assert workplace.ingest().corpora["adk_docs"].files_changed == 1
        assert replaced() == {"adk_docs": before["adk_docs"] + lost, "adk_code": 0}

    monkeypatch.setattr(bases, "LEAST_SHARE", 0.99)
    monkeypatch.setattr(bases, "WASTE", 1)
    notes = Notes()
    assert workplace.ingest().status == "unchanged"
    change(workplace.docs / RETRY, "Pausing", "Resting")
    run = workplace.ingest(progress=notes)
    assert "Little of adk_docs stays, so all of adk_docs is written anew." in notes.notes
    changed = {name: corpus.files_changed == corpus.files for name, corpus in run.corpora.items()}
    assert changed == {"adk_docs": True, "api-reference": True, "adk_python": False}
    assert replaced() == {"adk_docs": 0, "adk_code": 0}
    updated, content = _as_made_at_once(workplace.points()), _content(workplace)
    shutil.rmtree(workplace.home)
    workplace.ingest()
    assert updated == _as_made_at_once(workplace.points()) and content == _content(workplace)


def test_corpora_that_a_run_is_not_about_are_not_written_anew(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace.ingest()
    monkeypatch.setattr(bases, "LEAST_SHARE", 1.0)
    monkeypatch.setattr(bases, "WASTE", 1)
    change(workplace.docs / RETRY, "Waiting longer", "Pausing longer")
    # The API reference is in the collection of the docs.
    run = workplace.ingest("docs")
    assert run.corpora["adk_docs"].files_changed == 1
    assert verify_published(workplace.settings, citations=True).ok
    assert any(path.startswith("api-reference/") for path in by_path(workplace))


def test_a_damaged_collection_that_a_run_does_not_change_stops_the_run(workplace: Workplace) -> None:
    workplace.ingest()
    current = workplace.published
    for file in (current.folder / "adk_code").rglob("mutable_id*"):
        file.write_bytes(b"")
    change(workplace.docs / RETRY, "Waiting longer", "Pausing longer")
    with pytest.raises(EvidenceError, match="collection adk_code is damaged"):
        workplace.ingest()
