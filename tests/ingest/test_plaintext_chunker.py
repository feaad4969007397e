"""Prose and data files: paragraphs, titles, entries."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.prose import chunk_prose
from tests.ingest.exact import assert_exact
from tests.ingest.test_markdown_chunker import SMALL


def chunk(text: str, path: str = "notes.txt") -> ChunkedFile:
    file = SourceFile(path, text, "hash")
    chunked = chunk_prose(file, SMALL)
    assert_exact(text, chunked.chunks)
    return chunked


def paragraph(name: str) -> str:
    return f"{name} " + " ".join(["word"] * 15) + "."


def test_paragraphs_are_grouped_to_the_target_and_overlap() -> None:
    chunks = chunk("\n\n".join(paragraph(name) for name in "abcdef")).chunks
    assert [(item.start_line, item.end_line) for item in chunks] == [(1, 3), (5, 7), (9, 11)]
    assert [item.tail for item in chunks] == ["", "", ""]
    short = chunk("\n\n".join(f"{paragraph(name)}\nLast of {name}." for name in "abcd")).chunks
    assert [item.tail for item in short] == ["", "Last of b."]


class TestRst:
    PAGE = (
        "=====\nTitle\n=====\n\nIntro.\n\nFirst\n=====\n\nText.\n\nDetail\n------\n\nMore.\n\nSecond\n======\n\nEnd.\n"
    )

    def test_titles_begin_sections_and_give_headings(self) -> None:
        chunked = chunk(self.PAGE, "a.rst")
        assert chunked.title == "Title"
        assert [(item.start_line, item.headings) for item in chunked.chunks] == [
            (1, ("Title",)),
            (7, ("Title", "First")),
            (17, ("Title", "Second")),
        ]

    def test_tables_and_transitions_are_no_titles(self) -> None:
        text = "Text.\n\n----\n\nMore.\n\n=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n"
        assert [item.headings for item in chunk(text, "a.rst").chunks] == [()]


def test_asciidoc_titles_count_outside_of_listings() -> None:
    text = "= Doc\n\nIntro.\n\n== One\n\n----\n== no title\n----\n\n== Two\n\nText.\n"
    assert [item.headings for item in chunk(text, "a.adoc").chunks] == [("Doc",), ("Doc", "One"), ("Doc", "Two")]


@pytest.mark.parametrize(
    ("path", "entry", "member"),
    [("a.yml", "# about {}\n{}:\n", "  key: some value"), ("a.toml", "[{}.{}]\n", "key = 'value'")],
)
def test_yaml_and_toml_are_cut_where_an_outer_entry_begins(path: str, entry: str, member: str) -> None:
    entries = [entry.format(name, name) + "\n".join([member] * 9) for name in "abc"]
    chunks = chunk("\n".join(entries) + "\n", path).chunks
    firsts = [entry.format(name, name).splitlines()[0] for name in "abc"]
    assert [item.body.splitlines()[0] for item in chunks] == firsts
    assert {item.lang for item in chunks} == {"toml" if path == "a.toml" else "yaml"}


def test_json_is_cut_at_outer_members_and_minified_json_by_columns() -> None:
    members = ",\n".join(f'  "m{n}": {{\n    "key": "{"v" * 90}"\n  }}' for n in range(4))
    chunks = chunk(f"{{\n{members}\n}}\n", "a.json").chunks
    assert all(item.body.splitlines()[0].startswith(('  "m', "{")) for item in chunks)
    minified = chunk('{"a": ' + '"x y",' * 500 + "}", "a.json").chunks
    assert all(item.start_col is not None and len(item.body) <= 600 for item in minified)


LINES = st.one_of(
    st.sampled_from(
        ["", "", "====", "----", "Title", "= T", "....", "key: value", "  - item", "[table]", "{", "}", "# c", "::"]
    ),
    st.integers(1, 200).map(lambda n: "word. " * n),
    st.text(alphabet=st.characters(exclude_characters="\n"), max_size=40),
)


@settings(max_examples=80)
@given(
    st.lists(LINES, max_size=50).map("\n".join),
    st.sampled_from(["a.rst", "a.txt", "a.adoc", "a.yaml", "a.json", "a.toml"]),
)
def test_any_file_keeps_the_invariants(text: str, path: str) -> None:
    chunks = chunk(text, path).chunks
    assert all(len(item.body) <= 600 and len(item.tail) <= 60 for item in chunks)
    for before, item in itertools.pairwise(chunks):
        assert before.body.endswith(item.tail)


@pytest.mark.parametrize(
    "text", ["Title\n====\n\n" * 10_000, "x" * 1_000_000, "a: [" * 100_000, "  " * 250_000 + "x", "a\n\n" * 30_000]
)
@pytest.mark.parametrize("path", ["a.rst", "a.yaml"])
def test_hostile_files_take_linear_time(text: str, path: str) -> None:
    started = time.process_time()
    chunk_prose(SourceFile(path, text, "hash"), SMALL)
    assert time.process_time() - started < 4
