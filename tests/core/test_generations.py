"""Generations: published in one step, read under leases, and whole again after a crash at any point."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from adk_evidence import files
from adk_evidence.errors import IndexMismatchError, IndexMissingError, StoreError
from adk_evidence.files import copy_tree, link_tree, unshare, write_atomic
from adk_evidence.store.generations import Generation, GenerationStore, check_fingerprint
from adk_evidence.store.manifest import (
    MANIFEST,
    CollectionEntry,
    CorpusEntry,
    FileEntry,
    IndexManifest,
    SourceLocation,
    read_manifest,
    write_manifest,
)

FINGERPRINT: dict[str, str | int] = {"dense_model": "minilm", "dense_dimension": 384, "sparse_model": "bm25"}


def manifest(generation: str) -> IndexManifest:
    return IndexManifest(
        generation=generation,
        created_at="2026-01-01T00:00:00Z",
        run_id="r1",
        fingerprint=FINGERPRINT,
        dense="complete",
        collections={"docs": CollectionEntry(dense={"dense_docs": 384}, sparse={"lexical": True}, points=3)},
        corpora={
            "adk_docs": CorpusEntry(
                kind="doc",
                repo="google/adk-docs",
                commit="abc",
                source="snapshot",
                location=SourceLocation(kind="snapshot", root=Path("/corpora/docs"), commit="abc"),
                files={
                    "docs/ü.md": FileEntry(sha256="0" * 64, chunks=2, content="a"),
                    "b.md": FileEntry(sha256="1", chunks=1, content="b"),
                },
            )
        },
    )


def publish(store: GenerationStore, text: str = "points") -> Generation:
    with store.begin("run") as building:
        (building.folder / "data").write_text(text)
        return store.publish(building, manifest(building.id))


def failing(failure: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise failure

    return fail


@pytest.fixture
def store(tmp_path: Path) -> GenerationStore:
    return GenerationStore(tmp_path / "index")


# Manifest


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = manifest("g1")
    write_manifest(tmp_path, written)
    read = read_manifest(tmp_path)
    assert read == written
    assert read.corpora["adk_docs"].chunks == 3
    assert read.counts() == {"docs": 3}
    assert [(spec.name, spec.dense, spec.sparse) for spec in read.specs()] == [
        ("docs", {"dense_docs": 384}, {"lexical": True})
    ]
    on_disk = json.loads((tmp_path / MANIFEST).read_bytes())
    assert on_disk["fingerprint_id"] == read.fingerprint_id
    assert len(read.fingerprint_id) == 64


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": 2}', None])
def test_an_unreadable_manifest_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(StoreError, match="manifest") as failure:
        read_manifest(tmp_path)
    assert "adk-ingest all" in failure.value.hint


# Publishing and reading


def test_without_an_index_the_hint_names_the_command(store: GenerationStore, tmp_path: Path) -> None:
    assert store.current() is None
    assert store.current_id() is None
    assert store.published() == []
    with pytest.raises(IndexMissingError, match="adk-ingest all"):
        store.open_current()
    with pytest.raises(IndexMissingError):
        store.rollback()
    assert store.collect_garbage(1) == []
    assert list(tmp_path.iterdir()) == [], "asking must not create anything"


def test_a_published_generation_is_the_current_one(store: GenerationStore, tmp_path: Path) -> None:
    with store.begin("run") as building:
        (building.folder / "data").write_text("points")
        assert store.current() is None
        published = store.publish(building, manifest(building.id))
    other_process = GenerationStore(tmp_path / "index")
    assert other_process.current() == published == store.current()
    assert (published.folder / "data").read_text() == "points"
    assert published.manifest.generation == published.id == published.folder.name
    assert not building.folder.exists()


def test_an_open_lease_notices_what_is_published_and_keeps_its_own(store: GenerationStore) -> None:
    first = publish(store, "one")
    with store.open_current() as lease:
        assert store.current_id() == lease.id
        second = publish(store, "two")
        assert store.current_id() != lease.id
        assert store.current_id() == second.id
        assert (lease.id, lease.manifest) == (first.id, first.manifest)
        assert (lease.folder / "data").read_text() == "one"


def test_a_building_that_is_not_published_leaves_nothing(store: GenerationStore) -> None:
    first = publish(store)
    with pytest.raises(RuntimeError, match="verification"), store.begin("run") as building:
        raise RuntimeError("verification")
    assert not building.folder.exists()
    assert store.current() == first
    building.discard()
    assert publish(store).id == store.current_id(), "the writer's lock was given back"


def test_a_building_may_start_from_the_current_points(store: GenerationStore) -> None:
    with store.begin("run", store.current()) as building:
        assert list(building.folder.iterdir()) == []
    first = publish(store, "one")
    with store.begin("run", store.current()) as building:
        assert [path.name for path in building.folder.iterdir()] == ["data"]
        unshare(building.folder)
        (building.folder / "data").write_text("two")
        second = store.publish(building, manifest(building.id))
    assert ((first.folder / "data").read_text(), (second.folder / "data").read_text()) == ("one", "two")


def test_a_full_disk_is_a_sentence_and_keeps_the_old_generation(
    store: GenerationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, full = publish(store), failing(OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr("adk_evidence.store.generations.sync_tree", full)
    with pytest.raises(StoreError, match="No space left on device"):
        publish(store)
    monkeypatch.undo()
    monkeypatch.setattr("adk_evidence.store.generations.link_tree", full)
    with pytest.raises(StoreError, match="No space left on device"):
        store.begin("run", store.current())
    monkeypatch.undo()
    assert store.current() == first
    publish(store)


# One writer


def test_a_second_writer_is_told_who_writes(store: GenerationStore, tmp_path: Path) -> None:
    other = GenerationStore(tmp_path / "index")
    first = publish(store)
    with store.begin("run-7"):
        attempts: list[Callable[[], object]] = [
            lambda: other.begin("run-8"),
            other.rollback,
            lambda: other.collect_garbage(1),
        ]
        for attempt in attempts:
            with pytest.raises(StoreError, match=rf"process {os.getpid()} on .*, run run-7, since"):
                attempt()
        with pytest.raises(StoreError, match="already building"):
            store.begin("run-9")
        assert other.current() == first, "readers are not kept out"
    with other.begin("run-8"):
        pass


def test_a_run_may_publish_twice_without_letting_others_in(store: GenerationStore, tmp_path: Path) -> None:
    other = GenerationStore(tmp_path / "index")
    with store.writing("run-1"):
        lexical = publish(store)
        with pytest.raises(StoreError, match="run-1"):
            other.begin("run-2")
        complete = publish(store)
        assert store.collect_garbage(1) == [lexical.id]
    assert other.current() == complete
    with other.begin("run-2"):
        pass


def test_what_a_dead_writer_left_is_removed(store: GenerationStore, tmp_path: Path) -> None:
    for name in ("building", "trash"):
        (tmp_path / "index" / name / "20200101T000000-000000-abcdef").mkdir(parents=True)
    (tmp_path / "index" / "writer.json").write_text("{")
    with store.begin("run") as building:
        assert [path.name for path in (tmp_path / "index" / "building").iterdir()] == [building.id]
        assert not (tmp_path / "index" / "trash").exists()


# Rolling back


def test_rollback_goes_back_step_by_step(store: GenerationStore) -> None:
    first, second, third = publish(store), publish(store), publish(store)
    assert [generation.id for generation in store.published()] == [third.id, second.id, first.id]
    assert store.rollback() == second == store.current()
    assert store.rollback() == first == store.current()
    with pytest.raises(StoreError, match="no earlier generation"):
        store.rollback()
    assert store.current() == first
    newest = publish(store)
    assert [generation.id for generation in store.published()] == [newest.id, first.id]


def test_rollback_passes_over_what_a_run_published_on_its_way_to_a_complete_index(store: GenerationStore) -> None:
    def by_keywords() -> Generation:
        with store.begin("run") as building:
            return store.publish(building, manifest(building.id).model_copy(update={"dense": "pending"}))

    by_keywords()
    first = publish(store)
    with pytest.raises(StoreError, match="no earlier generation"):
        store.rollback()
    assert store.current() == first
    by_keywords()
    publish(store)
    assert store.rollback() == first == store.current()
    before, _ = by_keywords(), by_keywords()
    assert store.rollback() == before, "an index without vectors may go back to another one"


# Garbage


def test_garbage_is_what_nobody_may_go_back_to(store: GenerationStore) -> None:
    first, second, third = publish(store), publish(store), publish(store)
    assert store.collect_garbage(2) == [first.id]
    assert not first.folder.exists()
    assert [generation.id for generation in store.published()] == [third.id, second.id]
    store.rollback()
    assert store.collect_garbage(2) == [third.id], "it was taken back"
    assert store.current() == second


def test_a_leased_generation_stays_until_its_reader_ends(store: GenerationStore, tmp_path: Path) -> None:
    first = publish(store)
    one, two = store.open_current(), GenerationStore(tmp_path / "index").open_current()
    publish(store)
    assert store.collect_garbage(1) == []
    one.release()
    one.release()
    assert store.collect_garbage(1) == []
    assert (first.folder / "data").read_text() == "points"
    two.release()
    assert store.collect_garbage(1) == [first.id]
    assert list((tmp_path / "index" / "leases").glob("*.*.lock")) == []


def test_a_lease_without_its_process_does_not_count(store: GenerationStore, tmp_path: Path) -> None:
    first = publish(store)
    stale = tmp_path / "index" / "leases" / f"{first.id}.99999-abcdef.lock"
    stale.parent.mkdir(exist_ok=True)
    stale.touch()
    publish(store)
    assert store.collect_garbage(1) == [first.id]
    assert not stale.exists()


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_an_index_that_cannot_be_written_to_is_read_without_a_lease(
    store: GenerationStore, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    first = publish(store)
    monkeypatch.setattr(FileLock, "acquire", failing(OSError(code, os.strerror(code))))
    with store.open_current() as lease:
        assert lease.id == first.id


# After a crash


def test_a_crash_between_rename_and_pointer_keeps_the_old_generation(
    store: GenerationStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = publish(store)
    monkeypatch.setattr(GenerationStore, "_point", failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        publish(store)
    monkeypatch.undo()
    assert len(list((tmp_path / "index" / "generations").iterdir())) == 2
    assert store.published() == [first]
    second = publish(store)
    assert len(store.collect_garbage(2)) == 1
    assert store.published() == [second, first]


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"generations": ["removed"]}', None])
def test_without_a_good_pointer_there_is_no_index_until_the_next_run(
    store: GenerationStore, tmp_path: Path, content: bytes | None
) -> None:
    publish(store)
    pointer = tmp_path / "index" / "CURRENT"
    pointer.unlink()
    if content is not None:
        pointer.write_bytes(content)
    fresh = GenerationStore(tmp_path / "index")
    with pytest.raises(IndexMissingError, match="adk-ingest all"):
        fresh.open_current()
    again = publish(fresh)
    assert fresh.published() == [again]


def test_a_current_generation_that_was_removed_or_damaged_gives_way_to_the_one_before(
    store: GenerationStore, tmp_path: Path
) -> None:
    first, second, third = publish(store), publish(store), publish(store)
    (third.folder / MANIFEST).write_text("{")
    fresh = GenerationStore(tmp_path / "index")
    assert fresh.current() == second
    (second.folder / MANIFEST).unlink()
    assert fresh.current() == first
    (first.folder / MANIFEST).unlink()
    with pytest.raises(IndexMissingError, match="adk-ingest all"):
        fresh.open_current()
    assert publish(fresh).id == fresh.current_id()


# Fingerprint


def test_an_index_of_other_models_is_refused_with_the_difference_and_the_command() -> None:
    check_fingerprint(manifest("g"), {"dense_model": "minilm", "dense_dimension": 384})
    with pytest.raises(IndexMismatchError) as refused:
        check_fingerprint(manifest("g"), FINGERPRINT | {"dense_model": "voyage", "chunker": "2"})
    assert "dense_model is minilm in the index and voyage in the settings" in refused.value.message
    assert "chunker is unknown in the index and 2 in the settings" in refused.value.message
    assert "dense_dimension" not in refused.value.message
    assert "adk-ingest all" in refused.value.hint


# Files


@pytest.mark.parametrize("tells_holes", [True, False])
def test_a_copy_is_the_same_bytes_and_keeps_holes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tells_holes: bool
) -> None:
    monkeypatch.setattr(files, "_TELLS_HOLES", tells_holes and sys.platform == "linux")
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep" / "empty").mkdir(parents=True)
    contents = {
        "empty": b"",
        "zeros at the end": b"abc" + bytes(200_000),
        "zeros between": bytes(70_000) + b"x" + bytes(1 << 20) + b"y",
        "deep/zeros": bytes(1 << 17),
    }
    for name, content in contents.items():
        (source / name).write_bytes(content)
    with (source / "with holes").open("wb") as sparse:
        sparse.seek(5 << 20)
        sparse.write(b"data")
        sparse.truncate(6 << 20)
    contents["with holes"] = (source / "with holes").read_bytes()
    (source / ".atomicwriteAb3").write_bytes(b"comes and goes")
    copy_tree(source, target)
    copied = {path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert copied == contents and (target / "deep" / "empty").is_dir()
    blocks = getattr((target / "deep/zeros").stat(), "st_blocks", None)
    assert blocks in (None, 0) or blocks * 512 < 1 << 17


@pytest.mark.parametrize("has_links", [True, False])
def test_linked_files_are_the_same_until_a_folder_gets_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", failing(OSError(errno.EPERM, "Operation not permitted")))
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep").mkdir(parents=True)
    (source / "left out").mkdir()
    for name in ("a", "deep/b", "left out/c", MANIFEST):
        (source / name).write_text(name)
    link_tree(source, target, skip={MANIFEST, "left out"})
    assert {path.relative_to(target).as_posix() for path in target.rglob("*")} == {"a", "deep", "deep/b"}
    assert (source / "a").samefile(target / "a") == has_links
    unshare(target / "deep")
    assert (source / "a").samefile(target / "a") == has_links, "only that folder gets its own"
    with (target / "deep" / "b").open("r+") as changed:
        changed.write("other")
    assert ((source / "deep" / "b").read_text(), (target / "deep" / "b").read_text()) == ("deep/b", "otherb")
    assert [path.name for path in (target / "deep").iterdir()] == ["b"]


def test_an_atomic_write_that_fails_keeps_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "CURRENT"
    write_atomic(path, b"old")
    monkeypatch.setattr(files.os, "fsync", failing(OSError(errno.EIO, "Input/output error")))
    with pytest.raises(OSError, match="Input/output"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_rename_is_tried_again_where_windows_refuses_it_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a"
    source.write_text("x")
    refusals = iter([PermissionError(13, "busy"), PermissionError(13, "busy")])
    replace = Path.replace

    def busy(self: Path, target: Path) -> Path:
        for refusal in refusals:
            raise refusal
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr(files, "_ON_WINDOWS", True)
    monkeypatch.setattr(files, "_RENAME_PAUSE_SECONDS", 0)
    files.rename(source, tmp_path / "b")
    assert (tmp_path / "b").read_text() == "x"
