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
from adk_ingest.corpora.discovery import Discovery, discover, path_filter
from adk_ingest.sources.base import CorpusSource
from tests.corpora import git, write_checkout, write_files


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

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-be"])
    def test_a_byte_order_mark_says_the_encoding(self, tmp_path: Path, encoding: str) -> None:
        mark = "\ufeff" if encoding.endswith("-be") else ""
        write_files(tmp_path, {"a.md": (mark + "Größe\r\n").encode(encoding)})
        result = discover(source(tmp_path), corpus())
        assert read_all(result) == {"a.md": "Größe\n"} and not result.decode_warnings

    @pytest.mark.parametrize(
        ("head", "encoding"),
        [
            ("#!/usr/bin/env python\n# -*- coding: latin-1 -*-", "latin-1"),
            ("# coding=cp1251", "cp1251"),
            ("# vim: set fileencoding=euc-jp :", "euc-jp"),
            ('<?xml version="1.0" encoding="ISO-8859-15"?>', "iso8859-15"),
        ],
    )
    def test_the_first_two_lines_may_say_the_encoding(self, tmp_path: Path, head: str, encoding: str) -> None:
        text = f"{head}\n{ {'cp1251': 'размер', 'euc-jp': '大きさ'}.get(encoding, 'Größe') }\n"
        write_files(tmp_path, {"a.md": text.encode(encoding)})
        result = discover(source(tmp_path), corpus())
        assert read_all(result) == {"a.md": text} and not result.decode_warnings

    @pytest.mark.parametrize(
        "raw",
        [
            *(b"# coding: %s\n\xe9\xe8" % name for name in (b"idna", b"unicode_escape", b"hex", b"none", b"utf-7")),
            b"one\ntwo\n# coding: latin-1\n\xe9",
            b"\xff\xfea",  # half of a character
            b"\xff\xfe\0\xd8a\0",  # half of a pair
            b"\xff\xfea\0\0\0",  # a NUL
        ],
    )
    def test_what_is_not_as_it_says_or_says_no_encoding_of_texts_is_undecodable(
        self, tmp_path: Path, raw: bytes
    ) -> None:
        write_files(tmp_path, {"a.md": raw})
        result = discover(source(tmp_path), corpus())
        assert read_all(result) == {} and result.skipped == {"undecodable": ["a.md"]}

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


class TestWorkingTrees:
    def test_another_working_tree_of_the_repository_is_no_part_of_the_corpus(self, tmp_path: Path) -> None:
        write_checkout(tmp_path, {"a.md": "a", "in/b.md": "b"})
        git(tmp_path, "worktree", "add", "--quiet", "in/tree")
        git(tmp_path / "in/tree", "worktree", "add", "--quiet", "inner")
        whole = discover(source(tmp_path), corpus())
        assert [file.path for file in whole.files] == ["a.md", "in/b.md"]
        assert whole.skipped == {"excluded": [".git/"], "another_working_tree": ["in/tree/"]}
        assert found(tmp_path / "in") == ["b.md"]
        could_take = path_filter(source(tmp_path), corpus())
        assert could_take("in/b.md", False) and not could_take("in/tree/a.md", False)
        # One that is named is a corpus like any other.
        named = discover(source(tmp_path / "in/tree"), corpus())
        assert [file.path for file in named.files] == ["a.md", "in/b.md"]
        assert named.skipped == {"excluded": [".git"], "another_working_tree": ["inner/"]}

    def test_a_repository_below_the_folder_is_taken_once(self, tmp_path: Path) -> None:
        write_checkout(tmp_path / "shop", {"a.md": "a"})
        git(tmp_path / "shop", "worktree", "add", "--quiet", "../other")
        assert found(tmp_path) == ["shop/a.md"]

    def test_submodules_and_the_trees_of_a_bare_repository_stand_for_themselves(self, tmp_path: Path) -> None:
        write_checkout(tmp_path / "made", {"a.md": "a"})
        git(tmp_path, "clone", "--quiet", "--bare", "made", "root/.git")
        for name in ("one", "two"):
            git(tmp_path / "root", "worktree", "add", "--quiet", name)
        assert found(tmp_path / "root") == ["one/a.md", "two/a.md"]
        top = tmp_path / "top"
        write_checkout(top, {"b.md": "b"})
        git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "made"), "part")
        modules = discover(source(top), corpus(allowed_exts=()))
        assert [file.path for file in modules.files] == [".gitmodules", "b.md", "part/a.md"]
        assert modules.skipped == {"excluded": [".git/", "part/.git"]}

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "gitdir:",
            "gitdir: \0",
            "gitdir: /" + "x" * 5000 + "/.git/worktrees/a",
            "\xff",
            "gitdir: /nowhere/worktrees/a",
        ],
    )
    def test_a_file_that_leads_nowhere_hides_nothing(self, tmp_path: Path, text: str) -> None:
        write_files(tmp_path, {"in/.git": text, "in/a.md": "a"})
        assert found(tmp_path) == ["in/a.md"]


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
