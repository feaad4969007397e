"""Ingestion into a Qdrant server: what is published there, what stays, and what its bad days do to a run."""

from __future__ import annotations

import errno
import itertools
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adk_evidence.errors import IndexMismatchError, IndexMissingError, SettingsError, StoreError
from adk_evidence.models.pack import Why
from adk_evidence.services import qdrant as server_client
from adk_evidence.services.resilience import Clock
from adk_evidence.store.factory import rollback
from adk_evidence.store.generations import GenerationStore
from adk_evidence.store.qdrant_server import ServerRecord
from adk_ingest.commands.doctor import examine
from adk_ingest.commands.reports import make_status, verify_published
from tests.answers import told
from tests.corpora import HashEmbedder, Workplace, write_files
from tests.standins.qdrant import QdrantStandIn, Strict

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
KEY = "secret-key-that-nobody-may-see"
UPSERT = r"PUT .*/points$"


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits, and no key of the machine is used."""
    monkeypatch.setattr(server_client, "Clock", lambda sleep: Clock(sleep=lambda seconds: None))
    for name in server_client.KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[QdrantStandIn]:
    with QdrantStandIn() as running:
        yield running


def place_on(server: QdrantStandIn, root: Path, **store: object) -> Workplace:
    values = {"kind": "server", "url": server.url, "timeout_seconds": 5, **store}
    upload = {"batch_points": 8, "parallel": 3}
    return Workplace(root, {"store": values, "ingestion": {"qdrant_upload": upload}})


@pytest.fixture
def place(server: QdrantStandIn, tmp_path: Path) -> Workplace:
    return place_on(server, tmp_path)


def published_collections(place: Workplace) -> dict[str, str]:
    current = place.generations.current()
    record = ServerRecord.read(current.folder) if current else None
    assert record is not None
    return dict(record.collections)


def change_docs(place: Workplace) -> None:
    write_files(place.docs, {"docs/zebra.md": "# Zebra\n\nA zebra is what another run brings.\n"})


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def ranks(why: Why) -> dict[str, int]:
    return {place.branch: place.rank for place in why.branches}


class TestPublishing:
    def test_a_first_run_fills_collections_and_points_the_aliases_to_them(
        self, place: Workplace, server: QdrantStandIn
    ) -> None:
        run = place.ingest()
        own = published_collections(place)
        assert run.status == "complete"
        assert server.aliases == own
        assert set(own) == {"adk_docs", "adk_code"}
        assert set(server.collections) == set(own.values())
        assert run.qdrant_counts["total"] == sum(run.points_uploaded.values()) == len(place.points())
        assert verify_published(place.settings, citations=True).ok
        server.down()
        assert make_status(place.settings).generation == run.generation, "a status needs no server"

    def test_collections_are_created_as_the_settings_say(self, server: QdrantStandIn, tmp_path: Path) -> None:
        spread = {"shard_number": 3, "replication_factor": 2, "write_consistency_factor": 2}
        memory = {"quantization": "scalar", "vectors_on_disk": True}
        place = place_on(server, tmp_path, **spread, **memory)
        place.ingest()
        current = place.generations.current()
        assert current is not None and current.manifest.placement == spread
        for collection in server.collections.values():
            config = collection.config
            assert {name: config[name] for name in spread} == spread
            assert config["on_disk_payload"] is True
            assert all(vector["on_disk"] for vector in config["vectors"].values())
            assert config["quantization_config"]["scalar"]["type"] == "int8"
            assert config["sparse_vectors"]["sparse_lexical"]["modifier"] == "idf"
        assert place.ask(QUESTION).candidates

    def test_one_sentence_says_how_the_published_collections_differ_from_the_settings(
        self, server: QdrantStandIn, tmp_path: Path
    ) -> None:
        place_on(server, tmp_path, shard_number=3).ingest()
        place = place_on(server, tmp_path, shard_number=6, replication_factor=2)
        run = place.ingest()
        assert run.status == "unchanged"
        assert run.notices[-1] == (
            "The collections were created otherwise: shard_number is 3 where the settings say 6 and replication_factor "
            "is 1 where the settings say 2."
        )
        change_docs(place)
        assert not any("otherwise" in notice for notice in place.ingest().notices)
        newest = [server.collections[name].config for name in published_collections(place).values()]
        assert [(config["shard_number"], config["replication_factor"]) for config in newest] == [(6, 2), (6, 2)]

    def test_a_strict_server_takes_and_answers_everything(self, tmp_path: Path) -> None:
        strict = Strict(
            max_query_limit=1000,
            search_max_hnsw_ef=256,
            upsert_max_batchsize=8,
            search_max_batchsize=16,
            condition_max_size=256,
        )
        with QdrantStandIn(strict=strict) as server:
            place = place_on(server, tmp_path)
            place.ingest()
            change_docs(place)
            place.ingest()
            pack = place.ask("does back_off exist in RetryPlugin?")
            assert pack.candidates and not any("unavailable" in warning for warning in told(pack))

    def test_both_stores_give_the_same_answers(self, place: Workplace, tmp_path: Path) -> None:
        embedded = Workplace(tmp_path, {"home": tmp_path / "embedded"})
        embedded.ingest()
        place.ingest()
        for query in (QUESTION, "RetryPlugin", "confirm a tool that deletes something"):
            one, other = place.ask(query), embedded.ask(query)
            assert [c.candidate_id for c in one.candidates] == [c.candidate_id for c in other.candidates]
            assert [ranks(c.why) for c in one.candidates] == [ranks(c.why) for c in other.candidates]
            # The embedded store keeps vectors in floats of 16 bits.
            near = [c.why.similarity for c in other.candidates]
            assert [c.why.similarity for c in one.candidates] == pytest.approx(near, rel=2e-3)
            assert one.quality == other.quality


class TestSecondRuns:
    def test_a_changed_file_alone_is_written_and_a_rollback_moves_the_aliases_back(
        self, place: Workplace, server: QdrantStandIn
    ) -> None:
        place.ingest()
        before, first = place.points(), published_collections(place)
        server.seen.clear()
        assert place.ingest().status == "unchanged"
        assert not [line for line in server.lines() if line.startswith(("PUT", "DELETE"))]
        change_docs(place)
        dense = HashEmbedder()
        run = place.ingest(dense=dense)
        after, second = place.points(), published_collections(place)
        assert run.points_uploaded["adk_docs"] == len(dense.embedded) == len(after) - len(before)
        assert {point: after[point] for point in before} == before
        assert {chunk.path for point, chunk in after.items() if point not in before} == {"docs/zebra.md"}
        assert server.aliases == second != first
        assert verify_published(place.settings, citations=False).ok
        rollback(place.settings)
        assert server.aliases == first == published_collections(place)
        assert place.points() == before and place.ask(QUESTION).candidates
        change_docs(place)
        place.ingest()
        newest = published_collections(place)
        server.drop(first["adk_code"])
        with pytest.raises(StoreError, match="no longer complete"):
            rollback(place.settings)
        assert server.aliases == published_collections(place) == newest

    def test_older_commits_are_dropped_but_those_of_a_reader(self, place: Workplace, server: QdrantStandIn) -> None:
        place.ingest()
        seen = [set(published_collections(place).values())]
        with closing(place.service()) as service, service.session() as session:
            for number in range(4):
                write_files(place.docs, {"docs/n.md": f"# N\n\nVersion {number} of this page.\n"})
                place.ingest()
                seen.append(set(published_collections(place).values()))
            assert session.index.store.count("adk_docs") > 0
        place.ingest()
        change_docs(place)
        place.ingest()
        assert set(server.collections) == seen[-1] | set(published_collections(place).values())


class TestBadDays:
    def test_a_server_that_is_away_is_noticed_before_anything_is_computed(
        self, place: Workplace, server: QdrantStandIn
    ) -> None:
        server.down()
        dense = HashEmbedder()
        with pytest.raises(StoreError, match="cannot be reached"):
            place.ingest(dense=dense)
        assert dense.embedded == []
        [run] = place.runs()
        assert (run.status, place.failure(run.run_id).stage) == ("failed", "discover")

    @pytest.mark.parametrize("fault", [500, 503, 429, "reset mid-body", "garbage"])
    def test_a_server_that_stumbles_delays_a_run(self, place: Workplace, server: QdrantStandIn, fault: int) -> None:
        server.fail(UPSERT, fault, times=3)
        run = place.ingest()
        assert run.status == "complete"
        assert run.qdrant_counts["total"] == len(place.points()) == sum(run.points_uploaded.values())

    @pytest.mark.parametrize(
        ("request_", "stage"),
        [
            (r"/collections/adk_[^/]+$", "upsert"),
            (r"/index$", "upsert"),
            (r"/points$", "upsert"),
            (r"points/count", "verify"),
            (r"points/scroll", "verify"),
            (r"collections/aliases", "publish"),
        ],
    )
    def test_a_run_that_fails_leaves_the_old_index_serving_and_the_next_one_goes_on(
        self, place: Workplace, server: QdrantStandIn, request_: str, stage: str
    ) -> None:
        place.ingest()
        first = published_collections(place)
        write_files(place.docs, {f"docs/page{n}.md": f"# Page {n}\n\nText of page {n}.\n" for n in range(20)})
        # The collections that serve answer: only what the run fills is in trouble.
        rule = server.fail(rf"^(?!.*({'|'.join(first.values())})).*{request_}", 500)
        dense = HashEmbedder()
        with pytest.raises(StoreError) as failure:
            place.ingest(dense=dense)
        assert rule.hits and "status 500" in failure.value.message
        run = place.runs()[0]
        assert (run.status, place.failure(run.run_id).stage) == ("failed", stage)
        assert server.aliases == first == published_collections(place)
        assert place.ask(QUESTION).candidates
        server.heal()
        again = HashEmbedder()
        assert place.ingest(dense=again).status == "complete"
        assert dense.embedded and again.embedded == []
        # What the failed run had filled is gone.
        assert set(server.collections) == {*first.values(), *published_collections(place).values()}

    @pytest.mark.parametrize("done", [1, 2, 3])
    def test_aliases_that_were_moved_in_part_are_brought_back(
        self, place: Workplace, server: QdrantStandIn, done: int
    ) -> None:
        place.ingest()
        first = published_collections(place)
        change_docs(place)
        # Six tries, which do no more than the first.
        server.alias_actions = itertools.repeat(done, 6)
        with pytest.raises(StoreError, match=r"could not be moved: .* the disk is full"):
            place.ingest()
        assert server.aliases == first == published_collections(place)
        assert place.ask(QUESTION).candidates
        assert place.ingest().status == "complete"
        assert server.aliases == published_collections(place) != first

    def test_aliases_that_cannot_be_brought_back_are_set_right_by_the_next_run(
        self, place: Workplace, server: QdrantStandIn
    ) -> None:
        place.ingest()
        change_docs(place)
        server.alias_actions = itertools.chain([1], itertools.repeat(0, 11))
        with pytest.raises(StoreError, match="The aliases could not be moved") as failure:
            place.ingest()
        assert "Run the same command again" in failure.value.hint
        assert place.ask(QUESTION).candidates, "our own readers do not go by aliases"
        assert place.ingest().status == "complete"
        assert server.aliases == published_collections(place)

    def test_aliases_that_moved_though_the_answer_was_lost_are_published(
        self, place: Workplace, server: QdrantStandIn
    ) -> None:
        server.fail("POST /collections/aliases", "reset mid-body")
        assert place.ingest().status == "complete"
        assert server.aliases == published_collections(place)

    def test_a_run_that_died_after_it_moved_the_aliases_leaves_them_to_the_next_one(
        self, place: Workplace, server: QdrantStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place.ingest()
        first = published_collections(place)
        change_docs(place)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(GenerationStore, "publish", interrupted)
            place.ingest()
        assert server.aliases != first, "others find what nobody published here"
        # The next run fails early. Others find the index that is the current one here.
        server.fail(UPSERT, 400)
        with pytest.raises(StoreError, match="status 400"):
            place.ingest()
        assert server.aliases == first == published_collections(place)
        server.heal()
        assert place.ingest().status == "complete"
        assert server.aliases == published_collections(place)

    def test_an_index_folder_that_cannot_be_written_leaves_the_aliases_where_they_were(
        self, place: Workplace, server: QdrantStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place.ingest()
        first = published_collections(place)
        change_docs(place)
        with monkeypatch.context() as patch:
            patch.setattr(GenerationStore, "_point", full_disk)
            with pytest.raises(StoreError, match="cannot be published"):
                place.ingest()
        assert server.aliases == first == published_collections(place)
        place.ingest()
        second = published_collections(place)
        with monkeypatch.context() as patch:
            patch.setattr(GenerationStore, "_point", full_disk)
            with pytest.raises(StoreError, match="cannot be rolled back"):
                rollback(place.settings)
        assert server.aliases == second == published_collections(place)

    def test_a_record_that_cannot_be_read_drops_nothing_and_is_built_anew(
        self, place: Workplace, server: QdrantStandIn
    ) -> None:
        place.ingest()
        first = published_collections(place)
        current = place.published
        (current.folder / "server.json").write_text("{")
        assert place.ingest().status == "complete"
        assert set(first.values()) <= set(server.collections), "they may be read by somebody"
        assert server.aliases == published_collections(place) != first
        assert place.ask(QUESTION).candidates
        # So is an index of which the server lost a collection.
        server.drop(published_collections(place)["adk_code"])
        dense = HashEmbedder()
        assert place.ingest(dense=dense).status == "complete"
        assert dense.embedded == []
        assert verify_published(place.settings, citations=False).ok

    def test_a_collection_in_the_place_of_an_alias_is_named(self, place: Workplace, server: QdrantStandIn) -> None:
        server.create("adk_code", body={"vectors": {"v": {"size": 4, "distance": "Cosine"}}})
        with pytest.raises(StoreError, match="has a collection adk_code") as failure:
            place.ingest()
        assert "store.code_collection" in failure.value.hint
        assert "adk_code" in server.collections

    def test_a_server_that_is_too_old_is_refused(self, tmp_path: Path) -> None:
        with (
            QdrantStandIn(version="1.9.4") as server,
            pytest.raises(StoreError, match=r"is version 1\.9\.4; 1\.16 is the oldest"),
        ):
            place_on(server, tmp_path).ingest()


class TestSeveralPlaces:
    @pytest.mark.parametrize("is_one_home", [False, True])
    def test_two_indexes_on_one_server_do_not_touch_each_others_collections(
        self, server: QdrantStandIn, tmp_path: Path, is_one_home: bool
    ) -> None:
        one, two = (
            place_on(server, tmp_path, path=str(tmp_path / name))
            if is_one_home
            else place_on(server, tmp_path / name, take_over_aliases=True)
            for name in ("one", "two")
        )
        one.ingest()
        for number in range(3):
            write_files(two.docs, {"docs/n.md": f"# N\n\nVersion {number} of this page.\n"})
            two.ingest()
        assert server.aliases == published_collections(two)
        assert set(published_collections(one).values()) <= set(server.collections)
        assert is_one_home or "docs/n.md" not in {chunk.path for chunk in one.points().values()}
        assert one.ask(QUESTION).candidates
        # The docs of one home are the same.
        assert one.ingest().status == ("complete" if is_one_home else "unchanged")

    def test_the_aliases_of_another_home_are_not_moved_without_being_told_to(
        self, server: QdrantStandIn, tmp_path: Path
    ) -> None:
        one, two = place_on(server, tmp_path / "one"), place_on(server, tmp_path / "two")
        one.ingest()
        served, dense = dict(server.aliases), HashEmbedder()
        with pytest.raises(StoreError, match=r"alias adk_code .* another home") as refused:
            two.ingest(dense=dense)
        assert "store.take_over_aliases" in refused.value.hint
        assert server.aliases == served and set(server.collections) == set(served.values())
        assert dense.embedded == [], "it is said before anything is computed"

        beside = place_on(server, tmp_path / "two", docs_collection="two_docs", code_collection="two_code")
        beside.ingest()
        assert server.aliases == {**served, **published_collections(beside)}
        change_docs(one)
        one.ingest()
        assert server.aliases["adk_docs"] == published_collections(one)["adk_docs"]

        place_on(server, tmp_path / "three", take_over_aliases=True).ingest()
        taken = dict(server.aliases)
        with pytest.raises(StoreError, match="another home"):
            rollback(one.settings)
        assert server.aliases == taken and one.ask(QUESTION).candidates

    def test_a_machine_without_the_index_folder_is_told_what_to_do(
        self, place: Workplace, server: QdrantStandIn, tmp_path: Path
    ) -> None:
        place.ingest()
        other = place_on(server, tmp_path / "other")
        with pytest.raises(IndexMissingError) as failure:
            other.ask(QUESTION)
        assert "adk-ingest all" in failure.value.hint and server.url in failure.value.hint
        # As the hint says: a copy of the folder is enough.
        shutil.copytree(place.settings.index_path, other.settings.index_path)
        assert other.ask(QUESTION).candidates
        for number in range(3):
            write_files(other.docs, {"docs/n.md": f"# N\n\nVersion {number} of this page.\n"})
            other.ingest()
        assert place.ask(QUESTION).candidates, "the copy dropped what it did not create"

    def test_an_index_of_the_other_kind_is_refused_and_then_replaced(
        self, server: QdrantStandIn, tmp_path: Path
    ) -> None:
        embedded = Workplace(tmp_path)
        embedded.ingest()
        place = place_on(server, tmp_path)
        with pytest.raises(IndexMismatchError, match=r"store\.kind edge") as failure:
            place.ask(QUESTION)
        assert "adk-ingest all" in failure.value.hint
        dense = HashEmbedder()
        place.ingest(dense=dense)
        assert dense.embedded == []
        assert place.ask(QUESTION).candidates
        with pytest.raises(IndexMismatchError):
            rollback(place.settings)
        with pytest.raises(IndexMismatchError, match=r"store\.kind server"):
            embedded.ask(QUESTION)


@pytest.mark.parametrize(
    "url", ["localhost:6333", "ftp://x", "http://user:pass@host:6333", "https://host:6333?api_key=x", "http://", ""]
)
def test_an_address_with_secrets_or_without_a_host_is_refused_without_repeating_it(tmp_path: Path, url: str) -> None:
    place = Workplace(tmp_path, {"store": {"kind": "server", "url": url}})
    with pytest.raises(SettingsError, match=r"store\.url") as failure:
        _ = place.settings
    assert "pass@" not in str(failure.value) and "api_key=x" not in str(failure.value)


@pytest.mark.parametrize(
    ("store", "why", "hint"),
    [
        ({}, r"store\.url does not say where", ("ADK_EVIDENCE_STORE__URL", "store.kind: edge")),
        (
            {"url": "http://localhost:9", "replication_factor": 2, "write_consistency_factor": 3},
            "write_consistency_factor is 3, and replication_factor makes only 2",
            (),
        ),
    ],
)
def test_settings_that_no_server_can_have_are_refused_before_anything_is_computed(
    tmp_path: Path, store: dict[str, object], why: str, hint: tuple[str, ...]
) -> None:
    place = Workplace(tmp_path, {"store": {"kind": "server", **store}})
    dense = HashEmbedder()
    with pytest.raises(SettingsError, match=why) as failure:
        place.ingest(dense=dense)
    assert dense.embedded == [] and all(words in failure.value.hint for words in hint)
    if not store:
        [finding] = [found for found in examine(place.settings) if found.what == "Qdrant server"]
        assert (finding.state, finding.mend) == ("broken", failure.value.hint)
