"""The texts that the encoders see."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.readers.licences import strip_licence
from adk_evidence.settings import LexicalSettings, load_settings
from adk_evidence.text.identifiers import query_lexical_text
from adk_ingest.chunking.base import Attachment, RawChunk
from adk_ingest.records import dense_text
from adk_ingest.records.dense_text import MAX_CHARS, MAX_PASSAGES, PASSAGE_CHARS
from adk_ingest.records.lexical import lexical_text, path_words


def passages(raw: RawChunk, **where: Any) -> tuple[str, ...]:
    return tuple(passage.text for passage in dense_text.passages(raw, **where))


LICENCE = "# Copyright 2026 Somebody\n#\n# Licensed under the Apache License, Version 2.0\n\n"
CODE = LICENCE + 'import os\n\n\ndef save_state(ctx):\n  """Saves the state."""\n  ctx.sessionService.put()\n'


@pytest.fixture
def settings() -> LexicalSettings:
    return load_settings().ingestion.lexical


def code_chunk(**fields: object) -> RawChunk:
    values: dict[str, object] = {
        "symbol": "Store.save_state",
        "symbol_kind": "method",
        "signature": "def save_state(ctx)",
        "doc": "Saves the state.",
        "lang": "py",
    }
    return RawChunk(1, 9, CODE, **(values | fields))  # type: ignore[arg-type]


def test_paths_lose_what_all_files_share() -> None:
    assert path_words("src/google/adk/agents/llm_agent.py") == ("agents", "llm", "agent")
    assert path_words("docs/tools-custom/index.md") == ("tools", "custom")
    assert path_words("src/google/adk/__init__.py") == ()
    assert path_words("README.md") == ("readme",)


def test_code_text_holds_path_symbol_and_expanded_names(settings: LexicalSettings) -> None:
    terms = lexical_text(code_chunk(), path="src/google/adk/stores/main.py", title=None, kind="code", settings=settings)
    words = terms.split()
    assert words[:2] == ["stores", "main"]
    assert {"session", "service", "sessionservice", "save_state", "ctx.sessionservice.put"} <= set(words)
    assert words.count("save_state") == 3, "the symbol weighs twice, the body once"
    assert "apache" not in words
    assert set(query_lexical_text("sessionService save_state").split()) <= set(words)
    off = ("include_path_tokens", "include_symbol_tokens", "code_identifier_expansion")
    bare = settings.model_copy(update=dict.fromkeys(off, False))
    words = lexical_text(code_chunk(doc=None), path="a/b.py", title=None, kind="code", settings=bare).split()
    assert words[:2] == ["import", "os"] and "session" not in words


def test_docs_text_holds_title_headings_and_attachments_without_markup(settings: LexicalSettings) -> None:
    raw = RawChunk(
        1,
        3,
        '=== "Python"\n\n    <b>Use</b> `ToolContext`',
        headings=("Tools", "State"),
        attachments=(Attachment("x.py", "run_agent()", 2),),
    )
    words = lexical_text(raw, path="docs/tools/state.md", title="Tool state", kind="doc", settings=settings).split()
    assert {"python", "tool", "context", "toolcontext", "run", "agent", "run_agent"} <= set(words)
    assert "===" not in words and "b" not in words
    assert words.count("tools") == 3, "once from the path, twice from the headings"


def test_the_words_of_written_questions_are_searched_too(settings: LexicalSettings) -> None:
    questions = ["How do I keep notes between turns?", "userNotes is lost"]
    args: dict[str, Any] = {"path": "a/b.py", "title": None, "kind": "code", "settings": settings}
    alone = lexical_text(code_chunk(), **args)
    assert lexical_text(code_chunk(), **args, questions=questions) == (
        f"{alone} {query_lexical_text(' '.join(questions))}"
    )


SENTENCE = "The runner calls each tool once more after it has thrown."


def test_passages_are_successive_lines_below_where_they_are_from() -> None:
    body = LICENCE + "".join(f"    line_{number:02} = call(argument)\n\n" for number in range(40))
    found = passages(replace(code_chunk(), body=body), path="src/google/adk/stores/main.py", title=None, kind="code")
    assert len(found) == 3
    assert all(text.startswith("store save state | stores main\nline_") for text in found)
    lines = [line for text in found for line in text.split("\n")[1:]]
    assert lines == [f"line_{number:02} = call(argument)" for number in range(40)]
    assert all(PASSAGE_CHARS < len(text) < PASSAGE_CHARS + 100 for text in found[:-1])


def test_of_what_repeats_another_text_the_beginning_is_the_only_passage() -> None:
    body = f"## Runner.run\n\ndef run()\n\n{SENTENCE}\n" + "".join(
        f"Detail {number}: {SENTENCE}\n" for number in range(9)
    )
    raw = RawChunk(1, 14, body, headings=("Runner.run",))
    where = {"path": "api-reference/python/pkg.runners.md", "title": None, "kind": "doc"}
    [text] = passages(raw, repeats=True, **where)
    assert text.startswith(f"Runner.run\nRunner.run\ndef run()\n{SENTENCE}\n") and len(text) < PASSAGE_CHARS
    whole = passages(raw, **where)
    assert len(whole) > 1 and whole[0].startswith(text)


def test_a_short_chunk_is_one_passage_and_an_empty_one_its_head() -> None:
    raw = RawChunk(1, 1, "x = 1", symbol="pkg.main", symbol_kind="module")
    assert passages(raw, path="pkg/main.py", title=None, kind="code") == ("pkg main\nx = 1",)
    empty = RawChunk(1, 1, "   ", headings=("Tools", "State"))
    assert passages(empty, path="docs/t.md", title="Tools", kind="doc") == ("Tools > State",)
    repeated = RawChunk(1, 10, f"{SENTENCE} {SENTENCE} {SENTENCE}\n" * 9 + "done", headings=("Tools",))
    assert len(passages(repeated, path="docs/t.md", title=None, kind="doc")) == 1


def test_passages_of_docs_have_no_markup() -> None:
    body = f"## State {{#state}}\n\n!!! note\n\n    See [the guide](../guide.md){{target=_blank}}.\n\n{SENTENCE}\n"
    [text] = passages(RawChunk(1, 8, body, headings=("State",)), path="docs/t.md", title="Tools", kind="doc")
    assert text == f"Tools > State\nState\nnote\nSee the guide.\n{SENTENCE}"


def test_a_long_line_goes_on_in_the_next_passages_until_there_are_enough() -> None:
    words = [f"word{number}" for number in range(300)]
    raw = RawChunk(1, 1, " ".join(words), symbol="f", symbol_kind="function")
    found = passages(raw, path="a.py", title=None, kind="code")
    assert [word for text in found for word in text.split("\n")[1].split()] == words
    unbroken = RawChunk(1, 1, "".join(map(str, range(99_999))))
    found = passages(unbroken, path="a.py", title=None, kind="code")
    assert len(found) == MAX_PASSAGES and max(map(len, found)) <= MAX_CHARS


def test_imports_and_licences_are_no_passages_of_modules_and_included_files() -> None:
    imports = "import os\nfrom a.b import (\n    c,\n    d,\n)\n"
    rest = "STATE = os.environ\n" * 3
    module = RawChunk(1, 12, LICENCE + imports + "\n" + rest, symbol="a", symbol_kind="module")
    [passage] = dense_text.passages(module, path="a.py", title=None, kind="code")
    assert passage == (f"a\n{rest}".strip(), 11)
    method = replace(module, symbol="A.f", symbol_kind="method")
    assert "import os" in passages(method, path="a.py", title=None, kind="code")[0]
    text = f"{LICENCE}{imports}\n" + "runner = make_runner(plugins)\n" * 5
    page = RawChunk(5, 9, "Run it:\n\n```python\n...\n```", attachments=(Attachment("x.py", text, 8),))
    own, included = dense_text.passages(page, path="docs/t.md", title="Tools", kind="doc")
    assert own.line == 5 and included.line == 8
    assert "make_runner" in included.text and "import" not in included.text and "Licensed" not in included.text


_LINES = st.text(st.sampled_from("ab. _'\t#\x0c\u2028é\n\n"), max_size=900) | st.text(max_size=3000)


@given(bodies=st.lists(_LINES, max_size=8), symbol=st.text(max_size=90))
def test_passages_keep_every_word_but_those_of_a_short_end(bodies: list[str], symbol: str) -> None:
    body = "\n".join(bodies)
    raw = RawChunk(1, 1, body, symbol=symbol, symbol_kind="function")
    found = passages(raw, path="pkg/a.py", title=None, kind="code")
    assert found == passages(raw, path="pkg/a.py", title=None, kind="code")
    assert 1 <= len(found) <= MAX_PASSAGES and len(set(found)) == len(found)
    assert max(map(len, found)) <= MAX_CHARS
    if len(found) < MAX_PASSAGES:
        kept = {word for text in found for word in text.partition("\n")[2].split()}
        missing = {word for word in strip_licence(body).split() if len(word) <= 100} - kept
        assert sum(map(len, missing)) <= 100
