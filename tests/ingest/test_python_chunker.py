"""Python files as chunks: every line in exactly one chunk, one chunk a symbol, and nothing too long."""

import textwrap

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adk_evidence.readers.python import MAX_SIGNATURE_CHARS
from adk_evidence.settings import ChunkingSettings, load_settings
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.code import chunk_code
from tests.ingest.exact import assert_exact


def sizes(symbol: int = 9000, minimum: int = 400, overlap: int = 200, chunk: int = 12000) -> ChunkingSettings:
    code = {"max_symbol_chunk_chars": symbol, "overlap_chars": overlap}
    chunking = {"max_chunk_chars": chunk, "min_chunk_chars": minimum, "code": code}
    if chunk < 5000:
        chunking["docs"] = {"target_chunk_chars": chunk, "overlap_chars": 0}
    return load_settings({"ingestion": {"chunking": chunking}}).ingestion.chunking


def split(text: str, chunking: ChunkingSettings | None = None, path: str = "src/pkg/mod.py") -> ChunkedFile:
    chunked = chunk_code(SourceFile(path, text, ""), chunking or sizes())
    assert_invariants(text, chunked.chunks, chunking or sizes())
    return chunked


def chunks_of(text: str, chunking: ChunkingSettings | None = None) -> list[RawChunk]:
    chunked = split(textwrap.dedent(text).lstrip("\n"), chunking)
    assert not chunked.parse_failed
    return chunked.chunks


def assert_invariants(text: str, chunks: list[RawChunk], chunking: ChunkingSettings) -> None:
    assert_exact(text, chunks)
    for chunk in chunks:
        if chunk.start_col is None:
            assert len(chunk.body) <= chunking.code.max_symbol_chunk_chars or chunk.start_line == chunk.end_line
            assert chunk.body.split("\n")[0].strip() and chunk.body.split("\n")[-1].strip()
        assert len(chunk.body) <= chunking.max_chunk_chars
        assert chunk.tail == "" or chunk.tail in text
        assert len(chunk.tail) <= chunking.code.overlap_chars


PROGRAM = '''
# Copyright 2026 Somebody
"""The module.

More of it.
"""
import os

LIMIT = 3


# Says hello.
@decorate.it(
    1, "@nothing")
@(lambda f: f)
def hello(name: str = "x", *args: int) -> str:
  """Says hello.

  To everyone.
  """
  return name


def _after():
  pass

Alias = hello


class Thing(Base, metaclass=Meta):
  """A thing."""

  field: int = 1

  async def run(self):
    def inner():
      pass
    return inner
'''


def test_each_definition_is_a_chunk_with_its_decorators_and_comments() -> None:
    header, hello, after, thing = chunks_of(PROGRAM)
    assert (header.symbol, header.symbol_kind, header.fqn) == ("pkg.mod", "module", "pkg.mod")
    assert header.doc == "The module." and "LIMIT = 3" in header.body and "LIMIT" in header.symbols
    assert hello.body.startswith("# Says hello.\n@decorate.it(") and hello.decorators == ("decorate.it",)
    assert (hello.symbol, hello.symbol_kind, hello.fqn) == ("hello", "function", "pkg.mod.hello")
    assert hello.signature == "def hello(name: str='x', *args: int) -> str"
    assert hello.doc == "Says hello."
    assert after.symbol == "_after"
    assert thing.symbols == ("Alias", "Thing", "Thing.field", "Thing.run", "Thing.run.inner")
    assert thing.signature == "class Thing(Base, metaclass=Meta)"
    assert thing.body.startswith("Alias = hello"), "a small statement goes with the definition below"


def test_a_large_class_is_split_into_head_methods_and_groups() -> None:
    long_body = "".join(f"    value_{i} = self.compute({i})\n" for i in range(20))
    text = (
        'class Big(Base):\n  """A big class."""\n\n  size: int = 1\n\n'
        f"  @property\n  def long(self):\n{long_body}\n"
        "  def one(self):\n    return 1\n\n  def two(self):\n    return 2\n\n"
        "  class Config:\n    strict = True\n\n"
        f"  def last(self):\n{long_body}"
    )
    head, long, group, last = chunks_of(text, sizes(symbol=1000, minimum=200))
    assert (head.symbol, head.symbol_kind, head.doc) == ("Big", "class", "A big class.")
    assert head.body.endswith("size: int = 1")
    assert (long.symbol, long.symbol_kind) == ("Big.long", "method") and "@property" in long.body
    assert long.tail == "class Big(Base):"
    assert (group.symbol, group.symbol_kind) == ("Big", "methods")
    assert group.symbols == ("Big.one", "Big.two", "Big.Config", "Big.Config.strict")
    assert last.fqn == "pkg.mod.Big.last"


def test_a_long_function_is_cut_between_statements_at_blank_lines() -> None:
    parts = [f"  a{i} = call_{i}(\n      first,\n      second)\n  b{i} = '''text\n\nmore'''\n" for i in range(12)]
    text = 'def long():\n  """Docstring.\n\n  More.\n  """\n' + "\n".join(parts)
    first, *rest = chunks_of(text, sizes(symbol=300, minimum=50, overlap=60))
    assert first.symbol_kind == "function" and rest
    for chunk in rest:
        assert (chunk.symbol, chunk.symbol_kind, chunk.doc) == ("long", "block", "Docstring.")
        assert chunk.body.startswith("  a"), "cut at a blank line between statements"
        assert chunk.tail.endswith("more'''")


