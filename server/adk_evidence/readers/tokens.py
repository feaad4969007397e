"""Finds cited Python code again by its syntax tree or its qualified name."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import LineSpan
from adk_evidence.textfile import split_lines

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_BLOCK_OWNERS = (ast.stmt, ast.excepthandler, ast.match_case)


def find_same_tree(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines where the cited statements stand under the same name, whatever their formatting.

    Positions, comments and the whitespace of docstrings do not count. A class cited by its beginning matches
    a class that begins so.

    Args:
        payload: The chunk.
        text: The file as it is now.
    """
    tree = _parse(text)
    cited = _cited_statements(payload.body)
    if tree is None or not cited:
        return None
    definitions = _definitions(tree)
    name = _name(payload)
    scopes: list[ast.AST] = [*definitions.get(name.rpartition(".")[0], ()), *definitions.get(name, ())]
    if "." not in name:
        scopes.append(tree)
    spans = [
        _span(block[at : at + len(cited)], cited[-1])
        for scope in scopes
        for block in _blocks(scope)
        for at in range(len(block) - len(cited) + 1)
        if all(map(_same, cited, block[at : at + len(cited)]))
    ]
    return _nearest(spans, payload)


def find_symbol(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines of the definition with the cited qualified name; of what is left where several were cited.

    Args:
        payload: The chunk.
        text: The file as it is now.
    """
    tree = _parse(text)
    name = _name(payload)
    if tree is None and name:
        return _nearest(_definition_lines(name, text), payload)
    definitions = _definitions(tree) if tree else {}
    if payload.symbol_kind not in ("class", "function", "method"):
        parts = [_span([node]) for symbol in payload.symbols for node in definitions.get(symbol, ())]
        if parts:
            return LineSpan(start=min(part.start for part in parts), end=max(part.end for part in parts))
    if name:
        return _nearest([_span([node]) for node in definitions.get(name, ())], payload)
    last = len(split_lines(text))
    if payload.start_line > last:
        return None
    return LineSpan(start=payload.start_line, end=min(payload.end_line, last))


def definition_lines(name: str, text: str) -> list[LineSpan]:
    """The lines of every definition of a qualified name, decorators included.

    Args:
        name: Qualified name within the module, such as `Runner.run`.
        text: The file; where it does not parse, only the first line of each definition is known.
    """
    name = name.replace("<locals>.", "")
    tree = _parse(text)
    if tree is None:
        return _definition_lines(name, text)
    return [_span([node]) for node in _definitions(tree).get(name, ())]


def _name(payload: ChunkPayload) -> str:
    """The qualified name within the module; empty for the module itself."""
    if payload.symbol is None or payload.symbol_kind == "module":
        return ""
    return payload.symbol.replace("<locals>.", "")


@functools.lru_cache(maxsize=8)
def _parse(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        _normalise_docstring(node)
    return tree


def _normalise_docstring(node: ast.AST) -> None:
    if not isinstance(node, ast.Module | Definition) or not node.body:
        return
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        first.value.value = " ".join(inspect.cleandoc(first.value.value).split())


def _cited_statements(body: str) -> list[ast.stmt]:
    # An indented body is put under an `if`: dedenting it could change its string literals.
    if not body[:1].isspace():
        tree = _parse(body)
        return tree.body if tree else []
    tree = _parse(f"if True:\n{body}")
    outer = tree.body[0] if tree and len(tree.body) == 1 else None
    return outer.body if isinstance(outer, ast.If) and not outer.orelse else []


def _definitions(tree: ast.Module) -> Mapping[str, list[Definition]]:
    found: dict[str, list[Definition]] = {}
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, scope = waiting.pop()
        for block in _blocks(scope):
            for node in block:
                if isinstance(node, Definition):
                    found.setdefault(prefix + node.name, []).append(node)
                    waiting.append((f"{prefix}{node.name}.", node))
    return found


def _blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statement lists of a scope and of its `if`, `try` and the like, but not of inner definitions."""
    for _, value in ast.iter_fields(scope):
        if not isinstance(value, list) or not value:
            continue
        if isinstance(value[0], ast.stmt):
            yield value
        for item in value:
            if isinstance(item, _BLOCK_OWNERS) and not isinstance(item, Definition):
                yield from _blocks(item)


def _same(cited: ast.stmt, now: ast.stmt) -> bool:
    if type(cited) is not type(now) or getattr(cited, "name", None) != getattr(now, "name", None):
        return False
    if isinstance(cited, ast.ClassDef) and isinstance(now, ast.ClassDef):
        heads = (_class_head(cited) == _class_head(now)) and len(cited.body) <= len(now.body)
        return heads and all(ast.dump(old) == ast.dump(new) for old, new in zip(cited.body, now.body, strict=False))
    return ast.dump(cited) == ast.dump(now)


def _class_head(node: ast.ClassDef) -> list[str]:
    return [ast.dump(part) for part in (*node.bases, *node.keywords, *node.decorator_list)]


def _span(nodes: list[ast.stmt] | list[Definition], cited_last: ast.stmt | None = None) -> LineSpan:
    """The lines of consecutive statements; of a class, only as many statements as were cited."""
    first, last = nodes[0], nodes[-1]
    start = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", ()))])
    if isinstance(last, ast.ClassDef) and isinstance(cited_last, ast.ClassDef):
        return LineSpan(start=start, end=_end(last.body[len(cited_last.body) - 1]))
    return LineSpan(start=start, end=_end(last))


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _definition_lines(name: str, text: str) -> list[LineSpan]:
    """The first lines of definitions of that name in a file that does not parse."""
    last = re.escape(name.rpartition(".")[2])
    pattern = re.compile(rf"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+{last}\b", re.MULTILINE)
    lines = (text.count("\n", 0, match.start()) + 1 for match in pattern.finditer(text))
    return [LineSpan(start=line, end=line) for line in lines]


def _nearest(spans: Iterable[LineSpan], payload: ChunkPayload) -> LineSpan | None:
    return min(spans, key=lambda span: (abs(span.start - payload.start_line), span.start), default=None)
