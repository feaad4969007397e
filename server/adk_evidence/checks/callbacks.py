"""Functions of some code that agents call: what they are given, and callbacks that cannot take it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.version import Version

from adk_evidence.api.parameters import Parameters
from adk_evidence.documents.document import Mention, PythonDocument, Scope
from adk_evidence.readers.python import Function, dotted_name, parameters

# What each callback of an agent is called with, in the order of `google.adk.utils._callback_pipeline`. All releases
# give these by name: in `base_agent.py`, `base_llm_flow.py` and `functions.py`, later in modules of `flows/llm_flows`.
CALLED = {
    "before_agent_callback": ("callback_context",),
    "after_agent_callback": ("callback_context",),
    "before_model_callback": ("callback_context", "llm_request"),
    "after_model_callback": ("callback_context", "llm_response"),
    "on_model_error_callback": ("callback_context", "llm_request", "error"),
    "before_tool_callback": ("tool", "args", "tool_context"),
    "after_tool_callback": ("tool", "args", "tool_context", "tool_response"),
    "on_tool_error_callback": ("tool", "args", "tool_context", "error"),
}
# From this version on, `_invoke_callback` gives by position what cannot be given by name.
BY_POSITION = Version("2.9.0")
_GIVEN = {
    "callback_context": "google.adk.agents.callback_context.CallbackContext",
    "tool_context": "google.adk.tools.ToolContext",
    "llm_request": "google.adk.models.LlmRequest",
    "llm_response": "google.adk.models.LlmResponse",
}
_PASSING = frozenset({"tools", "func", *CALLED})


def given_to_functions(document: PythonDocument, top: str) -> dict[int, str]:
    """The classes of parameters without an annotation that agents give to tools and callbacks of a document.

    Args:
        document: Some code.
        top: What the import paths of agents begin with.

    Returns:
        The path of the class, by the id of the binding of the parameter.
    """
    found: dict[int, str] = {}
    each = ((key, [one for one in call.keywords if one.arg in _PASSING]) for key, call in document.calls.items())
    passing = {key: keywords for key, keywords in each if keywords}
    for mention in document.mentions if passing else ():
        wanted = passing.get(id(mention.expression))
        if not wanted:
            continue
        root = mention.scope.lookup((dotted_name(mention.expression) or "").partition(".")[0], mention.line)
        if root is None or (root[0].imported or "").partition(".")[0] != top:
            continue
        for keyword in wanted:
            for _, node, scope, _ in passed_functions(document, keyword.value, mention):
                plain = {one.name for one in parameters(node.args) if one.can_be_named}
                if scope is not None:
                    found |= {id(scope.bindings[name][0]): _GIVEN[name] for name in plain & _GIVEN.keys()}
    return found


def passed_functions(
    document: PythonDocument, value: ast.expr, mention: Mention
) -> Iterator[tuple[ast.expr, Function | ast.Lambda, Scope | None, bool]]:
    """The functions of a document that a value is, or a list of them: where each is named, its node and its scope, and
    whether its first parameter is given already.

    Left out are functions behind a decorator but `staticmethod`, and names that are bound again.
    """
    for each in value.elts if isinstance(value, ast.List) else [value]:
        home, name, is_object = None, "", True
        match each:
            case ast.Lambda():
                yield each, each, None, False
            case ast.Name(id=name):
                known = mention.scope.lookup(name, mention.line)
                home = known[1] if known else None
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                home, is_object = _class_of(owner, mention)
                home = None if home is None or name in home.attributes else home
            case _:
                pass
        if home is None or len(home.bindings.get(name, ())) != 1:
            continue
        for scope in document.scopes:
            node = scope.node if scope.parent is home and scope.name == name else None
            if not isinstance(node, Function):
                continue
            is_static = [dotted_name(one) for one in node.decorator_list] == ["staticmethod"]
            if is_static or not node.decorator_list:
                yield each, node, scope, home.is_class and is_object and not is_static


def _class_of(name: str, mention: Mention) -> tuple[Scope | None, bool]:
    """The class of the document that a name means, or means an object of, and whether it is an object."""
    known = mention.scope.lookup(name, mention.line)
    if known is None or len(known[1].bindings[name]) != 1:
        return None, True
    match known[0].value:
        case ast.Call(func=ast.Name(id=made)):
            made_of = mention.scope.lookup(made, mention.line)
            return (made_of[0].owner if made_of and made_of[0].is_class else None), True
        case _:
            return known[0].owner, not known[0].is_class


def takes(node: Function | ast.Lambda, names: tuple[str, ...], version: Version, *, bound: bool) -> bool:
    """Whether a callback can be called with arguments of some names in a version; `bound`: its first one is given."""
    own = Parameters.of_code(node.args, bound=bound)
    by_name = own.required <= {*own.named} & {*names} and (own.any_named or {*names} <= {*own.named})
    first = own.positional[: len(names)]
    by_position = own.required <= {*first} and (own.any_positional or len(first) == len(names))
    return by_name or (by_position and version >= BY_POSITION)
