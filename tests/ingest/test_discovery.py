"""Discovery finds the same files in the same order, says why it leaves others out, and reads what it found."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from adk_evidence.errors import SettingsError
from adk_evidence.settings import CorpusSettings, load_settings
from adk_ingest.corpora.discovery import Discovery, discover
from adk_ingest.sources.base import CorpusSource
from tests.corpora import write_files


def corpus(**changes: object) -> CorpusSettings:
    base = load_settings().ingestion.corpora.adk_docs
    return base.model_copy(update=changes)


def source(root: Path, **changes: object) -> CorpusSource:
    fields: dict[str, object] = {
        "corpus": "adk_docs",
        "repo": "o/docs",
        "kind": "git",
        "root": root,
        "commit": "c" * 40,
    }
    return CorpusSource(**{**fields, **changes})  # type: ignore[arg-type]


def found(root: Path, **changes: object) -> list[str]:
    return [file.path for file in discover(source(root), corpus(**changes)).files]


def read_all(discovery: Discovery) -> dict[str, str]:
    return {file.path: file.text for file in discovery.read()}


def test_paths_are_the_repositorys_where_the_root_is_only_a_part_of_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"google/adk/a.py": "a = 1", "google/other/b.py": "b = 1", "top.py": "c = 1"})
    packaged = source(tmp_path, path_prefix="src/", subtrees=("google/adk",))
    result = discover(packaged, corpus(allowed_exts=(".py",)))
    assert [file.path for file in result.files] == ["src/google/adk/a.py"]
    without = corpus(allowed_exts=(".py",), exclude_globs=("src/google/adk/a.py",))
    assert discover(packaged, without).files == []


class TestFilters:
    def test_the_first_filter_that_a_file_fails_is_its_reason(self, tmp_path: Path) -> None:
        big = "x" * 50
        write_files(
            tmp_path,
            {
                "out/a.png": b"\x00" * 50,  # fails every filter
                "elsewhere/a.png": b"\x00" * 50,  # all but the first
                "in/a.png": b"\x00" * 50,  # all but the first two
                "in/a.md": b"\x00" * 50,  # size and binary
                "in/b.md": b"\x00" * 5,
                "in/c.md": big,
                "in/d.md": "",
                "in/e.md": "text",
            },
        )
        result = discover(source(tmp_path), corpus(include_globs=("in/",), exclude_globs=("out/*",), max_file_bytes=20))
        assert [file.path for file in result.files] == ["in/e.md"]
        assert result.skipped == {
            "excluded": ["out/a.png"],
            "not_included": ["elsewhere/a.png"],
            "extension": ["in/a.png"],
            "too_large": ["in/a.md", "in/c.md"],
            "binary": ["in/b.md"],
            "empty": ["in/d.md"],
        }

    def test_no_globs_and_no_extensions_let_everything_pass_and_case_does_not_count(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"LICENSE": "free", "a/B.MD": "text"})
        assert found(tmp_path, include_globs=(), allowed_exts=()) == ["LICENSE", "a/B.MD"]
        assert found(tmp_path) == ["a/B.MD"]

    def test_a_glob_for_a_folder_covers_what_is_in_it(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"a/b/c.md": "c", "a/b/keep.md": "k", "d.md": "d"})
        assert found(tmp_path, exclude_globs=("a/*",)) == ["d.md"]
        assert found(tmp_path, exclude_globs=("a/*", "!keep.md")) == ["a/b/keep.md", "d.md"]
        assert found(tmp_path, exclude_globs=("!keep.md", "a/*")) == ["d.md"]
        assert found(tmp_path, include_globs=("a/*",)) == ["a/b/c.md", "a/b/keep.md"]
        assert found(tmp_path, include_globs=("a/*", "!keep.md")) == ["a/b/c.md"]

    def test_an_excluded_folder_is_not_walked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_files(tmp_path, {".git/objects/a.md": "a", "node_modules/x/b.md": "b", "c.md": "c"})
        listed: list[str] = []
        real = os.listdir

        def listdir(path: Any) -> list[str]:
            listed.append(str(path))
            return real(path)

        monkeypatch.setattr(os, "listdir", listdir)
        result = discover(source(tmp_path), corpus())
        assert [Path(path) for path in listed] == [tmp_path]
        assert result.skipped == {"excluded": [".git/", "node_modules/"]}

    def test_a_snapshots_own_manifest_is_no_part_of_the_corpus(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"corpus.json": "{}", "docs/corpus.json": "{}"})
        result = discover(source(tmp_path, kind="snapshot"), corpus(allowed_exts=(".json",)))
        assert [file.path for file in result.files] == ["docs/corpus.json"]
        with pytest.raises(SettingsError, match="include_globs"):
            discover(source(tmp_path), corpus(include_globs=("!",)))


class TestBrokenFiles:
    def test_a_few_wrong_bytes_are_replaced_and_told_from_what_the_author_wrote(self, tmp_path: Path) -> None:
        text = "\N{REPLACEMENT CHARACTER}" * 100
        write_files(tmp_path, {"old.md": b"caf\xe9 " + b"x" * 1000, "unicode.md": text})
        result = discover(source(tmp_path), corpus())
        assert read_all(result) == {"old.md": "caf\N{REPLACEMENT CHARACTER} " + "x" * 1000, "unicode.md": text}
        assert result.decode_warnings == ["old.md: replaced 1 character that is not UTF-8."]

    def test_newlines_and_byte_order_marks_leave_no_trace(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"a.md": b"\xef\xbb\xbfone\r\ntwo\rthree\n", "b.md": "one\ntwo\nthree\n"})
        first, second = discover(source(tmp_path), corpus()).read()
        assert first.text == second.text == "one\ntwo\nthree\n"
        assert first.file_hash == second.file_hash

    def test_unreadable_files_and_folders_are_skipped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_files(tmp_path, {"locked/a.md": "a", "locked.md": "b", "open.md": "c"})
        # Refused in place of the system, which refuses root nothing.
        real_open, real_list = open, os.listdir

        def refuse(path: object) -> None:
            if str(path).endswith(("locked", "locked.md")):
                raise PermissionError(13, "Permission denied")

        def guarded_open(path: Any, *args: Any, **options: Any) -> Any:
            refuse(path)
            return real_open(path, *args, **options)

        def guarded_list(path: Any) -> list[str]:
            refuse(path)
            return real_list(path)

        monkeypatch.setattr("builtins.open", guarded_open)
        monkeypatch.setattr(os, "listdir", guarded_list)
        result = discover(source(tmp_path), corpus())
        assert [file.path for file in result.files] == ["open.md"]
        assert result.skipped == {"unreadable": ["locked.md", "locked/"]}

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux file systems take names of any bytes")
    def test_names_that_are_not_utf8_are_skipped_and_can_be_printed(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"good.md": "good"})
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x")
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")).mkdir()
        result = discover(source(tmp_path), corpus())
        assert read_all(result) == {"good.md": "good"}
        assert result.skipped == {"undecodable_name": ["caf\\xe9.md", "d\\xff"]}
        json.dumps(result.skipped, ensure_ascii=False).encode("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="making symbolic links needs rights on Windows")
def test_links_are_not_followed(tmp_path: Path) -> None:
    root = write_files(tmp_path / "root", {"a.md": "a", "b/b.md": "b"})
    write_files(tmp_path, {"secret.md": "secret", "secrets/s.md": "s"})
    for name, target in {"out.md": tmp_path / "secret.md", "outer.md": tmp_path / "secrets", "b/up.md": ".."}.items():
        (root / name).symlink_to(target)
    result = discover(source(root), corpus())
    assert [file.path for file in result.files] == ["a.md", "b/b.md"]
    assert result.skipped == {"symlink": ["b/up.md", "out.md", "outer.md"]}


NAMES = st.sampled_from(["a", "b", "docs", "x.md", "y.md", "z.txt", ".git"])
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=12)
GLOBS = st.lists(
    st.sampled_from(
        ["docs/", "**/.git/**", "*.md", "a", "/a/**", "a/*", "**/b/x.md", "!y.md", "!docs/x.md", "b/**/x.md", "!a/"]
    ),
    max_size=4,
).map(tuple)


@hypothesis_settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREES, exclude=GLOBS, include=GLOBS)
def test_any_globs_give_one_order_and_pruning_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, tree: list[str], exclude: tuple[str, ...], include: tuple[str, ...]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for name in tree:
        path = root / name
        if path.suffix and not any((root / part).is_file() for part in Path(name).parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("text")
    settings = corpus(exclude_globs=exclude, include_globs=include)
    result = discover(source(root), settings)
    paths = [file.path for file in result.files]
    assert paths == sorted(set(paths))
    assert discover(source(root), settings) == result
    # With a glob that re-includes nothing, every folder is walked.
    unpruned = corpus(exclude_globs=(*exclude, "!no-such-file"), include_globs=include)
    assert [file.path for file in discover(source(root), unpruned).files] == paths
    skipped = [path for names in result.skipped.values() for path in names]
    for name in (file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file()):
        covered = name in skipped or any(name.startswith(folder) for folder in skipped if folder.endswith("/"))
        assert (name in paths) != covered
