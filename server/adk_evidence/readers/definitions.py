"""Reads a definition out of the lines of a chunk: signature, first paragraph, bases, annotation."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import LineSpan
from adk_evidence.readers import python
from adk_evidence.readers.python import blocks, clip, dotted_name, first_line, last_line, paragraph, unparse

MAX_DOC_CHARS = 800

_Variable = ast.Assign | ast.AnnAssign
_PROPERTIES = ("property", "cached_property")


@dataclass(frozen=True)
class Definition:
    """What a symbol's own lines say of it.

    `bases` are the expressions of a class's bases, `annotation` that of a variable's type or a function's result,
    `alias` the dotted name that a variable is another name for.
    """

    kind: str
    lines: LineSpan
    signature: str | None = None
    doc: str | None = None
    bases: tuple[ast.expr, ...] = ()
    annotation: ast.expr | None = None
    is_property: bool = False
    alias: str | None = None


def read_definition(payload: ChunkPayload, symbol: str) -> Definition:
    """The definition of a symbol that begins inside a chunk.

    Args:
        payload: The chunk.
        symbol: Qualified name within the module, one of the chunk's `symbols`.

    Returns:
        At least a kind and lines; the chunk's own where it does not show the definition.
    """
    for chain, node, following in _definitions(payload.body):
        if symbol == chain or symbol.endswith(f".{chain}"):
            return _describe(payload, symbol, node, following)
    own = payload.symbol == symbol
    return Definition(
        kind=payload.symbol_kind if own and payload.symbol_kind else "variable",
        lines=LineSpan(start=payload.start_line, end=payload.end_line),
        signature=payload.signature if own else None,
    )


def read_module(payload: ChunkPayload) -> Definition:
    """The module that a chunk of its top level belongs to: its docstring, if the chunk begins with it."""
    tree, _ = python.parse(payload.body)
    doc = _paragraph(ast.get_docstring(tree))
    return Definition("module", LineSpan(start=payload.start_line, end=payload.end_line), doc=doc)


def read_imports(payload: ChunkPayload, module: str) -> Mapping[str, str]:
    """What the imports of a chunk bind: name to dotted path; of `import *`, `*<path>` to the path.

    Imports under `if TYPE_CHECKING` count: packages that load their members lazily name them there.

    Args:
        payload: The chunk.
        module: Dotted path of its module.
    """
    tree, _ = python.parse(payload.body)
    package = module if payload.path.endswith("/__init__.py") else module.rpartition(".")[0]
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = _absolute(package, node.level, node.module)
            for alias in node.names:
                if alias.name == "*":
                    found[f"*{base}"] = base
                else:
                    found[alias.asname or alias.name] = f"{base}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
    return found


def _definitions(body: str) -> Iterator[tuple[str, python.Definition | _Variable, ast.stmt | None]]:
    """Name within the chunk, node and next statement of everything that is defined; the last overload first."""
    tree, _ = python.parse(body)
    found: list[tuple[str, python.Definition | _Variable, ast.stmt | None]] = []
    stack: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    while stack:
        prefix, block = stack.pop()
        for place, node in enumerate(block):
            following = block[place + 1] if place + 1 < len(block) else None
            if isinstance(node, python.Definition):
                found.append((f"{prefix}{node.name}", node, following))
                stack.append((f"{prefix}{node.name}.", node.body))
            elif isinstance(node, _Variable):
                found += [(f"{prefix}{name}", node, following) for name in _targets(node)]
            else:
                stack += [(prefix, inner) for inner in blocks(node)]
    # Longest first, so that `run` of another class is not taken for `A.run`.
    found.reverse()
    found.sort(key=lambda item: -item[0].count("."))
    return iter(found)


def _targets(node: _Variable) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _describe(
    payload: ChunkPayload, symbol: str, node: python.Definition | _Variable, following: ast.stmt | None
) -> Definition:
    lines = _lines(payload, node)
    if isinstance(node, _Variable):
        annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
        named = isinstance(annotation, ast.Name | ast.Attribute) and (dotted_name(annotation) or "").endswith(
            "TypeAlias"
        )
        is_alias = node.value is not None and (annotation is None or named)
        return Definition(
            kind="variable",
            lines=lines,
            signature=clip(unparse(node) or "", python.MAX_SIGNATURE_CHARS) or None,
            doc=_paragraph(_string(following)),
            annotation=annotation,
            alias=dotted_name(node.value) if is_alias and node.value is not None else None,
        )
    doc = _paragraph(ast.get_docstring(node))
    signature = payload.signature if payload.symbol == symbol and payload.signature else python.signature(node)
    if isinstance(node, ast.ClassDef):
        return Definition("class", lines, signature, doc, bases=tuple(node.bases))
    decorators = {(dotted_name(item) or "").rpartition(".")[2] for item in node.decorator_list}
    return Definition(
        kind="method" if "." in symbol else "function",
        lines=lines,
        signature=signature,
        doc=doc,
        annotation=node.returns,
        is_property=bool(decorators & set(_PROPERTIES)),
    )


def _lines(payload: ChunkPayload, node: ast.stmt) -> LineSpan:
    offset = payload.start_line - 1
    return LineSpan(start=first_line(node) + offset, end=last_line(node) + offset)


def _string(node: ast.stmt | None) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return inspect.cleandoc(node.value.value)
    return None


def _paragraph(doc: str | None) -> str | None:
    return clip(paragraph(doc) or "", MAX_DOC_CHARS) or None


def _absolute(package: str, level: int, module: str | None) -> str:
    if level == 0:
        return module or ""
    parts = package.split(".")
    base = parts[: len(parts) - (level - 1)]
    return ".".join([*base, module] if module else base)
