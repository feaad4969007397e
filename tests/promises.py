"""What the product promises its users, and the tests that hold it to that: `python -m tests.promises` prints both.

`tests/promises.yaml` lists them. Words given on the command line narrow the list to promises that contain all of them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from rich.console import Console
from rich.markup import escape

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".yaml")
# The title of a test of the extension: the first argument of `it`, or the first entry of a row in a table of cases.
_TITLE = re.compile(r"""(?:\bit\(|\[)\s*("(?:[^"\\]|\\.)*"|`[^`]*`|'[^']*')""")


@dataclass(frozen=True)
class Promise:
    """A sentence that a user can rely on."""

    group: str
    text: str
    # Each is a file, then `::`, then the name of a Python test or the title of a test of the extension.
    tests: tuple[str, ...]


def promises() -> list[Promise]:
    """All promises in the order of the list."""
    groups = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return [
        Promise(group, entry["promise"], tuple(entry["tests"]))
        for group, entries in groups.items()
        for entry in entries
    ]


def exists(test: str) -> bool:
    """Whether a test that the list names is there."""
    file, _, name = test.partition("::")
    path = ROOT / file
    return path.is_file() and name in _tests_of(path)


@cache
def _tests_of(path: Path) -> frozenset[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return frozenset(title[1:-1].replace('\\"', '"') for title in _TITLE.findall(text))
    return frozenset(_named(ast.parse(text), ""))


def _named(scope: ast.AST, prefix: str) -> Iterator[str]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef):
            yield from _named(node, f"{prefix}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield f"{prefix}{node.name}"


def main(words: list[str]) -> None:
    """Prints the promises, each with its tests."""
    console = Console(soft_wrap=True, highlight=False)
    group = ""
    for promise in promises():
        if not all(word.casefold() in promise.text.casefold() for word in words):
            continue
        if promise.group != group:
            group = promise.group
            console.print(f"\n[bold]{escape(group)}[/bold]")
        console.print(f"\n  {escape(promise.text)}")
        for test in promise.tests:
            console.print(f"    [dim]{escape(test)}[/dim]")


if __name__ == "__main__":
    main(sys.argv[1:])
