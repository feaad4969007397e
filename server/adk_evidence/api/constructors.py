"""What a class says of the arguments that make it: fields of pydantic and of dataclasses, constructors, validators."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal

from adk_evidence.readers.python import Function, clip, dotted_name, last_name, scope_blocks, unparse

# How the constructor of a class takes arguments: as the next class does, or as its parameters say; of `some`, those
# that it does not name itself go on to the next class.
Takes = Literal["as the next class", "some itself", "itself"]

MAX_SHORTCUT_CHARS = 80
MAX_VALUE_CHARS = 80
# What a field says to readers and to whoever writes it out, but not to callers.
_SAID_TO_OTHERS = frozenset(
    {"description", "title", "examples", "deprecated", "repr", "exclude", "exclude_if", "serialization_alias"}
    | {"json_schema_extra", "metadata", "discriminator", "union_mode"}
)


def options_of(value: ast.expr | None) -> dict[str, ast.expr]:
    """The keywords of a call, or the items of a dict."""
    if isinstance(value, ast.Call):
        return {item.arg: item.value for item in value.keywords if item.arg}
    if isinstance(value, ast.Dict):
        items = zip(value.keys, value.values, strict=True)
        return {str(key.value): item for key, item in items if isinstance(key, ast.Constant)}
    return {}


def field_call(value: ast.expr | None) -> dict[str, ast.expr] | None:
    """The keywords of a call of `Field` or `field`."""
    if isinstance(value, ast.Call) and last_name(value.func) in ("Field", "field"):
        return options_of(value)
    return None


def given_default(call: ast.Call) -> ast.expr | None:
    """The default that a call of `Field` or `field` names; None of `...`."""
    first = call.args[0] if call.args else options_of(call).get("default")
    return None if isinstance(first, ast.Constant) and first.value is ... else first


def field_text(value: ast.expr | None) -> str:
    """What `Field(description=..., deprecated=...)` says of its field, or ""."""
    told = field_call(value) or {}
    texts = (told.get(name) for name in ("description", "deprecated"))
    return next((each.value for each in texts if isinstance(each, ast.Constant) and isinstance(each.value, str)), "")


def is_deprecated(value: ast.expr | None) -> bool:
    """Whether `Field(deprecated=...)` says so of its field."""
    said = (field_call(value) or {}).get("deprecated")
    return isinstance(said, ast.Constant) and bool(said.value)


def is_shared(annotation: ast.expr) -> bool:
    """Whether an annotation is `ClassVar` or `TypeAlias`, also as a string: its name is no field."""
    kind = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    text = kind.value if isinstance(kind, ast.Constant) else dotted_name(kind)
    return str(text).partition("[")[0].rpartition(".")[2] in ("ClassVar", "TypeAlias")


def default(value: ast.expr | None) -> str:
    """What stands behind the `=` of a field for those who set it, or "" where it has no default.

    Of `Field(default=3, description="...")` that is `3`; conditions for the value stay: `Field(3, ge=1)`.
    """
    if value is None:
        return ""
    found = field_call(value)
    if found is None or not isinstance(value, ast.Call):
        return _short(value)
    first = given_default(value)
    kept = {name: item for name, item in found.items() if name not in _SAID_TO_OTHERS and name != "default"}
    if not kept:
        return _short(first) if first is not None else ""
    has_default = first is not None or "default_factory" in kept or "init" in kept
    begin = [_short(first)] if first is not None else [] if has_default else ["..."]
    given = [*begin, *(f"{name}={_short(item)}" for name, item in kept.items())]
    return f"{dotted_name(value.func)}({', '.join(given)})"


def _short(value: ast.expr) -> str:
    text = unparse(value) or "..."
    return text if len(text) <= MAX_VALUE_CHARS else "..."


def constructor(node: ast.ClassDef) -> Function | None:
    """The constructor that a class has of its own."""
    return next((item for item in node.body if isinstance(item, Function) and item.name == "__init__"), None)


def takes(method: Function) -> Takes:
    """How a constructor takes its arguments."""
    if not _handed_on(method):
        return "itself"
    given = method.args
    return "some itself" if len([*given.posonlyargs, *given.args, *given.kwonlyargs]) > 1 else "as the next class"


def passes_on(method: Function) -> bool:
    """Whether all that a constructor does with its `**kwargs` is to give them to the constructor of the next class."""
    kwargs = method.args.kwarg.arg if method.args.kwarg and _handed_on(method) else None
    nodes = (node for part in method.body for node in ast.walk(part))
    return [node.id for node in nodes if isinstance(node, ast.Name) and node.id == kwargs] == [kwargs]


def _handed_on(method: Function) -> bool:
    """Whether a constructor gives its `**kwargs` to the constructor of the next class."""
    if method.name != "__init__" or method.args.kwarg is None:
        return False
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__")):
                passed = (item.value for item in node.keywords if item.arg is None)
                return any(isinstance(value, ast.Name) and value.id == method.args.kwarg.arg for value in passed)
    return False


def reads_before(method: Function) -> bool:
    """Whether pydantic calls a method with what a class is made with, before the fields are read."""
    for item in method.decorator_list:
        called = last_name(item.func) if isinstance(item, ast.Call) else ""
        found = options_of(item)
        mode = getattr(found.get("mode"), "value", None)
        early = called == "model_validator" and mode in ("before", "wrap")
        if early or (called == "root_validator" and "pre" in found):
            return True
    return False


def shortcuts(node: ast.ClassDef) -> tuple[str, ...]:
    """The arguments that a class takes beside its fields, e.g. `state: dict -> actions.state_delta`.

    Those are what a validator, or a constructor that passes the rest on, takes out of the arguments before the fields
    are read. The docstring of that method may say what they are. What a method warns of as deprecated is left out.
    """
    found: dict[str, str] = {}
    for block in scope_blocks(node):
        for method in block:
            if not isinstance(method, Function) or not (reads_before(method) or _handed_on(method)):
                continue
            texts = [item.value for item in ast.walk(method) if isinstance(item, ast.Constant)]
            doc = ast.get_docstring(method) or ""
            if any(isinstance(text, str) and "deprecated" in text for text in texts if text != doc):
                continue
            for _, name in sorted(_taken_out(method)):
                said = re.search(rf"^[ \t]*{name}[ \t]*:[ \t]*(\S.*)$", doc, re.MULTILINE)
                found[name] = clip(f"{name}: {' '.join(said[1].split()) if said else 'Any'}", MAX_SHORTCUT_CHARS)
    return tuple(found.values())


def _taken_out(method: Function) -> Iterator[tuple[int, str]]:
    """The keys that a method takes out of a dict which it was given, or out of a copy of the same name, with lines."""
    given = {item.arg for item in (*method.args.posonlyargs, *method.args.args)}
    given |= {method.args.kwarg.arg} if method.args.kwarg else set()
    for node in ast.walk(method):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="pop"),
                args=[ast.Constant(value=str(name)) as key, *_],
            ) if owner in given and name.isidentifier() and not name.startswith("_"):
                yield key.lineno, name
