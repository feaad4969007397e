"""Reads a definition out of the lines of a chunk: signature, first paragraph, bases, annotation."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers import python
from adk_evidence.readers.docstrings import argument_docs
from adk_evidence.readers.python import (
    bare_string,
    clip,
    dotted_name,
    first_line,
    last_line,
    last_name,
    paragraph,
    unparse,
)
from adk_evidence.text.identifiers import ends_with

MAX_DOC_CHARS = 800


@dataclass(frozen=True)
class Definition:
    """What a symbol's own lines say of it.

    `bases` are the expressions of a class's bases, `annotation` that of a variable's type or a function's result,
    `alias` the dotted name that a variable is another name for. `parameters` are those that a call can name, as they
    are declared. `argument_docs` is what the docstring says of parameters, or of the fields of a class. `is_outline`
    says that a function has a docstring and no code.
    """

    kind: str
    lines: LineSpan
    signature: str | None = None
    doc: str | None = None
    bases: tuple[ast.expr, ...] = ()
    annotation: ast.expr | None = None
    is_property: bool = False
    is_outline: bool = False
    alias: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    argument_docs: Mapping[str, str] = field(default_factory=dict)


def read_definition(payload: ChunkPayload, symbol: str) -> Definition:
    """The definition of a symbol that begins inside a chunk; the chunk's own lines where it does not show.

    Args:
        payload: The chunk.
        symbol: Qualified name within the module, one of the chunk's `symbols`.
    """
    found = [item for item in _definitions(payload.body) if ends_with(symbol, item[0])]
    # Only the getter of a property says what the property is.
    if found:
        _, node, following = min(found, key=lambda item: _is_accessor(item[1]))
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
    """What the imports of a chunk of a module bind; see `python.imports`.

    Imports under `if TYPE_CHECKING` count: packages that load their members lazily name them there.
    """
    tree, _ = python.parse(payload.body)
    return python.imports(tree, module if payload.path.endswith("/__init__.py") else module.rpartition(".")[0])


def _definitions(body: str) -> list[tuple[str, ast.stmt, ast.stmt | None]]:
    """Name within the chunk, node and next statement of everything that is defined; the last overload first."""
    tree, _ = python.parse(body)
    found = list(python.named_statements(tree, functions=True))
    # Longest first, so that `run` of another class is not taken for `A.run`.
    found.reverse()
    return sorted(found, key=lambda item: -item[0].count("."))


def _is_accessor(node: ast.stmt) -> bool:
    """Whether a function sets or deletes a property that another function gets."""
    return bool(python.decorator_names(node) & {"setter", "deleter"})


def _describe(payload: ChunkPayload, symbol: str, node: ast.stmt, following: ast.stmt | None) -> Definition:
    offset = payload.start_line - 1
    lines = LineSpan(start=first_line(node) + offset, end=last_line(node) + offset)
    if not isinstance(node, python.Definition):
        annotation, value = getattr(node, "annotation", None), getattr(node, "value", None)
        is_alias = annotation is None or (dotted_name(annotation) or "").endswith("TypeAlias")
        return Definition(
            kind="variable",
            lines=lines,
            signature=clip(unparse(node) or "", python.MAX_SIGNATURE_CHARS) or None,
            doc=_paragraph(inspect.cleandoc(bare_string(following) or _description(value) or "")),
            annotation=annotation,
            alias=dotted_name(value) if is_alias else None,
        )
    whole = ast.get_docstring(node) or ""
    doc, told = _paragraph(whole), argument_docs(whole)
    signature = payload.signature if payload.symbol == symbol and payload.signature else python.signature(node)
    if isinstance(node, ast.ClassDef):
        return Definition("class", lines, signature, doc, bases=tuple(node.bases), argument_docs=told)
    return Definition(
        kind="method" if "." in symbol else "function",
        lines=lines,
        signature=signature,
        doc=doc,
        annotation=node.returns,
        is_property=bool(python.decorator_names(node) & python.PROPERTIES),
        is_outline=bool(whole) and all(map(_is_no_code, node.body)),
        parameters=_parameters(node.args),
        argument_docs=told,
    )


def _is_no_code(statement: ast.stmt) -> bool:
    raised = statement.exc if isinstance(statement, ast.Raise) else None
    name = raised.func if isinstance(raised, ast.Call) else raised
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass) or (name and dotted_name(name)) == "NotImplementedError"


def _parameters(arguments: ast.arguments) -> dict[str, str]:
    """The parameters that a call can name, each as `name: annotation = default`."""
    found = {}
    for item in python.parameters(arguments):
        if item.can_be_named:
            declared = unparse(item.node) or item.name
            value = unparse(item.default) if item.default is not None else None
            found[item.name] = clip(f"{declared} = {value}" if value else declared, python.MAX_SIGNATURE_CHARS)
    return found


def _description(value: ast.expr | None) -> str | None:
    """What `Field(description=...)` says of the field whose value it is."""
    if not isinstance(value, ast.Call) or last_name(value.func) != "Field":
        return None
    for keyword in value.keywords:
        if keyword.arg == "description" and isinstance(keyword.value, ast.Constant):
            return keyword.value.value if isinstance(keyword.value.value, str) else None
    return None


def _paragraph(doc: str | None) -> str | None:
    return clip(paragraph(doc) or "", MAX_DOC_CHARS) or None
