"""Finds cited Python code again by its syntax tree or its qualified name."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Sequence

from adk_evidence.models.cited import Cited
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import (
    Definition,
    bare_string,
    definitions,
    first_line,
    last_line,
    parse,
    parse_lines,
    scope_blocks,
)
from adk_evidence.text.textfile import split_lines


def find_same_tree(cited: Cited, text: str) -> LineSpan | None:
    """The lines where the cited statements stand under the same name in another text of the file.

    Positions, comments and the whitespace of docstrings do not count. A class cited by its beginning matches
    a class that begins so.
    """
    wanted = parse_lines(cited.body)
    if not wanted:
        return None
    _normalise_docstrings(*(wanted if cited.body[:1].isspace() else [ast.Module(wanted, [])]))
    tree = _parse(text)
    defined = definitions(tree)
    name = cited.name
    scopes: list[ast.AST] = [*defined.get(name.rpartition(".")[0], ()), *defined.get(name, ())]
    if "." not in name:
        scopes.append(tree)
    spans = [
        _span(block[at : at + len(wanted)], wanted[-1])
        for scope in scopes
        for block in scope_blocks(scope)
        for at in range(len(block) - len(wanted) + 1)
        if all(map(_same, wanted, block[at : at + len(wanted)]))
    ]
    return nearest(spans, cited)


def find_symbol(cited: Cited, text: str) -> LineSpan | None:
    """The lines of the definition with the cited qualified name; of those that remain where several were cited."""
    if cited.symbol_kind not in ("class", "function", "method"):
        parts = [span for symbol in cited.symbols for span in definition_lines(symbol, text)]
        if parts:
            return LineSpan(start=min(part.start for part in parts), end=max(part.end for part in parts))
    if cited.name:
        return nearest(definition_lines(cited.name, text), cited)
    last = len(split_lines(text))
    in_file = cited.start_line <= last
    return LineSpan(start=cited.start_line, end=min(cited.end_line, last)) if in_file else None


def definition_lines(name: str, text: str) -> list[LineSpan]:
    """The lines of every definition of a qualified name such as `Runner.run`, decorators included."""
    return list(_definition_spans(text).get(name.replace("<locals>.", ""), ()))


def nearest(spans: Iterable[LineSpan], cited: Cited) -> LineSpan | None:
    """The span that begins nearest to the cited lines."""
    return min(spans, key=lambda span: (abs(span.start - cited.start_line), span.start), default=None)


# As many files as a source keeps open: many citations are of one file. Trees take more memory than lines.
@functools.lru_cache(maxsize=64)
def _definition_spans(text: str) -> dict[str, list[LineSpan]]:
    return {name: [_span([node]) for node in nodes] for name, nodes in definitions(_parse(text)).items()}


@functools.lru_cache(maxsize=8)
def _parse(text: str) -> ast.Module:
    tree, _ = parse(text)
    _normalise_docstrings(tree)
    return tree


def _normalise_docstrings(*trees: ast.AST) -> None:
    for node in (node for tree in trees for node in ast.walk(tree)):
        first = node.body[0] if isinstance(node, ast.Module | Definition) and node.body else None
        if isinstance(first, ast.Expr) and (text := bare_string(first)) is not None:
            first.value = ast.Constant(" ".join(inspect.cleandoc(text).split()))


def _same(cited: ast.stmt, now: ast.stmt) -> bool:
    if type(cited) is not type(now) or getattr(cited, "name", None) != getattr(now, "name", None):
        return False
    if isinstance(cited, ast.ClassDef) and isinstance(now, ast.ClassDef):
        return _head(cited) == _head(now) and _dumps(cited.body) == _dumps(now.body[: len(cited.body)])
    return ast.dump(cited) == ast.dump(now)


def _head(node: ast.ClassDef) -> list[str]:
    return _dumps((*node.bases, *node.keywords, *node.decorator_list))


def _dumps(nodes: Iterable[ast.AST]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _span(nodes: Sequence[ast.stmt], cited_last: ast.stmt | None = None) -> LineSpan:
    """The lines of consecutive statements; of a class, only as many statements as were cited."""
    start, last = first_line(nodes[0]), nodes[-1]
    if isinstance(last, ast.ClassDef) and isinstance(cited_last, ast.ClassDef):
        last = last.body[len(cited_last.body) - 1]
    return LineSpan(start=start, end=last_line(last))
