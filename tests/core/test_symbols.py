"""Symbols: the table of an index, what paths mean, and the question that a selection asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.documents.document import PythonDocument
from adk_evidence.errors import IndexMissingError, InvalidRequestError
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.readers import python
from adk_evidence.readers.annotations import annotation_names
from adk_evidence.readers.definitions import read_definition, read_imports
from adk_evidence.symbols import table
from adk_evidence.symbols.lookup import Symbols
from adk_evidence.symbols.query import MAX_SELECTION_CHARS, build_query
from adk_evidence.symbols.resolution import named_in, resolve_at
from adk_evidence.symbols.table import SymbolTable, build_table
from tests.core.factories import payload
from tests.corpora import CODE, CODE_COMMIT, DOCS_COMMIT, Workplace, write_code

pytestmark = pytest.mark.slow

BASE = '''\
"""Where all things begin."""

import abc
from collections.abc import Iterator
from typing import Generic, Optional, TypeVar

T = TypeVar("T")


class Part:
    """A part."""

    size: int = 0


class Base(abc.ABC, Generic[T]):
    """The base of things."""

    part: Optional[Part] = None
    """What it is made of.

    More about it.
    """

    @property
    def first(self) -> "Part":
        """The first part."""
        return Part()

    def copy_of(self, deep: bool = False) -> Part:
        """A copy."""
        return Part()

    async def run(self, *, times: int = 1) -> None:
        ...

    parts: list[Part] = []

    def walk(self, pace: int = 1) -> "Iterator[Part]":
        """Goes from part to part."""
        yield Part()

    @property
    def best(self) -> Part:
        """The best part."""
        return Part()

    @best.setter
    def best(self, value: Part) -> None:
        self.part = value


class Loop(Base["Loop"]):
    pass


Loop2 = Loop
circular_a = circular_b
circular_b = circular_a
'''
THING = '''\
"""Things."""

from .base import Base as _Base, Part
from . import base


class Thing(_Base[int]):
    """A thing.

    With a second paragraph.
    """

    class Inner:
        """Inside."""

        def deep(self) -> None:
            """Deep."""


Alias = Thing


def make() -> base.Base:
    """Makes one."""
    return Thing()
'''
FILES: dict[str, str | bytes] = {
    **CODE,
    "src/google/adk/things/__init__.py": (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .thing import Alias, Thing\n"
        "from .base import *\nfrom google.adk.things.ring import ring\n"
    ),
    "src/google/adk/things/base.py": BASE,
    "src/google/adk/things/thing.py": THING,
    "src/google/adk/things/ring.py": "from google.adk.things import ring as ring\n\nMARK = 1\n",
}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    made = Workplace(tmp_path_factory.mktemp("symbols"))
    write_code(made.code, FILES)
    guide = made.docs / "docs" / "tools" / "retry.md"
    guide.write_text(guide.read_text() + "\n## The RetryPlugin class\n\nIt retries.\n\n## Running things\n\nRun.\n")
    confirm = made.docs / "docs" / "tools" / "confirm.md"
    confirm.write_text(confirm.read_text() + "\n## The Part\n\nSmall.\n\n## Parts\n\nAll of them.\n")
    made.ingest()
    return made


@pytest.fixture(scope="module")
def symbols(workplace: Workplace) -> Iterator[Symbols]:
    service = workplace.service()
    with service.session() as session:
        yield session.symbols
    service.close()


def meaning(symbols: Symbols, dotted: str) -> str | None:
    entry = symbols.resolve(dotted)
    return entry.fqn.removeprefix("google.adk.") if entry else None


@pytest.mark.parametrize(
    ("dotted", "fqn"),
    [
        ("google.adk.things.thing.Thing", "things.thing.Thing"),
        ("google.adk.things.Thing", "things.thing.Thing"),
        ("google.adk.things.Alias", "things.thing.Thing"),
        ("google.adk.things.Base", "things.base.Base"),
        ("google.adk.things.Loop2", "things.base.Loop"),
        ("google.adk.things.Thing.run", "things.base.Base.run"),
        ("google.adk.things.Thing.Inner.deep", "things.thing.Thing.Inner.deep"),
        ("google.adk.things.Thing.part", "things.base.Base.part"),
        ("google.adk.things", "things"),
        ("google.adk.Runner.run", "runners.Runner.run"),
        ("google.adk.things.base.circular_a", "things.base.circular_a"),
        ("google.adk.things.ring.MARK", "things.ring.MARK"),
        ("google.adk.things.ring.nothing", None),
        ("google.adk.things.nothing", None),
        ("google.adk.things.Thing.nothing", None),
        ("google.cloud.storage", None),
        ("Thing", None),
        ("", None),
        ("..", None),
        ("a." * 500 + "b", None),
    ],
)
def test_importable_paths_lead_to_definitions(symbols: Symbols, dotted: str, fqn: str | None) -> None:
    assert meaning(symbols, dotted) == fqn
    # Imports that lead in a circle end.
    assert meaning(symbols, "google.adk.things.ring.ring") in (None, "things.ring")


def test_a_symbol_is_described_from_its_own_lines(symbols: Symbols) -> None:
    entry = symbols.resolve("google.adk.things.Thing.copy_of")
    assert entry is not None
    info = symbols.info(entry)
    assert (info.kind, info.symbol) == ("method", "Base.copy_of")
    assert info.signature == "def copy_of(self, deep: bool=False) -> Part"
    assert info.doc == "A copy."
    lines = BASE.splitlines()[info.lines.start - 1 : info.lines.end]
    assert lines[0].strip().startswith("def copy_of") and lines[-1].strip() == "return Part()"
    assert info.citation == (
        f"adk-python@{CODE_COMMIT}:src/google/adk/things/base.py#L{info.lines.start}-L{info.lines.end}"
    )
    assert info.ref == "v9.9.0"


def test_fields_and_classes_have_a_signature_and_a_first_paragraph(symbols: Symbols) -> None:
    described = {}
    for name in ("Base.part", "Base.first", "Thing"):
        (entry,) = symbols.table.find(name)
        info = symbols.info(entry)
        described[name] = (info.signature, info.doc)
    assert described == {
        "Base.part": ("part: Optional[Part] = None", "What it is made of."),
        "Base.first": ("def first(self) -> 'Part'", "The first part."),
        "Thing": ("class Thing(_Base[int])", "A thing."),
    }


def test_the_guide_that_names_a_symbol_in_a_heading_goes_before_the_reference(symbols: Symbols) -> None:
    (plugin,) = symbols.table.find("RetryPlugin")
    guide = symbols.info(plugin).documentation
    assert guide is not None
    assert guide.headings == ("Retry a tool", "The RetryPlugin class")
    assert guide.citation == f"adk-docs@{DOCS_COMMIT}:https://docs.example.org/tools/retry/#the-retryplugin-class"
    (thing,) = symbols.table.find("Thing")
    reference = symbols.info(thing).documentation
    assert reference is not None and reference.origin == "api-reference"
    (run,) = symbols.table.find("Base.run")
    assert symbols.info(run).documentation != guide
    # A section whose heading is the name goes before one that mentions it.
    guide = symbols.documentation(symbols.table.entries["google.adk.things.base.Part"])
    assert guide is not None and guide.headings[-1] == "Parts"


def test_names_are_found_by_their_end_the_public_ones_first(symbols: Symbols) -> None:
    found = [entry.fqn.removeprefix("google.adk.") for entry in symbols.table.find("run()")]
    assert set(found) == {"runners.Runner.run", "things.base.Base.run"}
    assert [entry.fqn for entry in symbols.table.find("Runner.run")] == ["google.adk.runners.Runner.run"]
    assert symbols.table.find("") == symbols.table.find("  ") == symbols.table.find("unner.run") == []


def test_annotations_say_what_values_are(symbols: Symbols) -> None:
    def of(name: str, *, called: bool) -> str | None:
        (entry,) = symbols.table.find(name)
        found = symbols.value_class(entry, called=called)
        return found.symbol if found else None

    assert of("Base.part", called=False) == of("Base.first", called=False) == of("Base.copy_of", called=True) == "Part"
    assert of("things.thing.make", called=True) == "Base"
    assert of("Base.copy_of", called=False) is of("Base.first", called=True) is of("Base.run", called=True) is None


def test_the_symbols_follow_the_index(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    service = workplace.service()
    with pytest.raises(IndexMissingError), service.session():
        pass
    workplace.ingest()
    with service.session() as session:
        generation, before = session.index.manifest.generation, session.symbols
        assert before.table.find("Runner")
        assert not before.table.find("newcomer")
    with service.session() as session:
        assert session.symbols is before
    (workplace.code / "src/google/adk/newcomer.py").write_text("def newcomer() -> None:\n    '''New.'''\n")
    workplace.ingest()
    with service.session() as session:
        assert session.index.manifest.generation != generation
        assert session.symbols.table.find("newcomer")
    service.close()


def test_a_table_is_built_once_for_a_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace = Workplace(tmp_path)
    workplace.ingest()
    built: list[SymbolTable] = []
    monkeypatch.setattr(table, "build_table", lambda *given: built.append(build_table(*given)) or built[-1])

    def opened_anew() -> tuple[SymbolTable, Path]:
        service = workplace.service()
        with service.session() as session:
            found = session.symbols.table, session.index.folder / table.KEPT
        service.close()
        return found

    first, file = opened_anew()
    assert opened_anew()[0] == first
    assert len(built) == 1
    for unusable in (b"", b'{"of": ["another", 1], "table": {"entries": {}, "modules": {}}}'):
        file.write_bytes(unusable)
        assert opened_anew()[0] == first
    assert len(built) == 3


@pytest.mark.parametrize(
    ("annotation", "names"),
    [
        ("X", ["X"]),
        ("a.b.X", ["a.b.X"]),
        ("Optional[X]", ["X"]),
        ("typing.Union[X, None, 'a.Y']", ["X", "a.Y"]),
        ("X | Y | None", ["X", "Y"]),
        ("Annotated[X, 'note of']", ["X"]),
        ("'X | None'", ["X"]),
        ("list[X]", ["list"]),
        ("'not a ( name'", []),
        ("f(x)", []),
        ("f(x)[Y]", []),
    ],
)
def test_an_annotation_names_what_a_value_may_be(annotation: str, names: list[str]) -> None:
    assert list(annotation_names(ast.parse(annotation, mode="eval").body)) == names


def chunk(body: str, symbol: str, **more: Any) -> ChunkPayload:
    return payload("code", body=body, symbol=symbol, start_line=11, **more)


def test_a_piece_of_a_split_class_says_the_same_of_its_methods() -> None:
    body = '    @cached_property\n    def size(self) -> "int":\n        """How large."""\n        return 1\n'
    found = read_definition(chunk(body, "Box", symbol_kind="block"), "Box.size")
    assert (found.lines.start, found.lines.end) == (11, 14)
    assert (found.doc, found.is_property) == ("How large.", True)


@pytest.mark.parametrize(
    ("value", "doc"),
    [
        ("Field(default=1, description='How large.')", "How large."),
        ("pydantic.Field(description='How large.')", "How large."),
        ("Option(description='What an option does.')", None),
        ("Field.of(description='What it is of.')", None),
    ],
)
def test_the_description_of_a_field_alone_says_what_a_variable_is(value: str, doc: str | None) -> None:
    assert read_definition(chunk(f"size: int = {value}\n", "size"), "size").doc == doc


def test_a_piece_that_does_not_parse_still_has_the_lines_of_the_name() -> None:
    body = "        )\n    def size(self):\n        return (1,\n"
    found = read_definition(chunk(body, "Box", symbol_kind="block"), "Box.size")
    assert (found.lines.start, found.lines.end, found.doc) == (12, 13, None)
    nowhere = read_definition(chunk(body, "Box", symbol_kind="block"), "Box.other")
    assert nowhere.lines.start == 11


def test_relative_imports_start_at_the_package() -> None:
    body = "from . import a\nfrom ..b import c as d\nfrom .e import *\nimport f.g, h.i as j\nfrom ........ import far\n"
    module = read_imports(chunk(body, "m", path="src/p/q/m.py"), "p.q.m")
    assert {name: module[name] for name in ("a", "d", "*p.q.e", "f", "j")} == {
        "a": "p.q.a",
        "d": "p.b.c",
        "*p.q.e": "p.q.e",
        "f": "f",
        "j": "h.i",
    }
    package = read_imports(chunk(body, "q", path="src/p/q/__init__.py"), "p.q")
    assert package["a"] == "p.q.a"


# Documents


def symbol_at(symbols: Symbols, document: PythonDocument, line: int, column: int) -> str | None:
    entry = resolve_at(document, symbols, line, column)
    return entry.symbol if entry else None


def test_scopes_and_shadowing_decide_what_a_name_means(symbols: Symbols) -> None:
    document = PythonDocument(
        "from google.adk.things import Thing\n"
        "def first():\n"
        "    Thing = 3\n"
        "    return Thing\n"
        "def second(Thing):\n"
        "    return Thing\n"
        "class Third:\n"
        "    Thing = None\n"
        "    def method(self):\n"
        "        return Thing\n"
        "x = x.run\n"
        "x = Thing()\n"
        "[Thing for Thing in y]\n"
        "with Thing() as z: z.run\n"
        "if (w := Thing()): w.run\n"
    )

    at = partial(symbol_at, symbols, document)
    assert at(3, 12) is None
    assert at(5, 12) is None
    assert at(9, 16) == "Thing"
    assert at(10, 6) is None
    assert at(11, 0) == "Thing"
    assert at(13, 21) == "Base.run"
    assert at(14, 21) == "Base.run"


@settings(max_examples=150)
@given(
    st.text(alphabet="abx=.:()[]{}'\"#@\\\n\r\t \u00e9\U0001f600\x00\x0c,*", max_size=200),
    st.integers(0, 30),
    st.integers(0, 60),
)
def test_any_text_is_read_without_failing(symbols: Symbols, text: str, line: int, column: int) -> None:
    document = PythonDocument("from google.adk.things import Thing as x\n" + text)
    resolve_at(document, symbols, line, column)
    named_in(document, symbols, (0, 0), (line, column))
    document.enclosing(line)


# Questions

CODE_DOCUMENT = """\
from google.adk.things import Thing

