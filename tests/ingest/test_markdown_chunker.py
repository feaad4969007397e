"""Markdown chunks: exact lines, human cuts, headings and anchors as the site has them."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.readers.pages.markdown import read_markdown
from adk_evidence.settings import ChunkingSettings, load_settings
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.prose import chunk_prose
from tests.ingest.exact import assert_exact


def sizes(*, target: int = 4500, minimum: int = 400, maximum: int = 12000, overlap: int = 300) -> ChunkingSettings:
    chunking = {
        "max_chunk_chars": maximum,
        "min_chunk_chars": minimum,
        "docs": {"target_chunk_chars": target, "overlap_chars": overlap},
        "code": {"max_symbol_chunk_chars": min(9000, maximum), "overlap_chars": 0},
    }
    return load_settings({"ingestion": {"chunking": chunking}}).ingestion.chunking


SMALL = sizes(target=200, minimum=40, maximum=600, overlap=60)


def page(text: str) -> SourceFile:
    return SourceFile("docs/page.md", text, "hash")


def chunk(text: str, chunking: ChunkingSettings = SMALL, **files: str) -> ChunkedFile:
    chunked = chunk_prose(page(text), chunking, files.get)
    assert_exact(text, chunked.chunks)
    return chunked


def metadata(text: str) -> dict[str, object]:
    return read_markdown(page(text).lines).metadata


def filler(words: int, word: str = "word") -> str:
    return " ".join([word] * words) + "."


class TestSections:
    def test_a_section_begins_at_each_h2_and_the_text_before_is_its_own(self) -> None:
        chunks = chunk("# Page\n\nIntro.\n\n## One\n\nText one.\n\n### Sub\n\nText.\n\n## Two\n\nText two.\n").chunks
        assert [(item.start_line, item.end_line) for item in chunks] == [(1, 3), (5, 11), (13, 15)]
        assert [item.headings for item in chunks] == [("Page",), ("Page", "One"), ("Page", "Two")]
        (alone,) = chunk("# Page\n\n## One\n\nText one.\n").chunks
        assert alone.headings == ("Page", "One"), "a heading without text goes with the next section"

    def test_setext_headings_count(self) -> None:
        chunks = chunk("Page\n====\n\nIntro.\n\nOne\n---\n\nText one.\n").chunks
        assert [item.headings for item in chunks] == [("Page",), ("Page", "One")]
        assert chunks[1].start_line == 6

    @pytest.mark.parametrize(
        "hidden",
        [
            "```bash\n## Not a heading\n```",
            "~~~~\n## Not a heading\n~~~\n~~~~",
            "    ## Not a heading",
            "<!--\n## Not a heading\n-->",
            "<pre>\n## Not a heading\n</pre>",
            "Some text.\n#hashtag",
        ],
    )
    def test_what_only_looks_like_a_heading_is_none(self, hidden: str) -> None:
        chunks = chunk(f"# Page\n\nIntro.\n\n{hidden}\n\nMore.\n").chunks
        assert [item.headings for item in chunks] == [("Page",)]

    def test_an_unclosed_fence_does_not_swallow_the_page(self) -> None:
        chunked = chunk("# Page\n\n```python\nx = 1\n\n## Next\n\nText.\n")
        assert [item.headings for item in chunked.chunks] == [("Page",), ("Page", "Next")]
        assert chunked.warnings == ["The code block of line 3 is never closed."]


class TestFrontMatter:
    def test_it_gives_the_title_and_its_lines_stay_in_the_first_chunk(self) -> None:
        text = "---\ntitle: The title\ntags: [a, b]\n---\n\n# Page\n\nIntro.\n"
        chunked = chunk(text)
        assert chunked.title == "The title"
        assert metadata(text) == {"title": "The title", "tags": ["a", "b"]}
        assert (chunked.chunks[0].start_line, chunked.chunks[0].headings) == (1, ("Page",))
        assert chunk("Text.\n\n# `Page` one\n\nText.\n").title == "Page one"

    @pytest.mark.parametrize(
        "text", ["---\nA rule, no front matter.\n---\n", "---\na: [\n---\n# P\n", "---\n", "---\n---\n"]
    )
    def test_what_is_no_mapping_is_text(self, text: str) -> None:
        assert metadata(text) == {}

    def test_yaml_bombs_stay_small(self) -> None:
        bomb = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])
        assert metadata(f"---\n{bomb}\n---\n\nText.\n") == {"a0": ["x", "x"]}


class TestBlocks:
    def test_fences_stay_whole_up_to_the_cap(self) -> None:
        code = "\n\n".join(f"line_{n} = {n}" for n in range(20))
        text = f"## One\n\n{filler(30)}\n\n```python\n{code}\n```\n\n{filler(30)}\n"
        bodies = [item.body for item in chunk(text).chunks]
        assert [body.count("```") for body in bodies if "```" in body] == [2]

    def test_a_paragraph_that_announces_a_fence_stays_with_it(self) -> None:
        text = f"## One\n\n{filler(40)}\n\n**Do it like this:**\n\n```python\n{filler(35)}\n```\n"
        assert chunk(text).chunks[-1].body.startswith("**Do it like this:**\n\n```python")

    def test_a_fence_over_the_cap_is_split_at_blank_lines(self) -> None:
        code = "\n\n".join(f"def f{n}():\n    return {'x' * 60!r}" for n in range(20))
        chunks = chunk(f"## One\n\n```python\n{code}\n```\n").chunks
        assert len(chunks) > 3
        assert all(item.body.startswith("def f") for item in chunks[1:])
        assert all(item.code_langs == ("python",) for item in chunks)

    def test_a_giant_line_is_split_by_columns(self) -> None:
        line = " ".join(filler(8) for _ in range(100))
        chunks = chunk(f"## One\n\nBefore.\n\n{line}\n\nAfter.\n").chunks
        parts = [item for item in chunks if item.start_col is not None]
        assert "".join(item.body for item in parts) == line
        assert all(item.body.startswith("word") and len(item.body) <= 200 for item in parts)
        assert {(item.start_line, item.end_line) for item in parts} == {(5, 5)}


class TestTail:
    def test_the_last_lines_of_the_chunk_before_are_repeated(self) -> None:
        first = "\n".join(f"line {n} of the first, long paragraph" for n in range(6))
        chunks = chunk(f"## One\n\n{first}\n\n{filler(30)}\n").chunks
        assert chunks[1].tail == "line 5 of the first, long paragraph"

    def test_there_is_none_where_a_heading_or_a_tab_begins(self) -> None:
        text = f'## One\n\n{filler(30)}\n\n### Sub\n\n=== "Go"\n\n    {filler(30)}\n\n=== "Java"\n\n    {filler(30)}\n'
        chunks = chunk(text).chunks
        assert len(chunks) == 3
        assert [item.tail for item in chunks] == ["", "", ""]


class TestMaterial:
    TABS = dedent(
        """\
        ## Usage

        Pick a language:

        === "Python"

            ??? "Example"
                ```py
                {python}
                ```

        === "Go (v2)"

            ```go title="main.go"
            {go}
            ```

        Text behind the tabs. {behind}
        """
    ).format(python=filler(20), go=filler(30), behind=filler(30))

    def test_a_large_tab_group_breaks_at_its_tabs(self) -> None:
        chunks = chunk(self.TABS).chunks
        assert [item.body.splitlines()[0] for item in chunks] == ["## Usage", '=== "Go (v2)"', chunks[2].body]
        assert [item.code_langs for item in chunks] == [("python",), ("go",), ()]

    def test_headings_inside_tabs_and_lists_are_breaks_and_end_with_them(self) -> None:
        text = (
            f'## One\n\n=== "Go"\n\n    ### Setup\n\n    {filler(30)}\n\n    ### Run\n\n    {filler(30)}\n\n'
            f"Behind. {filler(30)}\n"
        )
        chunks = chunk(text).chunks
        assert [item.headings for item in chunks] == [("One", "Setup"), ("One", "Run"), ("One",)]
        assert [item.anchor for item in chunks] == ["setup", "run", "one"]
        text = f"## One\n\n1. ### First\n\n    {filler(30)}\n\n2. ### Second\n\n    {filler(30)}\n"
        assert [item.anchor for item in chunk(text).chunks] == ["first", "second"]


SOURCE = "import x\n# --8<-- [start:init]\nagent = x()\n# --8<-- [end:init]\nprint(agent)\n"


@pytest.mark.parametrize(
    ("lines", "attached", "missing"),
    [
        ('--8<-- "ex/a.py"', "import x\nagent = x()\nprint(agent)", None),
        ("--8<-- 'ex/a.py:init'", "agent = x()", None),
        ('--8<-- "ex/a.py:1:1,5:5"', "import x\nprint(agent)", None),
        ('--8<-- "ex/a.py:5"', "print(agent)", None),
        ('--8<-- "ex/a.py::1"', "import x", None),
        ("--8<--\nex/a.py:init\n; ex/skipped.py\n--8<--", "agent = x()", None),
        ('--8<-- "gone.py"', None, "gone.py"),
        ('--8<-- "ex/a.py:nosection"', None, "ex/a.py"),
        ('--8<-- "../secret"', None, "../secret"),
        ('--8<-- "/etc/passwd"', None, "/etc/passwd"),
        ('--8<-- "https://example.org/x.py"', None, "https://example.org/x.py"),
        (';--8<-- "ex/a.py"', None, None),
    ],
)
def test_included_files_are_attached_and_named_where_they_cannot_be_had(
    lines: str, attached: str | None, missing: str | None
) -> None:
    text = f"## One\n\n```python\n{lines}\n```\n"
    asked: list[str] = []

    def reader(name: str) -> str | None:
        asked.append(name)
        return SOURCE if name == "ex/a.py" else None

    (item,) = chunk_prose(page(text), SMALL, reader).chunks
    assert item.body == text.strip()
    assert [each.text for each in item.attachments] == ([attached] if attached else [])
    assert item.missing_includes == ((missing,) if missing else ())
    assert set(asked) <= {"gone.py", "ex/a.py"}, "no path leads out of the repository"


class TestAnchors:
    # Fragments as Python-Markdown 3.11 with toc and attr_list gives them.
    @pytest.mark.parametrize(
        ("source", "text", "anchor"),
        [
            ("Function tools {#function-tool}", "Function tools", "function-tool"),
            ("Writing code { #writing-code .wide }", "Writing code", "writing-code"),
            ("Variadic parameters (`*args` and `**kwargs`)", "Variadic parameters (*args and **kwargs)", None),
            ("Using `{key}` Templating", "Using {key} Templating", "using-key-templating"),
            ("The `snake_case_name` field", "The snake_case_name field", "the-snake_case_name-field"),
            ("See [the *docs*](https://x.org/a)", "See the docs", "see-the-docs"),
            ("Café & <b>tea</b>", "Café & tea", "cafe-tea"),
            ("⚠️ A Warning", "⚠️ A Warning", "a-warning"),
            ("Intermediate / final", "Intermediate / final", "intermediate-final"),
            (":material-check: Done", "Done", "done"),
            ("6. Skip of steps", "6. Skip of steps", "6-skip-of-steps"),
            ("One ##", "One", "one"),
        ],
    )
    def test_text_and_fragment(self, source: str, text: str, anchor: str | None) -> None:
        item = chunk(f"# {source}\n\nText.\n").chunks[0]
        assert item.headings == (text,)
        assert item.anchor == (anchor or "variadic-parameters-args-and-kwargs")

    def test_repeated_headings_are_numbered_over_the_whole_page(self) -> None:
        text = "## Same\n\nA.\n\n## Same\n\nB.\n\n## Other {#same_1}\n\nC.\n\n## Same\n\nD.\n"
        assert [item.anchor for item in chunk(text).chunks] == ["same", "same_2", "same_1", "same_3"]


MARKDOWN_LINES = st.one_of(
    st.sampled_from(
        [
            "",
            "",
            "# H1",
            "## Two",
            "### Three {#id}",
            "#### Four",
            "Title\n====",
            "Title\n---",
            "```python",
            "```",
            "~~~~",
            "    ```",
            '=== "Python"',
            '    === "Go"',
            '!!! note "A note"',
            '    ??? "More"',
            "- item",
            "    - nested item:",
            "1. first",
            "> quote",
            "| a | b |",
            "<!-- comment",
            "-->",
            "<pre>",
            "</pre>",
            "---",
            "a: [b",
            '--8<-- "a.py:x"',
            "--8<--",
            "It works like this:",
            "    indented text. And more!",
            "\tтаб и 漢字。漢字",
            "\x0c\u2028",
            " " * 300,
        ]
    ),
    st.integers(1, 90).map(filler),
    st.text(alphabet=st.characters(exclude_characters="\n"), max_size=60),
)


@settings(max_examples=100)
@given(
    st.lists(MARKDOWN_LINES, max_size=60).map("\n".join),
    st.sampled_from([SMALL, sizes(target=80, minimum=30, maximum=90, overlap=20)]),
)
def test_any_page_keeps_the_invariants(text: str, chunking: ChunkingSettings) -> None:
    read = {"a.py": "x = 1"}.get
    chunked = chunk_prose(page(text), chunking, read)
    assert_exact(text, chunked.chunks)
    assert chunk_prose(page(text), chunking, read) == chunked
    for before, item in zip([None, *chunked.chunks], chunked.chunks, strict=False):
        assert len(item.body) <= chunking.max_chunk_chars
        assert len(item.tail) <= chunking.docs.overlap_chars
        assert not item.tail or (before is not None and before.body.endswith(item.tail))


HOSTILE = {
    "giant line": "word " * 200_000,
    "nested lists": "\n".join(" " * n + "- item" for n in range(1500)),
    "unclosed fences": "```a\n" * 15_000,
    "unclosed fences, shrinking": "\n".join("`" * n + "a" for n in range(800, 3, -1)),
    "unclosed comments": "<!-- a\n\n" * 15_000,
    "counted headings": "".join(f"## Same_{n % 2}\n\n" for n in range(12_000)),
    "markup in headings": "\n".join("## " + "![" * 100 + "[](" * 100 + "*_`" * 50 for _ in range(600)),
    "merge bomb": "---\na: &a {x: 1}\n" + "\n".join(f"b{n}: &b{n} {{<<: [*a, *a]}}" for n in range(150)) + "\n---\n",
    "front matter nesting": "---\na: " + "[" * 3_000 + "\n---\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    started = time.process_time()
    chunked = chunk_prose(page(HOSTILE[name]), sizes())
    assert time.process_time() - started < 4
    assert all(len(item.body) <= 12000 for item in chunked.chunks)


def test_a_chunk_knows_where_the_features_of_its_sections_exist() -> None:
    tag = '<div class="language-support-tag">\n<span class="lst-supported">Supported in ADK</span>{}\n</div>'
    first = tag.format('<span class="lst-python">Python v1.2.0</span><span class="lst-preview">Preview</span>')
    second = tag.format('<span class="lst-go">Go</span>')
    text = f"# Page\n\n{first}\n\nWords.\n\n#### Inner\n\nWords.\n\n#### Other\n\n{second}\n\nWords.\n"
    (whole,) = chunk(text, sizes()).chunks
    own, both = (("python", "1.2.0"),), (("go", ""), ("python", "1.2.0"))
    other = text.split("\n").index("#### Other") + 1
    assert whole.availability == ((1, "preview", own), (other, "", both))
    assert chunk("# Page\n\nWords.\n").chunks[0].availability == ()
