"""A citation is written as specified, read from its source, and checked against the source as it is now."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from adk_evidence.citations.verify import verify
from adk_evidence.errors import InvalidRequestError
from adk_evidence.gitcli import GitError
from adk_evidence.index.sources import SourceReader
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import Citation, code_citation, docs_citation, parse_citation
from adk_evidence.models.pack import LineSpan
from adk_evidence.readers.pages.sections import sections
from adk_evidence.store.manifest import SourceLocation
from tests.core.factories import payload as make_payload
from tests.corpora import write_checkout

CODE = '''\
"""A module."""

import os


def first(a, b):
    """Add."""
    # carefully
    return a + b


class Tool:
    """A tool."""

    name = "tool"

    def run(self, x):
        return x

    async def stop(self):
        await self.run(1)
'''

PAGE = """\
# Guide

Intro.

## Setup {#install}

Install it.

```text
## Not a heading
```

## Use

Use it.

### Details

More.
"""


class Texts:
    """A source of given texts; `history` is what its commit holds."""

    def __init__(self, text: str | None, history: str | None = None) -> None:
        self.text, self.history = text, history

    def read(self, path: str) -> str | None:
        return self.text

    def paths(self) -> list[str]:
        return []

    def read_at_commit(self, path: str) -> str | None:
        return self.history


def cite(text: str, start: int, end: int, kind: str = "code", **changes: Any) -> ChunkPayload:
    """The chunk of lines `start`..`end` of a text."""
    body = "\n".join(text.split("\n")[start - 1 : end])
    return make_payload(
        kind, path="a.py" if kind == "code" else "a.md", body=body, start_line=start, end_line=end, **changes
    )


FIRST = cite(CODE, 6, 9, symbol="first", symbol_kind="function", symbols=("first",))
TOOL = cite(CODE, 12, 21, symbol="Tool", symbol_kind="class", symbols=("Tool", "Tool.run", "Tool.stop"))
RUN = cite(CODE, 17, 18, symbol="Tool.run", symbol_kind="method", symbols=("Tool.run",))
METHODS = cite(CODE, 17, 21, symbol="Tool", symbol_kind="methods", symbols=("Tool.run", "Tool.stop"))
HEAD = cite(CODE, 1, 3, symbol="pkg.a", symbol_kind="module")


def became(chunk: ChunkPayload, text: str) -> tuple[str, int, int]:
    found = verify(chunk, Texts(text))
    assert found.lines is not None
    return found.state, found.lines.start, found.lines.end


class TestForm:
    def test_pages_are_cited_by_url_and_code_by_lines(self) -> None:
        page = "google/adk-docs", "979a8fa", "https://adk.dev/a/#b"
        assert docs_citation(*page) == "adk-docs@979a8fa:https://adk.dev/a/#b"
        assert docs_citation(*page, 26, 74) == "adk-docs@979a8fa:https://adk.dev/a/#b L26-L74"
        assert code_citation("google/adk-python", "v2.13.0", "src/a.py", 3, 9) == ("adk-python@v2.13.0:src/a.py#L3-L9")

    @pytest.mark.parametrize(("start", "end"), [(None, None), (3, None), (None, 3)])
    def test_unknown_lines_are_not_invented(self, start: int | None, end: int | None) -> None:
        assert code_citation("google/adk-python", "v1", "a.py", start, end) == "adk-python@v1:a.py"

    def test_a_citation_can_be_taken_apart(self) -> None:
        assert parse_citation("adk-docs@979a8fa:https://adk.dev/a/#b") == Citation(
            "adk-docs", "979a8fa", url="https://adk.dev/a/#b"
        )
        assert parse_citation("adk-docs@979a8fa:https://adk.dev/a/#b L26-L74") == Citation(
            "adk-docs", "979a8fa", url="https://adk.dev/a/#b", lines=LineSpan(start=26, end=74)
        )
        assert parse_citation("adk-python@v1:src/a.py#L3-L9") == Citation(
            "adk-python", "v1", path="src/a.py", lines=LineSpan(start=3, end=9)
        )

    @pytest.mark.parametrize("text", ["docs/a.md:3-9", "docs/a.md#L3-L9", " docs/a.md:3-9 "])
    def test_a_place_is_enough(self, text: str) -> None:
        assert parse_citation(text) == Citation(None, None, path="docs/a.md", lines=LineSpan(start=3, end=9))

    @pytest.mark.parametrize(
        "text",
        ["", "adk-docs", "adk-docs@:x", "@abc:x", "a@b:", "a b@c:d", "a.md", "a.md:0-3", "a.md:9-3", "b@1:a#L9-L3"],
    )
    def test_other_texts_are_refused(self, text: str) -> None:
        with pytest.raises(InvalidRequestError):
            parse_citation(text)


class TestExact:
    @pytest.mark.parametrize("chunk", [FIRST, TOOL, RUN, HEAD], ids=lambda chunk: chunk.symbol)
    def test_unchanged_lines_are_exact(self, chunk: ChunkPayload) -> None:
        assert verify(chunk, Texts(CODE)).state == "exact"

    def test_a_part_of_a_line_is_compared_by_its_columns(self) -> None:
        line = "x = " + "0123456789" * 5
        body = line[10:20]
        chunk = make_payload("code", path="a.py", body=body, start_line=1, end_line=1, start_col=10, end_col=20)
        assert verify(chunk, Texts(f"{line}\n")).state == "exact"
        assert became(chunk, f"# above\n  {line}\n") == ("moved", 2, 2)

    def test_a_missing_newline_at_the_end_is_no_difference(self) -> None:
        assert verify(RUN, Texts("\n".join(CODE.split("\n")[:18]))).state == "exact"


class TestMoved:
    @hypothesis_settings(max_examples=100)
    @given(
        above=st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8")), min_size=1, max_size=30),
        at=st.integers(0, 5),
    )
    def test_lines_added_above_move_a_chunk_by_their_number(self, above: list[str], at: int) -> None:
        lines = CODE.split("\n")
        text = "\n".join([*lines[:at], *above, *lines[at:]])
        if text.split("\n")[5:9] == lines[5:9]:  # what was added may look like what is there
            return
        assert became(FIRST, text) == ("moved", 6 + len(above), 9 + len(above))

    def test_of_several_places_the_nearest_counts(self) -> None:
        text = "a\n" * 3 + "needle\n" + "b\n" * 20 + "needle\n" + "c\n" * 5
        chunk = make_payload("code", path="a.txt", body="needle", start_line=22, end_line=22, lang="txt")
        assert became(chunk, text) == ("moved", 25, 25)
        chunk = make_payload("code", path="a.txt", body="needle", start_line=2, end_line=2, lang="txt")
        assert became(chunk, text) == ("moved", 4, 4)

    def test_a_part_of_other_lines_is_not_the_text(self) -> None:
        chunk = make_payload("code", path="a.txt", body="needle", lang="txt")
        assert verify(chunk, Texts("no\nneedles\n")).state == "gone"


class TestSameTree:
    def test_other_formatting_and_comments_are_the_same_code(self) -> None:
        text = CODE.replace("    # carefully\n    return a + b", "    return (\n        a + b  # quickly\n    )")
        found = verify(FIRST, Texts(f"x = 1\n{text}"))
        assert (found.state, found.lines) == ("same_tree", LineSpan(start=7, end=11))
        assert "formatting" in found.reason

    @pytest.mark.parametrize(
        ("chunk", "text", "lines"),
        [
            (FIRST, 'def broken(:\n  pass\n\ndef first(a,b):\n  """Add."""\n  return (a + b)\n', (4, 6)),
            (
                cite('"""A module\nof two lines."""\n\nimport os\n', 1, 4, symbol="pkg.a", symbol_kind="module"),
                '"""A module of two lines."""\nimport  os\n',
                (1, 2),
            ),
            (
                cite("@cache\n@other(1,2)\ndef f():\n    return 1\n", 1, 4, symbol="f", symbol_kind="function"),
                "\n@cache\n@other(1, 2)\ndef f():\n    return 1\n",
                (2, 5),
            ),
            (
                cite(CODE, 12, 15, symbol="Tool", symbol_kind="class", symbols=("Tool", "Tool.name")),
                CODE.replace('name = "tool"', "name = 'tool'"),
                (12, 15),
            ),
            (METHODS, CODE.replace("def run(self, x):", "def run(self, x):  # now"), (17, 21)),
        ],
        ids=["in a broken file", "module", "decorators", "beginning of a class", "methods"],
    )
    def test_each_kind_of_chunk_is_found_again(self, chunk: ChunkPayload, text: str, lines: tuple[int, int]) -> None:
        assert became(chunk, text) == ("same_tree", *lines)

    def test_a_method_keeps_its_strings_when_its_class_is_indented_more(self) -> None:
        text = 'class A:\n    def f(self):\n        return """\n  kept\n"""\n'
        chunk = cite(text, 2, 5, symbol="A.f", symbol_kind="method")
        assert became(chunk, text.replace("def f(self)", "def f( self )")) == ("same_tree", 2, 5)
        other = verify(chunk, Texts(text.replace("def f(self)", "def f( self )").replace("  kept", "    kept")))
        assert other.state == "changed"

    def test_the_same_code_under_another_name_is_not_the_same_symbol(self) -> None:
        found = verify(RUN, Texts("class Other:\n  def run(self, x):\n    return x\n"))
        assert found.state == "gone"


class TestChanged:
    def test_a_symbol_with_other_code_is_changed(self) -> None:
        found = verify(FIRST, Texts("\n" + CODE.replace("a + b", "a - b")))
        assert (found.state, found.lines) == ("changed", LineSpan(start=7, end=10))
        assert found.reason.startswith("first is there")

    @pytest.mark.parametrize(
        ("chunk", "text", "lines"),
        [
            (RUN, "class Tool:\n    def run(self, y:\n", (2, 2)),
            (HEAD, "import (\n", (1, 1)),
            (HEAD, '"""Another."""\n', (1, 1)),
            (FIRST, "if True:\n    def first(a):\n        return a\n", (2, 3)),
            (METHODS, "class Tool:\n    def stop(self):\n        pass\n", (2, 3)),
        ],
        ids=["in a broken file", "module in a broken file", "module", "inside an if", "one of several methods"],
    )
    def test_what_is_left_by_name_is_found(self, chunk: ChunkPayload, text: str, lines: tuple[int, int]) -> None:
        assert became(chunk, text) == ("changed", *lines)

    @pytest.mark.parametrize(
        ("text", "headings", "uri", "lines"),
        [
            (PAGE, ("Guide", "Use"), None, (13, 19)),
            (PAGE, ("Guide", "Use", "Details"), None, (17, 19)),
            (PAGE, ("Guide", "Setup"), None, (5, 11)),
            (PAGE, ("Renamed", "Set up"), "https://adk.dev/a/#install", (5, 11)),
            (PAGE, ("Renamed", "Use"), "https://adk.dev/a/#use", (13, 19)),
            (PAGE, ("Guide", "Not a heading"), None, None),
            (
                "#  The [`run_async`](../x.md) **method** &amp; more ##\n",
                ("The run_async method & more",),
                None,
                (1, 1),
            ),
            ("Guide\n=====\n\nSetup\n-----\n\nNew.\n\nUse\n---\n\nMore.\n", ("Guide", "Setup"), None, (4, 7)),
            ('# Guide\n\n=== "Python"\n\n    ## Setup\n\n    New.\n\n=== "Go"\n', ("Guide", "Setup"), None, (5, 7)),
            ("# Guide\n\n<!--\n# Draft\n-->\n\n## Setup\n\nNew.\n", ("Guide", "Setup"), None, (7, 9)),
            ("<!--\n# Draft\n-->\n\nText.\n", ("Draft",), None, None),
            ("---\n# Draft\ntitle: A\n---\n\n# Guide\n\nNew.\n", ("Guide",), None, (6, 8)),
        ],
    )
    def test_a_section_is_found_by_its_headings_or_its_anchor(
        self, text: str, headings: tuple[str, ...], uri: str | None, lines: tuple[int, int] | None
    ) -> None:
        chunk = make_payload("doc", path="a.md", body="older text", headings=headings, uri=uri)
        if lines is None:
            assert verify(chunk, Texts(text)).state == "gone"
        else:
            assert became(chunk, text) == ("changed", *lines)

    @pytest.mark.parametrize(
        ("before", "repeated"), [("", "# T\n"), ("# Top\n", "## T\n\n\n"), ("", "###### T\n"), ("# ", "![]([")]
    )
    def test_the_time_for_headings_grows_with_the_page_alone(self, before: str, repeated: str) -> None:
        def seconds(repeats: int) -> float:
            page = before + repeated * repeats + "\n" * repeats
            begin = time.process_time()
            assert sum(1 for _ in sections(page)) >= 1
            return time.process_time() - begin

        seconds(10)
        # The least of three: garbage of earlier tests may be collected meanwhile.
        large, small = (min(seconds(repeats) for _ in range(3)) for repeats in (12_000, 3_000))
        assert large < 10 * max(small, 0.01)


class TestGone:
    @pytest.mark.parametrize("chunk", [FIRST, RUN], ids=lambda chunk: chunk.symbol)
    def test_without_text_and_name_it_is_gone(self, chunk: ChunkPayload) -> None:
        assert verify(chunk, Texts("x = 1\n")).state == "gone"

    def test_a_missing_file_is_gone_and_the_commit_may_still_hold_it(self) -> None:
        assert verify(FIRST, Texts(None)).reason == "The file is no longer there."
        kept = verify(FIRST, Texts(None, history=CODE))
        assert (kept.state, kept.reason) == ("gone", "The file is no longer there. Commit abc still holds it.")

    @pytest.mark.parametrize("text", ["", "\n", "\x00", "def f(:\n" * 300, "(" * 5000, "```\n" * 50, "\ud800"])
    def test_no_content_makes_it_fail(self, text: str) -> None:
        for chunk in (FIRST, TOOL, HEAD, make_payload("doc", body="older", headings=("Guide",))):
            assert verify(chunk, Texts(text)).state in ("gone", "changed")


def test_a_source_that_cannot_be_read_leaves_the_citation_unverified(tmp_path: Path) -> None:
    reader = SourceReader(SourceLocation(kind="snapshot", root=tmp_path / "missing", commit="abc"))
    found = verify(FIRST, reader)
    assert found.state == "unverified"
    assert "missing" in found.reason


def location(root: Path, **changes: Any) -> SourceLocation:
    return SourceLocation(**{"kind": "snapshot", "root": root, "commit": "abc", **changes})


class TestSourceReader:
    def test_it_decodes_as_ingestion_does(self, tmp_path: Path) -> None:
        (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree")
        (tmp_path / "b.bin").write_bytes(b"one\x00two")
        reader = SourceReader(location(tmp_path))
        assert reader.read("a.md") == "one\ntwo\nthree"
        assert reader.read("b.bin") is None
        assert reader.read("missing.md") is None
        assert reader.read("a.md/b.md") is None

    def test_it_maps_the_repositorys_paths(self, tmp_path: Path) -> None:
        (tmp_path / "google/adk").mkdir(parents=True)
        (tmp_path / "google/adk/a.py").write_text("a = 1")
        (tmp_path / "google/other.py").write_text("b = 1")
        reader = SourceReader(location(tmp_path, path_prefix="src/", subtrees=("google/adk",)))
        assert reader.read("src/google/adk/a.py") == "a = 1"
        assert reader.read("google/adk/a.py") is None
        assert reader.read("src/google/other.py") is None

    @pytest.mark.parametrize(
        "path",
        ["../secret", "a/../../secret", "/etc/hosts", "", ".", "a//b", "a/./b", "sub", "a\x00b", "\ud800", "x" * 9000],
    )
    def test_it_reads_files_below_its_root_only(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "root/sub").mkdir(parents=True)
        (tmp_path / "secret").write_text("secret")
        assert SourceReader(location(tmp_path / "root")).read(path) is None

    @pytest.mark.skipif(sys.platform == "win32", reason="making symbolic links needs rights on Windows")
    def test_links_do_not_lead_out(self, tmp_path: Path) -> None:
        (tmp_path / "root").mkdir()
        (tmp_path / "secret").write_text("secret")
        (tmp_path / "root/inner").write_text("inner")
        (tmp_path / "root/out").symlink_to(tmp_path / "secret")
        (tmp_path / "root/in").symlink_to("inner")
        reader = SourceReader(location(tmp_path / "root"))
        assert reader.read("out") is None
        assert reader.read("in") == "inner"

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_it_does_not_wait_at_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.md")
        assert SourceReader(location(tmp_path)).read("pipe.md") is None

    def test_it_notices_a_new_version(self, tmp_path: Path) -> None:
        reader = SourceReader(location(tmp_path))
        (tmp_path / "a.md").write_text("one")
        assert reader.read("a.md") == "one"
        (tmp_path / "new.md").write_text("two")
        (tmp_path / "new.md").replace(tmp_path / "a.md")
        assert reader.read("a.md") == "two"

    def test_it_lists_the_files_below_its_subtrees(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        names = ["a.py", "b/other.py", "src/a[b]/one.py", "src/a[b]/two.py", "src/ab/other.py"]
        write_checkout(tmp_path, dict.fromkeys(names, "x = 1\n"))
        reader = SourceReader(location(tmp_path, kind="git", subtrees=("src/a[b]",)))
        # The limit counts only what belongs to the source.
        monkeypatch.setattr("adk_evidence.index.sources.MAX_LISTED", 2)
        assert reader.paths() == names[2:4]
        monkeypatch.undo()
        assert SourceReader(location(tmp_path, kind="git")).paths() == names


class TestGitCheckout:
    @pytest.fixture
    def checkout(self, tmp_path: Path) -> SourceLocation:
        return location(tmp_path, kind="git", commit=write_checkout(tmp_path, {"a.py": CODE}))

    def test_the_working_tree_is_what_counts(self, checkout: SourceLocation) -> None:
        reader = SourceReader(checkout, checkout.root)
        assert verify(FIRST, reader).state == "exact"
        (checkout.root / "a.py").write_text("# new\n" + CODE)
        assert verify(FIRST, reader).state == "moved"
        assert reader.read_at_commit("a.py") == CODE

    def test_the_commit_is_asked_for_what_the_working_tree_lost(self, checkout: SourceLocation) -> None:
        (checkout.root / "a.py").unlink()
        found = verify(FIRST, SourceReader(checkout))
        assert found.state == "gone"
        assert "still holds it" in found.reason

    @pytest.mark.parametrize("commit", ["--help", "HEAD", "0" * 40, ""])
    def test_only_a_known_hash_is_looked_up(self, checkout: SourceLocation, commit: str) -> None:
        reader = SourceReader(checkout.model_copy(update={"commit": commit}))
        assert reader.read_at_commit("a.py") is None
        for path in ("../a.py", "missing.py", "", "a\x00b", "\ud800"):
            assert SourceReader(checkout).read_at_commit(path) is None

    def test_a_git_that_gives_no_answer_is_asked_again(
        self, checkout: SourceLocation, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = []

        def slow(command: list[str], **_: object) -> bytes:
            asked.append(command)
            raise GitError("git cat-file gave no answer within 5 seconds.")

        reader = SourceReader(checkout)
        with monkeypatch.context() as patched:
            patched.setattr("adk_evidence.index.sources.run_git", slow)
            assert reader.read_at_commit("a.py") is None
        assert reader.read_at_commit("a.py") == CODE and len(asked) == 1
