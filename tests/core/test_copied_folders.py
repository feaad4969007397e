"""Which folders an analysis calls copies, and which of them it would leave out."""

from __future__ import annotations

from collections.abc import Mapping

from adk_evidence.analysis.chunks import Chunk
from adk_evidence.analysis.copied import CopiedFolder, Folder, copied_folders
from adk_evidence.analysis.repeats import exact_groups


def chunk(path: str, text: str, repo: str = "shop", edition: str = "") -> Chunk:
    return Chunk(
        edition=edition,
        repo=repo,
        commit="c0de",
        path=path,
        start=1,
        end=1,
        column=0,
        citation="",
        lang="py",
        corpus_kind="code",
        kind="function",
        symbol=None,
        symbol_kind="function",
        hash=text,
        tokens=1,
        bytes=100,
        generated=False,
        made=False,
        shingles=None,
    )


def found(texts: Mapping[str, range], edition: str = "") -> list[CopiedFolder]:
    """What is found in folders that hold a file for each number, whose text is the number."""
    chunks = [
        chunk(f"{folder}{number}.py", f"text {number}", edition=edition)
        for folder, numbers in texts.items()
        for number in numbers
    ]
    return list(copied_folders(chunks, exact_groups(chunks)))


def names(found: list[CopiedFolder]) -> list[tuple[str, str, float]]:
    return [(one.folder.path, one.kept.path, one.share) for one in found]


def test_the_vendored_or_deeper_of_two_copies_is_left_out() -> None:
    assert names(found({"lib/": range(12), "vendor/lib/": range(12)})) == [("vendor/lib/", "lib/", 1)]
    assert names(found({"a/b/lib/": range(12), "vendor/": range(12)})) == [("vendor/", "a/b/lib/", 1)]
    assert names(found({"a/b/": range(12), "z/": range(12)})) == [("a/b/", "z/", 1)]


def test_of_three_copies_one_remains() -> None:
    copies = names(found({"lib/": range(12), "one/lib/": range(12), "two/lib/": range(12)}))
    assert copies == [("two/lib/", "lib/", 1), ("one/lib/", "lib/", 1)]


def test_a_folder_that_is_a_part_of_another_is_left_out_and_not_the_whole() -> None:
    assert names(found({"a/b/lib/": range(40), "part/": range(12)})) == [("part/", "a/b/lib/", 1)]


def test_the_share_is_that_of_the_named_folder() -> None:
    copies = names(found({"lib/": range(20), "vendor/lib/": range(18), "else/": range(18, 100)}))
    assert copies == [("vendor/lib/", "lib/", 1)]
    assert names(found({"all/": range(20), "large/": range(2, 100)})) == [("all/", "large/", 0.9)]


def test_copies_that_are_scattered_are_no_copy_of_a_folder() -> None:
    # All of it stands elsewhere, but no more than half of it in one folder.
    scattered = {"all/": range(20), "one/": range(10), "two/": range(10, 20)}
    large = {"one/": range(100, 200), "two/": range(200, 300)}
    chunks = [
        chunk(f"{folder}{number}.py", f"text {number}")
        for texts in (scattered, large)
        for folder, numbers in texts.items()
        for number in numbers
    ]
    assert list(copied_folders(chunks, exact_groups(chunks))) == []


def test_nested_folders_count_for_the_folder_that_holds_them() -> None:
    nested = {"vendor/lib/a/": range(10), "vendor/lib/b/": range(10, 20), "lib/a/": range(10), "lib/b/": range(10, 20)}
    assert names(found(nested)) == [("vendor/lib/", "lib/", 1)]


def test_versions_that_are_kept_are_no_copies() -> None:
    assert found({"lib/": range(12), "vendor/lib/": range(12)}, edition="c0de") == []


def test_folders_of_one_name_in_two_repositories_are_two() -> None:
    chunks = [chunk(f"lib/{number}.py", f"text {number}", repo) for repo in ("a", "b") for number in range(12)]
    (copy,) = copied_folders(chunks, exact_groups(chunks))
    assert (copy.folder, copy.kept) == (Folder("b", "lib/"), Folder("a", "lib/"))
