"""Checks a replay without the product's code: plain text and `ast` alone.

    python -m tests.benchmarks.replay_check --wheels FOLDER REPLAY.jsonl

Prints how many citations of each state are wrong, and the first of them; exits with 1 where there is one.

What is wrong: `exact` or `moved` where the lines hold another text; `gone` where the text stands in the cited file, or
the file defines the cited name; `same_tree` where the parsed code differs; `changed` where the lines do not hold a
definition of the cited name, or the text stands inside of one.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import sys
import textwrap
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any


class Wheel:
    """The files of a version, as lists of lines."""

    def __init__(self, folder: Path, version: str) -> None:
        self._wheel = zipfile.ZipFile(folder / f"google_adk-{version}-py3-none-any.whl")
        self._names = set(self._wheel.namelist())
        self.lines = functools.cache(self._lines)
        self.spans = functools.cache(self._spans)

    def _lines(self, path: str) -> list[str] | None:
        name = path.removeprefix("src/")
        if name not in self._names:
            return None
        text = self._wheel.read(name).decode("utf-8-sig", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def _spans(self, path: str) -> dict[str, list[tuple[int, int]]]:
        """First and last lines of every class and function by qualified name, decorators included."""
        found: dict[str, list[tuple[int, int]]] = {}
        lines = self.lines(path)

        def walk(node: ast.AST, prefix: str) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    name = prefix + child.name
                    first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                    found.setdefault(name, []).append((first, child.end_lineno or child.lineno))
                    walk(child, f"{name}.")
                else:
                    walk(child, prefix)

        if lines is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                walk(ast.parse("\n".join(lines)), "")
        return found


def wrong(record: dict[str, Any], wheel: Wheel) -> str | None:
    """What is wrong with the state of a citation; None where the state is right."""
    text, state = record["text"], record["state"]
    path = record["now_path"] or record["path"]
    lines = wheel.lines(path)
    first, last = record["now"] or (record["start"], record["end"])
    now = "\n".join((lines or [])[first - 1 : last])
    if state in ("exact", "moved"):
        columns = record["columns"]
        if columns and state == "exact":
            now = now[columns[0] : columns[1]]
        return None if (text in now if columns else text == now) else "the lines hold another text"
    places = wheel.spans(path).get(record["name"], [])
    if state == "same_tree":
        return None if record["columns"] or _tree(text) == _tree(now) else "the parsed code differs"
    own = record["kind"] in ("function", "method", "class")
    if state == "changed":
        if own and (first, last) not in places:
            return "the lines are not the definition"
        inside = ["\n".join(lines[start - 1 : end]) for start, end in places] if lines else []
        return "the text stands in the definition" if own and text in inside else None
    standing = wheel.lines(record["path"])
    if standing is None:
        return None
    if f"\n{text}\n" in "\n".join(["", *standing, ""]):
        return "the text stands in the file"
    return "the file defines the name" if own and wheel.spans(record["path"]).get(record["name"]) else None


def _tree(text: str) -> str | None:
    """The parsed code without positions, where white space in docstrings does not count."""
    try:
        tree = ast.parse(textwrap.dedent(text) if text[:1].isspace() else text)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            first.value.value = " ".join(first.value.value.split())
    return ast.dump(tree)


def main() -> None:
    """Check and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replay", type=Path)
    parser.add_argument("--wheels", type=Path, required=True)
    options = parser.parse_args()
    wheels: dict[str, Wheel] = {}
    checked: Counter[str] = Counter()
    found: list[str] = []
    bad: Counter[str] = Counter()
    with options.replay.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            checked[record["state"]] += 1
            version = record["to"]
            if version not in wheels:
                wheels[version] = Wheel(options.wheels, version)
            problem = wrong(record, wheels[version])
            if problem:
                bad[record["state"]] += 1
                where = f"{record['path']}:{record['start']}-{record['end']} {record['name']}"
                found.append(f"{record['from']} -> {record['to']}: {where} is called {record['state']}: {problem}.")
    for state, count in sorted(checked.items()):
        print(f"{state:>10}: {count:>6} checked, {bad[state]} wrong")
    for sentence in found[:20]:
        print(sentence)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
