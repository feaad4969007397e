"""An index that several workers make in parts: which files are whose, what must agree, and what is published."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import adk_ingest.known_files as known_files
import adk_ingest.pipeline as pipeline
from adk_evidence.embedding.factory import make_dense
from adk_evidence.errors import EvidenceError, IngestError, InvalidRequestError, StoreError, VerificationError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.encoders import with_precision
from adk_evidence.index.registry import read_codebase, register, settings_of
from adk_evidence.store.base import Match
from adk_evidence.store.manifest import write_manifest
from adk_evidence.store.qdrant_server import ServerRecord
from adk_ingest.caches import prune_cache
from adk_ingest.cli import app
from adk_ingest.codebase import CodebaseIndexer
from adk_ingest.finishing import discard
from adk_ingest.manifest import RunManifest
from adk_ingest.parts import PUBLISHED, Part, PartFolder
from adk_ingest.progress import Progress
from adk_ingest.session import finish_parts, ingest_part
from tests.corpora import DOCS, HashEmbedder, Workplace, shared_sparse, write_code, write_docs, write_files
from tests.standins.qdrant import QdrantStandIn

QUESTION = "how do I retry when a tool throws?"


class TestRanges:
    def test_every_file_is_of_exactly_one_part(self) -> None:
        paths = [f"src/module_{number}.py" for number in range(3000)]
        owners = [[part for part in range(1, 8) if Part(part, 7).owns(path)] for path in paths]
        assert all(len(found) == 1 for found in owners)
        sizes = [owners.count([part]) for part in range(1, 8)]
        assert max(sizes) < 1.25 * min(sizes)

    def test_a_part_has_the_files_of_the_two_parts_that_it_is_cut_into(self) -> None:
        paths = [f"{number}.md" for number in range(500)]
        for path in paths:
            assert Part(2, 3).owns(path) == (Part(3, 6).owns(path) or Part(4, 6).owns(path))

    def test_the_place_of_a_path_does_not_change(self) -> None:
        # sha256 of "b.py" begins with 0x4a, of "d.py" with 0x30: in the second and in the first quarter.
        assert [Part(number, 4).owns("b.py") for number in range(1, 5)] == [False, True, False, False]
        assert [Part(number, 4).owns("d.py") for number in range(1, 5)] == [True, False, False, False]

    @pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "1/0", "1/1001", "a/b", "1/4/2", " 1/4", "-1/4"])
    def test_what_is_no_part_is_refused(self, text: str) -> None:
        with pytest.raises(InvalidRequestError, match="names no part"):
            Part.parse(text)

    def test_a_part_reads_as_it_is_written(self) -> None:
        assert Part.parse("3/12") == Part(3, 12) and str(Part(3, 12)) == "3/12"


@pytest.fixture
def server() -> Iterator[QdrantStandIn]:
    with QdrantStandIn() as running:
        yield running


class Site:
    """Workplaces of several machines that have the same sources at the same path, and the folder of a build."""

    def __init__(self, root: Path, server: QdrantStandIn) -> None:
        self.root = root
        self.server = server
        self.build = root / "build"

    def place(self, home: str, **overrides: Any) -> Workplace:
        store = {"kind": "server", "url": self.server.url, "timeout_seconds": 5, **overrides.pop("store", {})}
        upload = {"batch_points": 8, "parallel": 2, "timeout_seconds": 5}
        values = {"store": store, "ingestion": {"qdrant_upload": upload}, **overrides}
        return Workplace(self.root, {**values, "home": self.root / home})

    def part(self, home: str, part: str, *, dense: Any = None, **overrides: Any) -> RunManifest:
        place = self.place(home, **overrides)
        return ingest_part(
            place.settings,
            place.sources,
            PartFolder(self.build, Part.parse(part)),
            Progress(),
            dense=dense or HashEmbedder(),
            sparse=shared_sparse(),
        )

    def finish(self, home: str, **overrides: Any) -> RunManifest:
        return finish_parts(self.place(home, **overrides).settings, self.build, Progress())


@pytest.fixture
def site(server: QdrantStandIn, tmp_path: Path) -> Site:
    return Site(tmp_path, server)


def all_points(place: Workplace) -> dict[str, Any]:
    """Every published point with payload and vectors, without the time that its run began."""
    found = [*place.records("doc", with_vectors=True), *place.records("code", with_vectors=True)]
    return {each.id: ({**each.payload, "created_at": None}, dict(each.vectors)) for each in found}


@pytest.mark.slow
class TestBuild:
    def test_parts_have_one_precision_where_the_settings_leave_it_open(self, site: Site) -> None:
        # The published index of one home has another precision, which a run of that home alone would keep.
        take_over = {"take_over_aliases": True}
        place = site.place("a", store=take_over)
        place.ingest()
        current = place.generations.current()
        assert current is not None
        fp32 = make_dense(with_precision(place.settings, "fp32")).doc.model
        fingerprint = {**current.manifest.fingerprint, "dense_model": fp32}
        write_manifest(current.folder, current.manifest.model_copy(update={"fingerprint": fingerprint}))
        for home, part, precision in (("a", "1/2", "auto"), ("b", "2/2", "int8")):
            site.part(home, part, store=take_over, embedding={"dense": {"precision": precision}})
        assert site.finish("b", store=take_over, embedding={"dense": {"precision": "int8"}}).status == "complete"

    def test_parts_of_three_homes_make_the_points_of_one_run(self, site: Site, server: QdrantStandIn) -> None:
        runs = [site.part(f"home-{part[0]}", part) for part in ("2/3", "3/3", "1/3")]
        assert not server.aliases and {run.status for run in runs} == {"complete"}
        run = site.finish("home-1")
        assert run.status == "complete"
        made = site.place("home-1")
        parts = all_points(made)
        payloads = made.points().values()
        assert {payload.created_at for payload in payloads} == {build_of(site)["created_at"]}
        assert run.qdrant_counts["total"] == len(parts) == sum(sum(each.points_uploaded.values()) for each in runs)
        made_of = build_of(site)["collections"]
        assert server.aliases == {**made_of, **{f"{name}-published": name for name in made_of.values()}}
        assert made.ask(QUESTION).candidates
        whole = site.place("whole", store={"take_over_aliases": True})
        single = whole.ingest()
        assert parts == all_points(whole)
        one, other = made.generations.current(), whole.generations.current()
        assert one is not None and other is not None
        assert one.manifest.content == other.manifest.content is not None
        assert one.manifest.counts() == other.manifest.counts()
        assert {name: corpus.model_dump(exclude={"location"}) for name, corpus in one.manifest.corpora.items()} == {
            name: corpus.model_dump(exclude={"location"}) for name, corpus in other.manifest.corpora.items()
        }
        for name, corpus in single.corpora.items():
            assert run.corpora[name].chunks == corpus.chunks and run.corpora[name].files == corpus.files
        pages = [sorted(path.name for path in (each.folder / "pages").rglob("*")) for each in (one, other)]
        assert pages[0] == pages[1] != []

    def test_a_later_run_goes_on_from_what_the_parts_made(self, site: Site) -> None:
        for part in ("1/2", "2/2"):
            site.part("home", part)
        site.finish("home")
        place = site.place("home")
        assert place.ingest().status == "unchanged"
        write_files(place.docs, {"docs/zebra.md": "# Zebra\n\nA zebra is what another run brings.\n"})
        run = place.ingest()
        assert run.status == "complete" and run.corpora["adk_docs"].files_changed == 1

    def test_the_cache_of_the_home_that_finished_can_be_pruned(self, site: Site) -> None:
        site.part("home", "1/1")
        site.finish("home")
        settings = site.place("home").settings
        assert prune_cache(settings, 0) > 0
        assert site.place("home").ingest().status == "unchanged"

    def test_what_the_build_lacks_of_the_index_before_is_named(self, site: Site) -> None:
        place = site.place("home", store={"take_over_aliases": True})
        other = write_code(site.root / "other", commit="0" * 40)
        place.ingest()
        place.ingest("code", sources=replace(place.sources, code=str(other), keep_code=True))
        site.part("home", "1/1", store={"take_over_aliases": True})
        run = site.finish("home", store={"take_over_aliases": True})
        assert run.notices[-1] == f"The index is built anew without adk_python@{'0' * 40}."

    def test_a_worker_that_died_runs_again_alone(self, site: Site) -> None:
        site.part("one", "1/2")
        with pytest.raises(IngestError, match="the embedder broke"):
            site.part("two", "2/2", dense=HashEmbedder(batch_size=2, fail_after=4))
        with pytest.raises(IngestError, match=r"^Part 2/2 of the build did not end\."):
            site.finish("one")
        again = site.part("two", "2/2")
        assert again.vectors_from_cache == 4
        assert site.part("two", "2/2").vectors_embedded == 0, "once more changes nothing"
        run = site.finish("one")
        assert run.status == "complete"
        whole = site.place("whole", store={"take_over_aliases": True})
        whole.ingest()
        assert all_points(site.place("one")) == all_points(whole)

    def test_finishing_again_changes_nothing_and_no_part_is_made_any_more(self, site: Site) -> None:
        site.part("home", "1/1")
        generation = site.finish("home").generation
        again = site.finish("home")
        assert (again.status, again.generation) == ("unchanged", generation)
        with pytest.raises(IngestError, match="is published"):
            site.part("home", "1/1")
        with pytest.raises(IngestError, match="is published"):
            discard(site.place("home").settings, site.build)

    def test_finishing_again_after_a_later_run_leaves_that_run_s_index(self, site: Site, server: QdrantStandIn) -> None:
        site.part("home", "1/1")
        made = site.finish("home").generation
        place = site.place("home")
        write_files(place.docs, {"docs/zebra.md": "# Zebra\n\nA zebra is what another run brings.\n"})
        later, aliases = place.ingest().generation, dict(server.aliases)
        # A copy of the folder, or a process that was killed, has no note.
        (site.build / PUBLISHED).unlink()
        for _ in range(2):
            again = site.finish("home")
            assert (again.status, again.generation) == ("unchanged", later) and server.aliases == aliases
            assert f"became generation {made}, and another one serves now" in again.notices[-1]

    def test_a_build_whose_generation_is_gone_is_not_published_again(self, site: Site, server: QdrantStandIn) -> None:
        site.part("home", "1/1")
        site.finish("home")
        place = site.place("home", store={"keep_generations": 1})
        write_files(place.docs, {"docs/zebra.md": "# Zebra\n\nA zebra is what another run brings.\n"})
        later, aliases = place.ingest().generation, dict(server.aliases)
        again = site.finish("home")
        assert (again.status, again.generation) == ("unchanged", later) and server.aliases == aliases
        assert "this home folder does not have that generation" in again.notices[-1]
        server.aliases.clear()
        with pytest.raises(IngestError, match="was published, and this home folder does not have that generation"):
            site.finish("another")

    def test_what_a_killed_finish_left_undone_is_done_by_the_next_one(
        self, site: Site, server: QdrantStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site.part("home", "1/1")
        with monkeypatch.context() as patched:
            patched.setattr("adk_evidence.store.server_index.ServerIndex.register", _killed)
            with pytest.raises(KeyboardInterrupt):
                site.finish("home")
        assert site.finish("home").status == "unchanged" and (site.build / PUBLISHED).exists()
        place = site.place("home", store={"keep_generations": 1})
        write_files(place.docs, {"docs/zebra.md": "# Zebra\n\nA zebra is what another run brings.\n"})
        assert place.ingest().status == "complete"
        assert set(build_of(site)["collections"].values()).isdisjoint(server.collections), "nothing is left behind"

    def test_nothing_is_published_while_a_part_is_missing(self, site: Site, server: QdrantStandIn) -> None:
        site.part("home", "1/2")
        with pytest.raises(IngestError, match=r"^Part 2/2 of the build is missing\. Run that part"):
            site.finish("home")
        assert not server.aliases and site.place("home").generations.current() is None

    def test_what_the_server_lost_is_not_published_and_not_dropped(self, site: Site, server: QdrantStandIn) -> None:
        site.part("home", "1/1")
        collection = server.collections[build_of(site)["collections"]["adk_docs"]]
        page = Match("path", ("docs/index.md",))
        collection.shard.update(_deletion(page))
        with pytest.raises(VerificationError, match="adk_docs holds") as failed:
            site.finish("home")
        assert "Make the parts again" in (failed.value.hint or "")
        assert not server.aliases
        place = site.place("home")
        # A run of the same home drops what it finds unneeded, and leaves what parts have written alone.
        assert place.ingest().status == "complete"
        assert set(build_of(site)["collections"].values()) <= set(server.collections)

    def test_what_is_discarded_leaves_the_server(self, site: Site, server: QdrantStandIn) -> None:
        site.part("home", "1/2")
        assert len(server.collections) == 2
        assert discard(site.place("home").settings, site.build) == 2
        assert not server.collections
        with pytest.raises(IngestError, match="There is no build in"):
            site.finish("home")

    def test_nothing_is_discarded_by_a_home_with_another_server_or_other_names(
        self, site: Site, server: QdrantStandIn
    ) -> None:
        site.part("home", "1/2")
        there = set(server.collections)
        for store, said in (
            ({"docs_collection": "team_docs"}, r"its store\.doc_collection is team_docs"),
            ({"url": "http://127.0.0.1:9"}, r"its store\.url is http://127\.0\.0\.1:9"),
        ):
            with pytest.raises(IngestError, match=said):
                discard(site.place("home", store=store).settings, site.build)
        assert set(server.collections) == there and (site.build / "build.json").exists()

    def test_what_was_published_elsewhere_is_not_discarded(self, site: Site, server: QdrantStandIn) -> None:
        site.part("worker", "1/1")
        copy = site.root / "copy"
        shutil.copytree(site.build, copy)
        site.finish("home")
        place = site.place("home")
        write_files(place.docs, {"docs/zebra.md": "# Zebra\n\nA zebra is what another run brings.\n"})
        place.ingest()
        # No alias of an index points to them, and `rollback` of the other home needs them.
        with pytest.raises(StoreError, match="An index needs these collections"):
            discard(site.place("worker").settings, copy)
        assert set(build_of(site)["collections"].values()) <= set(server.collections)

    def test_nothing_is_discarded_while_a_part_is_made(self, site: Site, server: QdrantStandIn) -> None:
        site.part("home", "1/2")
        with (
            PartFolder(site.build, Part(2, 2)).writing(),
            pytest.raises(IngestError, match=r"^Another process makes part 2/2\."),
        ):
            discard(site.place("home").settings, site.build)
        assert len(server.collections) == 2 and (site.build / "build.json").exists()

    def test_a_part_of_a_build_that_is_gone_writes_nothing(self, site: Site, server: QdrantStandIn) -> None:
        def gone(done: int) -> None:
            (site.build / "build.json").unlink(missing_ok=True)

        with pytest.raises(IngestError, match=r"The build that part 1/1 was made for is no longer in"):
            site.part("home", "1/1", dense=HashEmbedder(on_batch=gone))
        assert not server.collections

    def test_a_file_that_changes_meanwhile_writes_nothing_and_the_part_can_be_made_again(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Texts of files that an earlier run has seen are read when they are cut into chunks.
        monkeypatch.setattr(known_files, "TIME_STEP_NS", -3_600_000_000_000)
        site.part("home", "1/1")
        page = site.place("home").docs / "docs" / "index.md"
        before = page.read_text()
        cut = PartFolder.cut

        def changing(self: PartFolder, *arguments: Any) -> Any:
            page.write_text(before + "\n\nA sentence that came while the part was made.\n")
            return cut(self, *arguments)

        embedder = HashEmbedder()
        with monkeypatch.context() as patched:
            patched.setattr(PartFolder, "cut", changing)
            with pytest.raises(
                IngestError, match=r"index\.md changed while part 1/1 was made, and nothing was written"
            ):
                site.part("home", "1/1", dense=embedder)
        assert not embedder.embedded
        page.write_text(before)
        site.part("home", "1/1")
        assert site.finish("home").status == "complete"

    def test_a_part_that_is_written_again_is_not_complete_meanwhile(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site.part("home", "1/1")
        with monkeypatch.context() as patched:
            patched.setattr(pipeline.Ingestion, "_write", _killed)
            with pytest.raises(KeyboardInterrupt):
                site.part("home", "1/1")
        with pytest.raises(IngestError, match=r"^Part 1/1 of the build did not end\."):
            site.finish("home")

    def test_no_vector_is_pruned_while_a_part_is_made(self, site: Site) -> None:
        settings = site.place("home").settings
        refused = []

        def prune(done: int) -> None:
            try:
                prune_cache(settings, 0)
            except StoreError as exc:
                refused.append(str(exc))

        site.part("home", "1/2", dense=HashEmbedder(on_batch=prune))
        assert set(refused) == {"A part of an index is being made in this home folder. Try again when that has ended."}
        assert prune_cache(settings, 0) > 0


def _killed(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
class TestWhatMustAgree:
    @pytest.fixture(autouse=True)
    def _one_part(self, site: Site) -> None:
        site.part("one", "1/2")

    def _refused(self, site: Site, message: str, part: str = "2/2", **overrides: Any) -> None:
        embedder = HashEmbedder()
        with pytest.raises(EvidenceError, match=message):
            site.part("two", part, dense=embedder, **overrides)
        assert not embedder.embedded, "nothing is computed for a part that does not fit"

    def test_how_many_parts(self, site: Site) -> None:
        self._refused(site, "it is cut into 3 parts, and the build into 2", "2/3")

    def test_the_texts(self, site: Site) -> None:
        write_docs(site.root / "docs", {**DOCS, "docs/index.md": "# Another page\n\nWith another text.\n"})
        self._refused(site, r"its adk_docs has 3 files, and not the same paths and texts as the build's 3")

    def test_the_commit(self, site: Site) -> None:
        write_docs(site.root / "docs", commit="d0c5000000000000000000000000000000000002")
        self._refused(site, r"its adk_docs is at d0c5\w+2, and the build's at d0c5\w+1")

    def test_the_branch_or_tag(self, site: Site) -> None:
        about = json.loads((site.root / "docs/corpus.json").read_text())
        write_files(site.root / "docs", {"corpus.json": json.dumps({**about, "ref": "next"})})
        self._refused(site, "its adk_docs is of next, and the build's of main")

    def test_where_the_sources_lie(self, site: Site) -> None:
        build = build_of(site)
        build["sources"]["adk_docs"]["root"] = "/elsewhere"
        (site.build / "build.json").write_text(json.dumps(build))
        self._refused(site, r"its adk_docs lies in .*docs, and the build's in /elsewhere")

    def test_what_pages_depend_on(self, site: Site) -> None:
        write_files(site.root / "docs", {"mkdocs.yml": "site_name: Another\nsite_url: https://other.example.org/\n"})
        self._refused(site, "what the pages of its adk_docs depend on")

    def test_the_settings(self, site: Site) -> None:
        self._refused(site, "its store.shard_number is 4, and the build's None", store={"shard_number": 4})
        self._refused(site, r"its \S+ is \S+, and the build's", embedding={"dense": {"text": "brief"}})

    def test_the_version(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("adk_ingest.parts.__version__", "9.9.9")
        self._refused(site, r"it is of ADK Evidence 9\.9\.9, and the build of")

    def test_the_store(self, site: Site) -> None:
        self._refused(site, "cannot fill an index in one machine's home folder", store={"kind": "edge"})

    def test_a_collection_that_exists(self, site: Site, server: QdrantStandIn) -> None:
        for collection in server.collections.values():
            collection.config["shard_number"] = 7
        build = build_of(site)
        build["store"]["shard_number"] = 3
        (site.build / "build.json").write_text(json.dumps(build))
        with pytest.raises(StoreError, match="its shard_number is 7 where the settings say 3"):
            site.part("two", "2/2", store={"shard_number": 3})

    def test_a_part_of_another_build_is_named(self, site: Site) -> None:
        part = site.build / "part-2-of-2"
        shutil.copytree(site.build / "part-1-of-2", part)
        with pytest.raises(IngestError, match=r"What lies in part-2-of-2 does not fit into the build: it is part 1\."):
            site.finish("one")
        shutil.rmtree(part)
        apart = Site(site.root, site.server)
        apart.build = site.root / "apart"
        apart.part("two", "2/2")
        shutil.copytree(apart.build / "part-2-of-2", part)
        with pytest.raises(IngestError, match=r"part-2-of-2 .*: it was made for a build of its own"):
            site.finish("one")

    def test_a_record_that_cannot_be_read_is_named(self, site: Site) -> None:
        (site.build / "part-1-of-2" / "part.json").write_text("{")
        with pytest.raises(IngestError, match=r"^The record of part 1/2 cannot be read\."):
            site.finish("one")

    def test_a_record_that_lacks_files_is_found(self, site: Site) -> None:
        site.part("two", "2/2")
        path = next(path for path in site.build.glob("*/part.json") if _paths(path))
        record = json.loads(path.read_text())
        name = next(name for name, corpus in record["corpora"].items() if corpus["files"])
        record["corpora"][name]["files"].popitem()
        path.write_text(json.dumps(record))
        with pytest.raises(IngestError, match=f"^The parts hold .* files of {name}, or other texts of them"):
            site.finish("one")

    def test_the_machine_that_publishes(self, site: Site) -> None:
        site.part("two", "2/2")
        with pytest.raises(IngestError, match=r"^This machine does not fit to the build: its store\.quantization is"):
            site.finish("one", store={"quantization": "scalar"})
        assert not (site.build / PUBLISHED).exists()

    def test_two_workers_of_one_part(self, site: Site) -> None:
        with (
            PartFolder(site.build, Part(2, 2)).writing(),
            pytest.raises(IngestError, match=r"^Another process makes part 2/2\."),
        ):
            site.part("two", "2/2")


@pytest.mark.slow
class TestCodebase:
    @pytest.fixture
    def shop(self, tmp_path: Path) -> Codebase:
        files = {f"src/part_{number}.py": f"def price_{number}():\n    return {number}\n" for number in range(6)}
        write_files(tmp_path / "shop", {**files, "README.md": "# Shop\n\nWhere the prices are.\n"})
        return Codebase(name="shop", path=tmp_path / "shop")

    def test_a_codebase_is_made_in_parts_and_has_its_name_when_it_is_finished(self, site: Site, shop: Codebase) -> None:
        for part in ("1/2", "2/2"):
            settings = site.place(f"home-{part[0]}").settings
            indexer = CodebaseIndexer(settings, dense=HashEmbedder(), sparse=shared_sparse())
            indexer.build_part(shop, site.build, Part.parse(part), Progress())
            assert not (settings.paths.indexes / "shop" / "codebase.json").exists()
        settings = site.place("home-1").settings
        assert finish_parts(settings, site.build, Progress()).status == "complete"
        own = settings_of(settings, "shop")
        record = ServerRecord.read(_current_folder(own.index_path))
        assert record is not None and record.collections == build_of(site)["collections"]
        indexer = CodebaseIndexer(settings, dense=HashEmbedder(), sparse=shared_sparse())
        report = indexer.build(shop, Progress())
        assert (report.status, report.files) == ("unchanged", 7)

    def test_a_finish_that_fails_leaves_the_record_of_the_codebase(
        self, site: Site, shop: Codebase, server: QdrantStandIn
    ) -> None:
        settings = site.place("home").settings
        register(settings, shop)
        other = shop.model_copy(update={"file_patterns": ("*.py",)})

        def make() -> None:
            indexer = CodebaseIndexer(settings, dense=HashEmbedder(), sparse=shared_sparse())
            indexer.build_part(other, site.build, Part(1, 1), Progress())

        make()
        collection = server.collections[build_of(site)["collections"]["shop-codebase"]]
        collection.shard.update(_deletion(Match("path", ("src/part_1.py",))))
        with pytest.raises(VerificationError):
            finish_parts(settings, site.build, Progress())
        assert read_codebase(settings, "shop").file_patterns == shop.file_patterns
        make()
        assert finish_parts(settings, site.build, Progress()).status == "complete"
        assert read_codebase(settings, "shop").file_patterns == ("*.py",)

    def test_parts_do_not_lie_in_what_they_are_made_of(self, site: Site, shop: Codebase) -> None:
        indexer = CodebaseIndexer(site.place("home").settings, dense=HashEmbedder(), sparse=shared_sparse())
        with pytest.raises(InvalidRequestError, match="lies in the codebase"):
            indexer.build_part(shop, shop.path / "build", Part(1, 2), Progress())

    def test_another_choice_of_files_does_not_fit(self, site: Site, shop: Codebase) -> None:
        indexer = CodebaseIndexer(site.place("home").settings, dense=HashEmbedder(), sparse=shared_sparse())
        indexer.build_part(shop, site.build, Part(1, 2), Progress())
        other = shop.model_copy(update={"file_patterns": ("*.py",)})
        with pytest.raises(IngestError, match="it is of another codebase, or of other patterns"):
            indexer.build_part(other, site.build, Part(2, 2), Progress())


class TestCommands:
    """What the command line says of parts."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["all", "--part", "1/2"], "--part and --build belong together"),
            (["all", "--build", "somewhere"], "--part and --build belong together"),
            (["codebase", ".", "--part", "3/2", "--build", "somewhere"], "--part '3/2' names no part"),
            (["all", "--part", "1/2", "--build", "somewhere", "--adk", "1.18.0"], "exclude each other"),
        ],
    )
    def test_options_that_do_not_fit_are_a_sentence(self, arguments: list[str], said: str, tmp_path: Path) -> None:
        done = CliRunner().invoke(app, [*arguments, "--home", str(tmp_path)])
        assert done.exit_code == 2 and said in " ".join(done.output.split())

    def test_a_folder_without_a_build_is_a_sentence(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(app, ["finish", str(tmp_path), "--home", str(tmp_path / "home")])
        assert done.exit_code == 6 and "There is no build in" in " ".join(done.output.split())

    @pytest.mark.slow
    def test_a_part_says_what_comes_next_and_can_be_discarded(
        self, site: Site, server: QdrantStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())
        monkeypatch.setenv("ADK_EVIDENCE_STORE__KIND", "server")
        monkeypatch.setenv("ADK_EVIDENCE_STORE__URL", server.url)
        place = site.place("home")
        home, build = ["--home", str(place.home)], str(site.build)
        corpora = ["--docs", str(place.docs), "--code", str(place.code), "--offline"]
        made = CliRunner().invoke(app, ["all", *corpora, "--part", "1/2", "--build", build, *home])
        said = " ".join(made.output.split())
        assert made.exit_code == 0, made.output
        assert "Part 1/2 is written: " in said and f"Once all 2 parts are, `adk-ingest finish {build} --home" in said
        gone = CliRunner().invoke(app, ["finish", build, "--discard", *home])
        assert gone.exit_code == 0 and "2 collections are dropped" in " ".join(gone.output.split())
        CliRunner().invoke(app, ["all", *corpora, "--part", "1/2", "--build", build, *home])
        gone = CliRunner().invoke(app, ["finish", build, "--discard", "--json", *home])
        assert gone.exit_code == 0 and json.loads(gone.stdout) == {"collections_dropped": 2}


def build_of(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((site.build / "build.json").read_text())
    return found


def _paths(path: Path) -> list[str]:
    corpora = json.loads(path.read_text())["corpora"].values()
    return [name for corpus in corpora for name in corpus["files"]]


def _current_folder(index_path: Path) -> Path:
    pointed = json.loads((index_path / "CURRENT").read_text())["generations"]
    return index_path / "generations" / os.fspath(pointed[0])


def _deletion(condition: Match) -> Any:
    import qdrant_edge as edge

    matching = edge.Filter(must=[edge.FieldCondition(condition.key, match=edge.MatchAny(list(condition.any_of)))])
    return edge.UpdateOperation.delete_points_by_filter(matching)
