"""What annotations mean: the names of the classes that a value may be of, and what its items are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from adk_evidence.readers.python import dotted_name, unquoted

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
    name = (dotted_name(annotation.value) or "").rpartition(".")[2]
    inner = annotation.slice
    first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
    return first if name in _ITERABLES else None


def annotation_names(annotation: ast.expr, depth: int = 0) -> Iterator[str]:
    """Dotted names that an annotation may mean: `X` for `Optional[X]`, `X | None`, `Annotated[X, ...]` and `"X"`."""
    if depth > MAX_DEPTH:
        return
    if (said := unquoted(annotation)) is not annotation:
        yield from annotation_names(said, depth + 1)
    elif isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from annotation_names(annotation.left, depth + 1)
        yield from annotation_names(annotation.right, depth + 1)
    elif isinstance(annotation, ast.Subscript):
        outer = dotted_name(annotation.value) or ""
        if outer.rpartition(".")[2] not in _WRAPPERS:
            if outer:
                yield outer
            return
        inner = annotation.slice
        for item in inner.elts if isinstance(inner, ast.Tuple) else (inner,):
            yield from annotation_names(item, depth + 1)
    elif name := dotted_name(annotation):
        yield name