def test_overloads_stay_together_and_definitions_below_if_and_try_count() -> None:
    text = """
    import os

    try:
      from fast import Thing
    except ImportError:
      class Thing:
        pass

    if os.name == "nt":
      def a():
        pass
    else:
      def b():
        pass

    @overload
    def get(x: int) -> int: ...
    @overload
    def get(x: str) -> str: ...
    def get(x):
      return x

    def other():
      pass
    """
    _, thing, a, b, *rest = chunks_of(text)
    assert thing.body.startswith("try:") and (thing.symbol, thing.symbol_kind) == ("Thing", "class")
    assert a.body.startswith('if os.name == "nt":') and a.symbol == "a"
    assert b.body.startswith("else:") and b.symbol == "b"
    assert [chunk.symbol for chunk in rest] == ["get", "other"]


def test_signatures_are_shortened() -> None:
    arguments = ", ".join(f"argument_{i}=None" for i in range(100))
    (chunk,) = chunks_of(f"def f({arguments}): pass\n")
    assert chunk.signature is not None and len(chunk.signature) == MAX_SIGNATURE_CHARS


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n  pass\n\n@deco\nclass A:\n  x = 1\n",
        "x = '\0'\ndef f():\n  pass\n\n@deco\nclass A:\n  pass\n",
        "type X = = int\ndef f():\n  pass\n\n@deco\nclass A:\n  pass\n",
        "x = " + "(" * 2000 + "\ndef f():\n  pass\n\n@deco\nclass A:\n  pass\n",
    ],
)
def test_what_does_not_parse_is_split_by_its_layout(text: str) -> None:
    chunked = split(text)
    assert chunked.parse_failed and len(chunked.warnings) == 1 and "layout" in chunked.warnings[0]
    assert [chunk.symbol for chunk in chunked.chunks][-2:] == ["f", "A"]
    assert chunked.chunks[-1].body.startswith("@deco\nclass A:")
    assert chunked.chunks[-1].symbol_kind == "class"


def test_alternatives_inside_alternatives_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    depth, read = 10, []
    monkeypatch.setattr("adk_ingest.chunking.python.signature", lambda node: read.append(node))
    levels = [textwrap.indent("if x:\n class A: 1\nelse:\n class A:\n", "  " * level) for level in range(depth)]
    split("".join(levels) + "  " * depth + "x = 1\n")
    assert 0 < len(read) <= 3 * depth


SIZES = st.builds(
    sizes,
    symbol=st.integers(20, 400),
    minimum=st.integers(0, 200),
    overlap=st.integers(0, 19),
    chunk=st.sampled_from([400, 900]),
)
NAMES = st.sampled_from(["a", "run_async", "Thing", "_x"])
SIMPLE = st.sampled_from(
    [
        "x = 1",
        "pass",
        '"""text\n# in a string\n\nmore"""',
        "call(\n  1,\n  2)",
        "# a comment",
        "",
        "a = 1; b = 2",
        "y: int = 3",
    ]
)


def indented(header: str, body: list[str]) -> str:
    # Strings may hold line breaks; indenting their inner lines keeps the program valid.
    return header + "\n" + textwrap.indent("\n".join([*body, "pass"]), "  ")


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, max_size=4)
    return st.one_of(
        st.builds(lambda name, lines: indented(f"def {name}(self):", lines), NAMES, body),
        st.builds(
            lambda name, lines: indented(f"@deco\n@other(\n  1)\nasync def {name}(): # why", lines),
            NAMES,
            body,
        ),
        st.builds(lambda name, lines: indented(f"# about\nclass {name}:", ['"""Doc."""', *lines]), NAMES, body),
        st.builds(lambda lines: indented("if x:", lines) + "\nelse:\n  pass", body),
        st.builds(lambda lines: indented("try:", lines) + "\nexcept E:\n  def a(): pass", body),
        st.builds(lambda name, lines: indented(f"@overload\ndef {name}(): ...\ndef {name}():", lines), NAMES, body),
    )


STATEMENTS = st.recursive(SIMPLE, compound, max_leaves=12)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STATEMENTS, max_size=8), SIZES)
def test_no_program_loses_or_repeats_a_line(statements: list[str], chunking: ChunkingSettings) -> None:
    text = "\n".join(statements)
    chunked = split(text, chunking)
    assert not chunked.parse_failed
    defined = [name for chunk in chunked.chunks for name in chunk.symbols]
    assert sum(len(set(chunk.symbols)) for chunk in chunked.chunks) == len(defined)


@settings(max_examples=60)
@given(
    st.text(alphabet=st.sampled_from("ab:()@# \n\r\f\t'\"\0\ufeff\u2028é"), max_size=200)
    | st.lists(st.sampled_from(["def f(:", "@a", "class B:", "  x", "", "# c", "async  def g():"])).map("\n".join),
    SIZES,
)
@example("@\n@\n", sizes())
@example("\ufeffx = 1\n", sizes())
@example("x = '\udc80'", sizes())
@example("def f(:\n" + "  x = 1\n  y = 2\n\n" * 100, sizes(symbol=500, minimum=50))
@example("".join(f"{'  ' * i}def f{i}():\n" for i in range(80)) + "  " * 80 + "pass\n", sizes())
@example("if x == 0:\n  pass\n" + "".join(f"elif x == {i}:\n  pass\n" for i in range(1, 400)), sizes())
def test_no_text_loses_or_repeats_a_line(text: str, chunking: ChunkingSettings) -> None:
    split(text, chunking)
