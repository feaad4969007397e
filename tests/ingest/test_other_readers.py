"""Chunks of pages that show the same thing in several languages: the reader's own lines stay together."""

from __future__ import annotations

from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.readers.pages.audience import Readers
from adk_evidence.settings import load_settings
from adk_ingest.chunking.base import RawChunk, SourceFile
from adk_ingest.chunking.prose import chunk_prose
from adk_ingest.records.dense_text import passages
from adk_ingest.records.lexical import lexical_text
from tests.ingest.exact import assert_exact
from tests.ingest.test_markdown_chunker import SMALL, filler

PYTHON = Readers("python", frozenset({"python", "java", "go"}))


def chunks(text: str, **files: str) -> list[RawChunk]:
    file = SourceFile("docs/page.md", dedent(text), "hash")
    found = chunk_prose(file, SMALL, files.get, PYTHON).chunks
    assert_exact(file.text, found)
    return found


PAGE = """\
# Runner

Start the runner like this:

=== "Java"

    ```java
    Runner.start("java words");
    ```

=== "Python"

    ```python
    runner.start()
    ```

=== "Go"

    ```go
    runner.Start()
    ```

Then stop it.
"""


def test_the_text_and_the_readers_code_are_one_chunk_around_the_other_languages() -> None:
    own, java, go = chunks(PAGE)
    assert (own.start_line, own.end_line, own.for_language) == (1, 23, None)
    assert own.left_out == ((5, 9, "java"), (17, 21, "go")) and own.code_langs == ("python",)
    assert (java.start_line, java.end_line, java.for_language, java.left_out) == (5, 9, "java", ())
    assert (go.start_line, go.end_line, go.for_language) == (17, 21, "go")
    assert java.headings == go.headings == ("Runner",)


def test_lines_for_others_are_neither_in_the_passages_nor_in_the_lexical_text() -> None:
    own = chunks(PAGE)[0]
    settings = load_settings().ingestion.lexical
    words = lexical_text(own, path="docs/page.md", title=None, kind="doc", settings=settings)
    [passage] = passages(own, path="docs/page.md", title=None, kind="doc")
    for text in (words, passage.text.lower()):
        assert "runner.start" in text and "stop" in text and "java" not in text


def test_sizes_count_only_the_readers_lines() -> None:
    other = "".join(f"    {filler(12)}\n\n" for _ in range(20))
    text = f'Do this:\n\n=== "Go"\n\n{other}=== "Python"\n\n    Run it.\n'
    own, *rest = chunks(text)
    assert "Do this" in own.body and "Run it" in own.body and len(own.body) > 600
    assert len(rest) > 3 and all(item.for_language == "go" for item in rest)


def test_each_reader_gets_the_included_files_of_the_readers_own_tabs() -> None:
    text = 'Run:\n\n=== "Python"\n\n    --8<-- "a.py"\n\n=== "Java"\n\n    --8<-- "A.java"\n'
    own, java = chunks(text, **{"a.py": "run()", "A.java": "run();"})
    assert [(each.path, each.line) for each in own.attachments] == [("a.py", 5)]
    assert [(each.path, each.line) for each in java.attachments] == [("A.java", 9)]


LINES = st.sampled_from(
    [
        "# Page",
        "## Java",
        "### Part",
        '=== "Java"',
        '=== "Python"',
        "    === 'Go'",
        "    text",
        "```go",
        "```python",
        "```",
        "    ```java",
        "    ```",
        "",
        "Some words here.",
        "- item",
        "  - nested",
        '    === "Java"',
        '        === "Python"',
        "        deep",
        "\ttabbed",
        '\t=== "Go"',
        "~~~java",
        "        ```go",
        "    ## In a tab",
        "Underlined",
        "-----",
        "!!! note",
        "<!--",
        "-->",
        '    --8<-- "a.py"',
        "x" * 700,
        "word " * 30,
        "---",
    ]
)


@given(
    st.lists(LINES, max_size=60),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "---\ntitle: Page\n---\n", "---\ntitle: Java\n---\n"]),
)
def test_whatever_a_page_holds_no_line_is_lost(lines: list[str], newline: str, front_matter: str) -> None:
    chunks((front_matter + "\n".join(lines)).replace("\n", newline), **{"a.py": "run()\n" * 9})
