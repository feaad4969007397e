"""Finds cited Python code again by its syntax tree or its qualified name."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Sequence

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import LineSpan
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
from adk_evidence.textfile import split_lines


def find_same_tree(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines where the cited statements stand under the same name in the file's text of today.

    Positions, comments and the whitespace of docstrings do not count. A class cited by its beginning matches
    a class that begins so.
    """
    cited = parse_lines(payload.body)
    if not cited:
        return None
    _normalise_docstrings(*(cited if payload.body[:1].isspace() else [ast.Module(cited, [])]))
    tree = _parse(text)
    defined = definitions(tree)
    name = _name(payload)
    scopes: list[ast.AST] = [*defined.get(name.rpartition(".")[0], ()), *defined.get(name, ())]
    if "." not in name:
        scopes.append(tree)
    spans = [
        _span(block[at : at + len(cited)], cited[-1])
        for scope in scopes
        for block in scope_blocks(scope)
        for at in range(len(block) - len(cited) + 1)
        if all(map(_same, cited, block[at : at + len(cited)]))
    ]
    return _nearest(spans, payload)


def find_symbol(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines of the definition with the cited qualified name; of those that remain where several were cited."""
    name = _name(payload)
    defined = definitions(_parse(text))
    if payload.symbol_kind not in ("class", "function", "method"):
        parts = [_span([node]) for symbol in payload.symbols for node in defined.get(symbol, ())]
        if parts:
            return LineSpan(start=min(part.start for part in parts), end=max(part.end for part in parts))
    if name:
        return _nearest([_span([node]) for node in defined.get(name, ())], payload)
    last = len(split_lines(text))
    in_file = payload.start_line <= last
    return LineSpan(start=payload.start_line, end=min(payload.end_line, last)) if in_file else None


def definition_lines(name: str, text: str) -> list[LineSpan]:
    """The lines of every definition of a qualified name such as `Runner.run`, decorators included."""
    return [_span([node]) for node in definitions(_parse(text)).get(name.replace("<locals>.", ""), ())]


def _name(payload: ChunkPayload) -> str:
    """The qualified name within the module; empty for the module itself."""
    if payload.symbol is None or payload.symbol_kind == "module":
        return ""
    return payload.symbol.replace("<locals>.", "")


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


def _nearest(spans: Iterable[LineSpan], payload: ChunkPayload) -> LineSpan | None:
    return min(spans, key=lambda span: (abs(span.start - payload.start_line), span.start), default=None)
