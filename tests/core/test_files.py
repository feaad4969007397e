"""Files and folders that are made durable, and that are removed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adk_evidence import files
from adk_evidence.files import remove_tree, sync_tree
from tests.corpora import write_files

TREE = {"a/one.bin": "1", "a/b/two.bin": "2", "c/three.bin": "3", "four.bin": "4"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_files(tmp_path / "tree", TREE)


def test_every_file_is_durable_before_any_folder_that_names_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(files, "_fsync", lambda path, flags: synced.append(Path(path).relative_to(tree).as_posix()))
    sync_tree(tree)
    assert set(synced[: len(TREE)]) == set(TREE)
    if os.name != "nt":
        assert set(synced[len(TREE) :]) == {".", "a", "a/b", "c"}


def test_a_disk_that_fails_stops_the_sync(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: str, flags: int) -> None:
        if path.endswith("three.bin"):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "_fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        sync_tree(tree)


def test_a_tree_is_removed_and_what_its_links_lead_to_stays(tree: Path, tmp_path: Path) -> None:
    kept = write_files(tmp_path / "kept", {"x/y/kept.txt": "kept"})
    (tree / "link").symlink_to(kept, target_is_directory=True)
    remove_tree(tree)
    assert not tree.exists() and (kept / "x/y/kept.txt").read_text() == "kept"


def test_a_link_in_the_place_of_the_tree_leads_nowhere(tree: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tree, target_is_directory=True)
    remove_tree(link)
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*.bin")) == sorted(map(os.path.normpath, TREE))
    remove_tree(tmp_path / "nowhere")


def test_a_process_that_is_ending_still_removes_what_it_must(tree: Path) -> None:
    script = (
        "import atexit, concurrent.futures.thread, sys; from pathlib import Path\n"
        "from adk_evidence.files import remove_tree, sync_tree\n"
        "atexit.register(lambda: (sync_tree(Path(sys.argv[1])), remove_tree(Path(sys.argv[1]))))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tree)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "") and not tree.exists()
