"""Python that does not parse is read in all parts that are whole."""

from __future__ import annotations

import ast
import gc
import time

import pytest

from adk_evidence.readers import python
from adk_evidence.readers.python import definitions, first_line, last_line, parse, signature, string_lines

pytestmark = pytest.mark.slow


def defined(text: str) -> dict[str, tuple[int, int, str | None]]:
    tree, reason = parse(text)
    assert reason is not None
    found = {name: nodes[-1] for name, nodes in definitions(tree).items()}
    return {name: (first_line(node), last_line(node), signature(node)) for name, node in found.items()}


def test_a_broken_method_leaves_its_class_whole() -> None:
    broken = "class A(B):\n    def f(self, x:\n        return 1\n\n"
    text = broken + "    @property\n    def g(self) -> int:\n        return 2\n"
    assert defined(text) == {"A": (1, 7, "class A(B)"), "A.f": (2, 3, "def f()"), "A.g": (5, 7, "def g(self) -> int")}


def test_a_broken_statement_leaves_its_function_whole() -> None:
    text = 'def f(\n    a,\n    b=1,\n):\n    """Do."""\n    x = (\n    return a\n\ndef g():\n    pass\n'
    assert defined(text) == {"f": (1, 7, "def f(a, b=1)"), "g": (9, 10, "def g()")}
    function = parse(text)[0].body[0]
    assert isinstance(function, ast.FunctionDef) and ast.get_docstring(function) == "Do."
    assert isinstance(function.body[-1], ast.Return) and function.body[-1].lineno == 7


@pytest.mark.parametrize(
    "text",
    [
        'x = (\nS = """\ndef no():\n"""\ndef yes():\n    pass\n',
        "if x:\n    y = = 1\nelse:\n    def yes():\n        pass\n",
        "try:\n    print 'x'\nexcept E, e:\n    pass\n\n\n@deco(\n    1\n)\n# why\nasync def yes():\n    pass\n",
        'x = """ never closed\ndef yes():\n    pass\n',
        "    x = (\ndef yes():\n    pass\n",
        "def yes():\n\tx = \x00\n",
    ],
)
def test_what_is_not_broken_is_found(text: str) -> None:
    assert list(defined(text)) == ["yes"]


@pytest.mark.parametrize(
    "part",
    ["(", "{\n", "/*\n", "def f(:\n", "class A:\n ", "if x:\n", "'''", "print x\n", "def f():\n print x\n", "@a\n"],
)
def test_nonsense_takes_linear_time(part: str) -> None:
    # Time of this thread, without collections of the garbage that other tests left.
    def seconds(count: int) -> float:
        gc.collect()
        gc.disable()
        try:
            began = time.thread_time()
            parse(part * count)
            return time.thread_time() - began
        finally:
            gc.enable()

    seconds(10)
    assert seconds(8_000) < 10 * max(seconds(2_000), 0.05)


@pytest.mark.parametrize("line", ["x = 1\t# why", "x =\t1", "if x:\ty = 1"])
def test_a_tab_inside_a_line_does_not_change_its_indentation(line: str) -> None:
    text = f"def f():\n    x = 0\n    {line}\n    return (\n\ndef g():\n\tpass\n"
    assert defined(text) == {"f": (1, 4, "def f()"), "g": (6, 7, "def g()")}


@pytest.mark.parametrize(
    "text",
    [
        "x.\n" * 10_000,
        'x = """\n' * 3_001,
        "".join(f"{' ' * depth}if x:\n" for depth in range(90)) + "\n" * 20_000 + f"{' ' * 90}x = =\n",
        "".join(f"{' ' * depth}class A:\n" for depth in range(90)) + f"{' ' * 90}x = [1, 2]\n" * 100 + "x.\n",
    ],
    ids=["statements", "quotes", "blank-lines", "depth"],
)
def test_effort_bounds_what_is_parsed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(python, "parse_lines", lambda part, above: parsed.append(len(part)))
    parse(text, effort=2 * len(text))
    assert parsed and sum(parsed) + 100 * len(parsed) <= 2 * len(text) + 100


@pytest.mark.parametrize("effort", [0, 150, 400])
def test_beyond_the_effort_layout_shows_definitions(effort: int) -> None:
    text = (
        "x = (\nclass A(B):\n    def f(\n        self,\n    ):\n        return 1\n\n"
        "    # why\n    async def g(self): pass\n    y = 1\nz.\ndef h(): pass\n"
    )
    found = definitions(parse(text, effort=effort)[0])
    lines = {name: (first_line(nodes[0]), last_line(nodes[0])) for name, nodes in found.items()}
    assert lines == {"A": (2, 10), "A.f": (3, 6), "A.g": (9, 9), "h": (12, 12)}


def test_indentation_may_be_as_deep_as_it_likes() -> None:
    text = "".join(" " * depth + "if x:\n" for depth in range(1_000)) + "def f(:\n"
    tree, _ = parse(text)
    assert tree.body


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('  - and so on.\n  """\n\n  BIDI = 1', 2),
        ("Answer:\n'''.strip()\n\nX = 1", 2),
        # The next string is cut off.
        ('or this.\n"""\nNEXT = """\nAnd', 2),
        ('def f():\n  """\n  Numbers\n  """', 0),
        ('def f(\n  x,\n) -> int:\n  """\n  Word', 0),
        ('X = """\n{}', 0),
        ('f("""Word.\n""", x', 0),
        ("else:\n  x()", 0),
        ("only words here", 0),
    ],
)
def test_lines_of_a_string_that_begins_before_are_counted(text: str, lines: int) -> None:
    assert string_lines(text) == lines