class Shop:
    def build(self):
        # how are things made?
        thing = Thing(part=None)
        thing.run(times=2)
        return thing
"""


def ask(symbols: Symbols | None, start: tuple[int, int], end: tuple[int, int], text: str = CODE_DOCUMENT) -> str:
    return build_query(PythonDocument(text), "python", start, end, symbols).text


def test_code_is_asked_for_with_its_surroundings(symbols: Symbols) -> None:
    assert ask(symbols, (5, 16), (5, 22)) == "Thing( (in Shop.build; using Thing)"
    whole = build_query(PythonDocument(CODE_DOCUMENT), "python", (5, 8), (6, 26), symbols)
    assert whole.text == (
        "thing = Thing(part=None) thing.run(times=2) (in Shop.build; using Thing, Base.run, Base.part)"
    )
    assert whole.symbols == tuple(
        f"google.adk.things.{path}" for path in ("thing.Thing", "base.Base.run", "base.Base.part")
    )
    assert ask(symbols, (6, 26), (5, 8)) == whole.text
    assert ask(None, (5, 16), (5, 22)) == "Thing( (in Shop.build)"


USES = """\
from google.adk.things.thing import Alias, Thing, make
from google.adk.things.base import Base, Part

def annotated(part: Part) -> None: ...

thing = Thing(first=1)
for step in thing.walk(pace=2):
    print(step.size)
