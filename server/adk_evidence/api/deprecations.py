"""Whether code calls its definitions and fields deprecated, and in which words.

A decorator says so, a warning that is given whatever the arguments are, a docstring, or `Field(deprecated=...)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from adk_evidence.api.constructors import constructor, field_call
from adk_evidence.readers.python import Function, dotted_name, last_name

_DEPRECATED = re.compile(
    r"^\s*(?:\.\. )?deprecated\b|^\s*\[deprecated\]|\bis deprecated\b|^[^.(]*\(deprecated\)(?:\.|$)", re.IGNORECASE
)
_PARAMETER = re.compile(
    r"^[ \t]+\*{0,2}(\w+)(?: ?\([^()\n]*\))?:\s+(?:optional[.,]?\s+)?(?:this \w+ is )?[\[(]?deprecated\b",
    re.IGNORECASE | re.MULTILINE,
)
_SECTION = re.compile(r"\s*\.\. deprecated::|\s*deprecated:", re.IGNORECASE)


def docstring_deprecation(docstring: str) -> str | None:
    """The paragraph of a docstring that says that its symbol is deprecated."""
    first, *others = docstring.split("\n\n")
    if _DEPRECATED.search(" ".join(first.split())):
        return first
    return next((part for part in others if _SECTION.match(part)), None)


def deprecated_parameters(docstring: str) -> tuple[str, ...]:
    """The parameters whose description in a docstring begins by calling them deprecated."""
    return tuple(dict.fromkeys(_PARAMETER.findall(docstring)))


def module_deprecation(tree: ast.Module) -> str | None:
    """What a module says of its own deprecation when it is imported, or in its docstring."""
    return _warned(tree.body) or docstring_deprecation(ast.get_docstring(tree) or "")


def deprecation(node: ast.ClassDef | Function) -> str | None:
    """What a class or a function says of its own deprecation; of a class, its constructor may say so."""
    warns = constructor(node) if isinstance(node, ast.ClassDef) else node
    body = warns.body if warns else []
    # A docstring says more than a log.
    said = docstring_deprecation(ast.get_docstring(node) or "")
    return _decorated(node) or _warned(body) or said or _logged(body)


def field_deprecation(node: ast.Assign | ast.AnnAssign, following: ast.stmt | None) -> str | None:
    """What a field says of its own deprecation, in its value or in the docstring that follows."""
    options = field_call(node.value) or {}
    told = options.get("deprecated")
    if isinstance(told, ast.Constant) and told.value:
        return str(told.value) if isinstance(told.value, str) else "This field is deprecated."
    below = following.value if isinstance(following, ast.Expr) else None
    texts = (part.value for part in (options.get("description"), below) if isinstance(part, ast.Constant))
    return next((found for text in texts if isinstance(text, str) and (found := docstring_deprecation(text))), None)


def _decorated(node: ast.ClassDef | Function) -> str | None:
    """The text of a decorator `deprecated`."""
    for item in node.decorator_list:
        called = item.func if isinstance(item, ast.Call) else item
        if last_name(called) == "deprecated":
            text = _text(item.args[0]) if isinstance(item, ast.Call) and item.args else None
            return text or f"{node.name} is deprecated."
    return None


def _warned(body: Iterable[ast.stmt]) -> str | None:
    """The text of a warning of deprecation that a body gives whatever the arguments are."""
    for call, text in _calls(body, "warn"):
        kinds = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "category")]
        if any((dotted_name(kind) or "").endswith("DeprecationWarning") for kind in kinds):
            return text or "This is deprecated."
    return None


def _logged(body: Iterable[ast.stmt]) -> str | None:
    """What a body logs of its deprecation whatever the arguments are."""
    return next((text for _, text in _calls(body, "warning") if _DEPRECATED.search(text)), None)


def _calls(body: Iterable[ast.stmt], name: str) -> Iterator[tuple[ast.Call, str]]:
    """The statements of a body that call a function of that name, with the message that they give."""
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and last_name(call.func) == name:
            said = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "message")]
            yield call, (_text(said[0]) or "") if said else ""


def _text(node: ast.expr) -> str | None:
    """A string, or the fixed parts of an f-string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(item.value) for item in node.values if isinstance(item, ast.Constant))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
