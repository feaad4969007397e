"""For whose readers the lines of a page are, and which readers a question is of."""

from __future__ import annotations

from textwrap import dedent

import pytest

from adk_evidence.readers.pages.audience import Readers, languages_of_readers, named_languages
from adk_evidence.readers.pages.markdown import read_markdown

PYTHON = Readers("python", frozenset({"python", "java", "go", "typescript"}))


def others(text: str, path: str = "docs/page.md", readers: Readers = PYTHON) -> list[tuple[str, str]]:
    """The languages of the parts for others, and the texts of the parts."""
    lines = dedent(text).split("\n")
    return [
        (part.language, "\n".join(lines[part.start : part.end]))
        for part in readers.parts_for_others(read_markdown(lines), path)
    ]


TABS = """\
    Start the runner:

    === "Python"

        ```python
        runner.run()
        ```

    === "Java"

        Call it so:

        ```shell
        mvn exec:java
        ```

    === "Go (v2)"

        Not yet.

    Then stop it.
"""


def test_tabs_of_other_languages_are_for_their_readers_whatever_they_hold() -> None:
    assert [language for language, _ in others(TABS)] == ["java", "go"]
    java, go = (text for _, text in others(TABS))
    assert java.startswith('=== "Java"') and java.endswith("```") and "mvn" in java
    assert go == '=== "Go (v2)"\n\n    Not yet.'
    of_java = Readers("java", PYTHON.languages)
    assert [language for language, _ in others(TABS, readers=of_java)] == ["python", "go"]
    assert others(TABS, readers=Readers()) == others('=== "Java / Python"\n\n    Both.') == []


def test_a_code_block_counts_only_in_a_language_that_the_site_has_readers_of() -> None:
    text = """\
    A page:

    ```javascript
    connect()
    ```

    ```go
    run()
    ```

    ```yaml
    a: 1
    ```
    """
    assert others(text) == [("go", "```go\nrun()\n```")]


def test_a_section_is_for_the_readers_that_its_heading_names_alone() -> None:
    text = """\
    # Logs

    ## Set up in Java

    Add the file.

    ### Levels

    More.

    ## Python and Java

    Both.

    ## Go to the console

    Look.
    """
    assert others(text) == [("java", "## Set up in Java\n\nAdd the file.\n\n### Levels\n\nMore.")]


def test_a_heading_goes_with_the_only_part_of_its_section() -> None:
    text = """\
    # Tools

    Text.

    ## Timeouts

    === "Go"

        Set one.

    Retries
    -------

    === "Go"

        One.

    === "Java"

        Two.

    Waits
    -----

    ```go
    wait(3)
    ```
    """
    assert others(text)[-1] == ("go", "Waits\n-----\n\n```go\nwait(3)\n```")
    assert others(text)[0] == ("go", '## Timeouts\n\n=== "Go"\n\n    Set one.')
    assert [text.split("\n")[0] for _, text in others(text)[1:-1]] == ['=== "Go"', '=== "Java"']


@pytest.mark.parametrize(
    ("path", "title", "language"),
    [
        ("docs/start/go.md", "Start", "go"),
        ("docs/quickstart-java.md", "Start", "java"),
        ("docs/start.md", "Go quickstart", "go"),
        ("docs/start.md", "Start with Java", "java"),
        ("docs/start.md", "Go live", None),
        ("docs/start.md", "Where to Go Next", None),
        ("docs/start.md", "Ready to Go", None),
        ("docs/start.md", "Let\u2019s Go!", None),
        ("docs/start.md", "Migrate to Go", "go"),
        ("docs/start.md", "Notes on the Go SDK", "go"),
        ("docs/java/start.md", "Start", None),
        ("docs/python.md", "Start with Python", None),
        ("docs/rust.md", "Start with Rust", None),
    ],
)
def test_a_whole_page_is_for_the_readers_that_its_name_or_title_says(
    path: str, title: str, language: str | None
) -> None:
    text = f"# {title}\n\nText."
    assert others(text, path) == ([(language, text)] if language else [])


def test_the_readers_of_a_site_are_those_that_its_tabs_name() -> None:
    pages = [
        ['=== "Python"', '    === "TypeScript - CLI"'],
        ['=== "MacOS / Linux"', '=== "Go"', "```rust", '=== "SQL"'],
    ]
    assert languages_of_readers(pages) == {"python", "typescript", "go"}


@pytest.mark.parametrize(
    ("question", "languages"),
    [
        ("how do I write a callback in Kotlin", {"kotlin"}),
        ("JAVA agent with tools", {"java"}),
        ("ts client for streaming", {"typescript", "javascript"}),
        ("in Go, how do I run an agent?", {"go"}),
        ("how do I run an agent in go?", {"go"}),
        ("the Go SDK lacks plugins", {"go"}),
        ("golang runner", {"go"}),
        ("Python vs Go", {"python", "go"}),
        ("Where does the value go?", set()),
        ("Go to the next step", set()),
        ("how do I go about sessions", set()),
        ("what if tools go wrong", set()),
        ("the c option and the r flag", set()),
    ],
)
def test_a_question_names_languages_but_not_by_english_words(question: str, languages: set[str]) -> None:
    assert named_languages(question) == languages


@pytest.mark.parametrize(
    ("title", "language"),
    [
        ("Unlike Java", None),
        ("Coming from Java", None),
        ("Go faster with caching", None),
        ("Go deeper", None),
        ("Java differs", None),
        ("Go", "go"),
        ("Go: paths", "go"),
        ("ADK Go v2.0.0", "go"),
        ("Redaction in Go", "go"),
        ("Java support", "java"),
    ],
)
def test_a_note_whose_title_names_a_language_alone_is_for_its_readers(title: str, language: str | None) -> None:
    assert [found for found, _ in others(f'!!! tip "{title}"\n    Return nothing.\n')] == (
        [language] if language else []
    )


NOTES = """\
    # Tools

    !!! note "Go: the path of the API"
        The server of Go has another path:

        | path |
        |---|
        | `/api` |

    ??? tip "Applies to only Java ADK"

        Pass `-parameters`.

    !!! note "TypeScript pattern"
        Other ADK languages follow later.

    !!! note "Python and Go only"
        Both have it.

    !!! warning
        Java is a language.

    Text.
"""


def test_a_note_whose_title_names_another_language_is_for_its_readers_unless_it_speaks_to_others() -> None:
    assert [(language, text.split("\n")[0]) for language, text in others(NOTES)] == [
        ("go", '!!! note "Go: the path of the API"'),
        ("java", '??? tip "Applies to only Java ADK"'),
    ]
    assert others(NOTES)[0][1].endswith("| `/api` |")