for part in thing.parts:
    part.size
steps = thing.walk()
for step in steps:
    step.size
thing.parts[0].size
thing.best.size

class Own(Base):
    def run(self, times): ...
    def other(self):
        super().run()
        self.parts
Own(part=None)
async def build(size) -> Thing: ...
async def use():
    built = await build(1)
    built.run()
"""


def named(symbols: Symbols, first: int, last: int) -> list[str]:
    used = build_query(PythonDocument(USES), "python", (first, 0), (last, 99), symbols)
    return [fqn.removeprefix("google.adk.things.") for fqn in used.symbols]


def test_what_a_selection_calls_comes_before_what_it_only_mentions(symbols: Symbols) -> None:
    by_importance = ["thing.Thing", "base.Base.first", "base.Part", "thing.make", "base.Base"]
    assert named(symbols, 0, 5) == by_importance
    assert named(symbols, 0, 0) == ["thing.Thing", "thing.make"]


@pytest.mark.parametrize("lines", [(6, 7), (8, 9), (11, 12), (13, 13), (14, 14)])
def test_items_and_properties_have_the_class_of_their_annotation(symbols: Symbols, lines: tuple[int, int]) -> None:
    assert "base.Part.size" in named(symbols, *lines)


def test_a_keyword_leads_to_the_function_that_has_the_parameter(symbols: Symbols) -> None:
    document = PythonDocument(USES.replace("pace", "speed"))
    assert "base.Base.walk" in named(symbols, 6, 6)
    # The misspelt parameter is claimed to be the ADK's, so that its absence is still said.
    assert "speed" not in build_query(document, "python", (6, 0), (6, 99), symbols).own_names


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # A method that overrides one; `super()`; a keyword of a class of the document; what `await` gives.
        ((17, 17), ["base.Base.run"]),
        ((18, 19), ["base.Base.run"]),
        ((21, 21), ["base.Base.part"]),
        ((25, 25), ["base.Base.run", "thing.Thing"]),
    ],
)
def test_classes_and_functions_of_the_document_lead_to_what_they_derive_from_and_return(
    symbols: Symbols, lines: tuple[int, int], found: list[str]
) -> None:
    assert named(symbols, *lines) == found


def test_names_of_the_document_are_its_own(symbols: Symbols) -> None:
    document = PythonDocument(
        "from google.adk.things import Thing, no_thing\nimport other_kit\n"
        "def my_tool(my_arg):\n    return other_kit.build_it(Thing(no_field=no_thing(my_arg)))\n"
    )
    used = build_query(document, "python", (2, 0), (3, 99), symbols)
    assert set(used.own_names) == {"my_tool", "my_arg", "build_it"}
    assert not {"no_field", "no_thing", "Thing"} & set(used.own_names)


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ((4, 0), (4, 30), "how are things made?"),
        ((4, 12), (4, 12), "how are things made?"),
        # A cursor means its name, or its line.
        ((6, 15), (6, 15), "Base.run"),
        ((7, 9), (7, 9), "return thing (in Shop.build; using Thing)"),
    ],
)
def test_a_comment_is_the_question_itself_and_a_cursor_means_its_name_or_line(
    symbols: Symbols, start: tuple[int, int], end: tuple[int, int], text: str
) -> None:
    assert ask(symbols, start, end) == text


def test_code_beside_a_comment_that_says_more_is_left_out(symbols: Symbols) -> None:
    text = "from google.adk.things import Thing\n# how can my agent ask a person first?\nmade = Thing()\nrun(made)\n"

    def asked(end: tuple[int, int]) -> tuple[str, tuple[str, ...]]:
        used = build_query(PythonDocument(text), "python", (1, 0), end, symbols)
        return used.text, used.symbols

    assert asked((2, 2)) == asked((2, 14)) == ("how can my agent ask a person first?", ())
    named = build_query(
        PythonDocument("# one\nfrom google.adk.things import Thing\n"), "python", (0, 0), (2, 0), symbols
    )
    assert named.symbols == ("google.adk.things.thing.Thing",)


def test_other_languages_are_asked_for_as_they_are(symbols: Symbols) -> None:
    used = build_query(PythonDocument("name: Thing\n"), "yaml", (0, 0), (0, 11), symbols)
    assert (used.text, used.enclosing, used.symbols) == ("name: Thing", None, ())


def test_a_huge_selection_is_cut_and_names_below_the_quoted_lines_count(symbols: Symbols) -> None:
    text = "from google.adk.things import Thing\n" + "answer = 'a long line of text that says nothing at all'\n" * 60
    used = build_query(PythonDocument(f"{text}Thing()\n"), "python", (1, 0), (62, 0), symbols)
    assert used.symbols == ("google.adk.things.thing.Thing",)
    assert len(used.text) <= MAX_SELECTION_CHARS + len(" (using Thing)")


@pytest.mark.parametrize("place", [(1, 0), (10**6, 0)])
def test_there_must_be_something_to_ask_about(symbols: Symbols, place: tuple[int, int]) -> None:
    with pytest.raises(InvalidRequestError, match="no text"):
        ask(symbols, place, place)


def test_a_broken_statement_leaves_the_scopes_around_it_whole(symbols: Symbols) -> None:
    document = PythonDocument(
        "from google.adk.things import Thing, Base\n"
        "def first(thing: Thing):\n"
        "    thing.run\n"
        "    made = Thing(\n"
        "def second(thing: int, other: Base = (\n"
        "    thing.run\n"
        "    other.\n"
        "class Third(Base):\n"
        "    def method(self):\n"
        "        self.run\n"
    )

    at = partial(symbol_at, symbols, document)
    assert at(2, 10) == at(9, 13) == "Base.run"
    assert at(3, 4) == at(3, 12) == "Thing" and at(4, 31) == at(6, 5) == "Base"
    assert at(5, 10) is None
    assert [document.enclosing(line) for line in (0, 3, 6, 9)] == ["", "first", "second", "Third.method"]


def test_hovers_read_a_deeply_broken_document_in_parts_of_bounded_length(
    monkeypatch: pytest.MonkeyPatch, symbols: Symbols
) -> None:
    deep = "".join(f"{' ' * depth}if x:\n" for depth in range(90)) + f"{' ' * 90}x = [1, 2, 3, 4, 5, 6]\n" * 1_000
    text = f"{deep}{' ' * 90}y.\nfrom google.adk.things import Thing\ndef first(thing: Thing):\n    thing.run\n"
    parsed: list[int] = []
    monkeypatch.setattr(python, "_parse", lambda part: parsed.append(len(part)) or ast.parse(part))
    document = PythonDocument(text)
    last = len(document.lines) - 2
    assert sum(parsed) < 4 * len(text)
    assert document.enclosing(last) == "first"
    assert symbol_at(symbols, document, last, 11) == "Base.run"


def test_columns_count_characters_on_lines_beyond_ascii() -> None:
    mentions = PythonDocument("é = '😀ä'; first.second(third='é')").mentions_in((0, 0), (0, 99))
    assert [(m.name, m.start, m.end) for m in mentions] == [
        ("é", 0, 1),
        ("first", 10, 15),
        ("second", 16, 22),
        ("third", 23, 28),
    ]


@pytest.mark.parametrize(
    ("statement", "used"),
    [
        ("import google.adk.things as things,", "things.Thing"),
        ("import google.adk.things,", "google.adk.things.Thing"),
        ("from google.adk.things import Base, Thing as Other,", "Other"),
        ("from google.adk.things import *,", "Thing"),
        ("from google.adk.things import (  # why\n    Base,  # why\n    Thing as Other,\n    Ba.\n)", "Other"),
        ("from google.adk.things import (\n    Thing,\n    Ba.\n", "Thing"),
    ],
)
def test_a_broken_import_still_binds_its_names(symbols: Symbols, statement: str, used: str) -> None:
    document = PythonDocument(f"{statement}\n{used}\n")
    assert symbol_at(symbols, document, len(document.lines) - 2, len(used)) == "Thing"
