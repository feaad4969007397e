"""What annotations mean: the names of the classes that a value may be of, and what its items are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from adk_evidence.readers.python import dotted_name, last_name, unquoted

# The deepest nesting that is followed.
MAX_DEPTH = 12
_WRAPPERS = frozenset({"Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired"})
# Types whose first parameter is the type of their items.
_ITERABLES = frozenset(
    {"list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "Iterable", "Iterator", "Generator"}
    | {"AsyncIterable", "AsyncIterator", "AsyncGenerator"}
)


def item_annotation(annotation: ast.expr) -> ast.expr | None:
    """The annotation of the items of what an annotation means: `X` for `list[X]` and `AsyncGenerator[X, None]`."""
    annotation = unquoted(annotation)
    if not isinstance(annotation, ast.Subscript):
        return None
    name = last_name(annotation.value)
    inner = annotation.slice
    first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
    return first if name in _ITERABLES else None


def annotation_names(annotation: ast.expr) -> Iterator[str]:
    """Dotted names that an annotation may mean: `X` for `Optional[X]`, `X | None`, `Annotated[X, ...]` and `"X"`."""
    for each in _alternatives(annotation):
        name = dotted_name(each.value if isinstance(each, ast.Subscript) else each)
        if name:
            yield name


def said_type(annotation: ast.expr) -> str:
    """The dotted name of the one class that an annotation means, after `*` that of items; "" where it says no class."""
    meant = list(_alternatives(annotation))
    items = item_annotation(meant[0]) if len(meant) == 1 else None
    names = list(annotation_names(items or annotation)) if meant else []
    return f"{'*' if items else ''}{names[0]}" if len(names) == 1 and len(meant) == 1 else ""


def _alternatives(annotation: ast.expr, depth: int = 0) -> Iterator[ast.expr]:
    """What an annotation may mean, but for `None`: names, with their parameters."""
    if depth > MAX_DEPTH:
        return
    if (said := unquoted(annotation)) is not annotation:
        yield from _alternatives(said, depth + 1)
    elif isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from _alternatives(annotation.left, depth + 1)
        yield from _alternatives(annotation.right, depth + 1)
    elif isinstance(annotation, ast.Subscript):
        outer = last_name(annotation.value)
        if outer not in _WRAPPERS:
            yield annotation
            return
        inner = annotation.slice
        items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        # What stands behind the type in `Annotated` is no type.
        for item in items[:1] if outer == "Annotated" else items:
            yield from _alternatives(item, depth + 1)
    elif not (isinstance(annotation, ast.Constant) and annotation.value is None):
        yield annotation
