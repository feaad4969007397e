"""The public symbols of modules, read with griffe and without importing anything.

Private symbols, and symbols that their docstrings call internal, are left out. What a private module defines is public
if a package exports it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adk_evidence.api.constructors import (
    Takes,
    constructor,
    default,
    field_text,
    is_deprecated,
    is_shared,
    shortcuts,
    takes,
)
from adk_evidence.api.deprecations import deprecated_parameters, deprecation, docstring_deprecation
from adk_evidence.api.module import ModuleText
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import (
    Definition,
    Function,
    bound_names,
    clip,
    first_line,
    last_line,
    scope_blocks,
    unparse,
)
from adk_evidence.targets.target import RankParts, Target, TargetType
from adk_evidence.text.identifiers import is_private

if TYPE_CHECKING:
    import griffe

MAX_SUMMARY_CHARS = 600
# A shorter summary, such as "Runs an agent.", goes on with the next paragraph.
ENOUGH_SUMMARY_CHARS = 120
# Of a symbol itself, for whoever asks what it takes; of a member, in the list of its class.
MAX_OWN_SIGNATURE_CHARS = 1200
MAX_SIGNATURE_CHARS = 300
MAX_SIGNATURES = 60
MAX_VALUE_CHARS = 80

_CONTEXT_MANAGERS = {"contextmanager", "asynccontextmanager"}
_INTERNAL = re.compile(
    r"internal (?:framework |adk )*use only|for internal use|not part of the public api|internal to the framework"
    r"|not (?:intended|meant) for public use|@internal|private helper",
    re.IGNORECASE,
)
_WILL_BE_DEPRECATED = re.compile(r"\bwill be deprecated\b", re.IGNORECASE)
# What escapes put into a docstring but no file can hold: control characters, lone surrogates.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
# A paragraph of prose, not a section (`Args:`), list, directive, example or code.
_PROSE = re.compile(r"(?!\s*\w[\w ]*:\s*\n)[A-Za-z`\"'(][^\n]*")
# The value of another name (`Agent = LlmAgent`) or of an instance (`google_search = GoogleSearchTool()`).
_VALUE = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?:\(.*\))?", re.DOTALL)

_Assignment = ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class PublicSymbol:
    """A public symbol before it is ranked.

    `target` has no score yet. `definition` is the qualified name where the symbol stands in the code, which may be
    private; `target.fqn` is then the import path. `value` is the dotted name in a variable's value, as it stands there.
    `takes` says of a class with a constructor of its own how that takes its arguments.
    """

    target: Target
    module: str
    definition: str
    value: str | None
    takes: Takes | None = None

    @property
    def definition_owner(self) -> str:
        """Qualified name of the outermost class, or of the symbol itself."""
        inside = self.definition.removeprefix(f"{self.module}.")
        return f"{self.module}.{inside.partition('.')[0]}"

    def imported_from(self, paths: Mapping[str, str]) -> PublicSymbol:
        """The symbol with the import path that `paths` gives to its definition or to that of its class, if any."""
        path = paths.get(self.definition_owner)
        if path is None:
            return self
        member = self.target.symbol.partition(".")[2]
        target = self.target.model_copy(update={"import_path": f"{path}.{member}" if member else path})
        return replace(self, target=target)


def public_symbols(
    modules: Sequence[ModuleText],
    exports: Mapping[str, str],
    elsewhere: Mapping[str, str],
    aliases: Collection[str] = (),
) -> Iterator[PublicSymbol]:
    """Every public symbol of the modules, each once.

    Args:
        modules: The corpus; a module that does not parse has no symbols.
        exports: Fully qualified name to public import path of what packages export.
        elsewhere: The same for private definitions that are imported from somewhere else (`public_paths`).
        aliases: Fully qualified names of variables that are other names of classes, and public without a docstring.
    """
    import griffe

    for module in modules:
        try:
            tree = griffe.visit(module.name, filepath=Path(module.path), code=module.text)
            found = list(_module_symbols(module, tree, exports, elsewhere, aliases))
        except (SyntaxError, ValueError, RecursionError, MemoryError, griffe.GriffeError):
            continue
        yield from found


def _module_symbols(
    module: ModuleText,
    tree: griffe.Module,
    exports: Mapping[str, str],
    elsewhere: Mapping[str, str],
    aliases: Collection[str],
) -> Iterator[PublicSymbol]:
    internal = _is_internal(_docstring(tree))
    for name, member in tree.members.items():
        fqn = f"{module.name}.{name}"
        public = exports.get(fqn) or elsewhere.get(fqn) or fqn
        if is_private(public) or (internal and fqn not in exports) or not _is_defined_here(member):
            continue
        if member.is_attribute and fqn not in exports and fqn not in aliases and member.docstring is None:
            continue
        yield from _symbol_and_members(module, name, member, public, exported=fqn in exports)


def _symbol_and_members(
    module: ModuleText,
    definition: str,
    member: Any,
    public: str,
    *,
    exported: bool,
    deprecated: bool = False,
    statement: _Assignment | None = None,
) -> Iterator[PublicSymbol]:
    """A symbol, called `definition` in its module and imported as `public`, and what is public inside it.

    `exported` says whether a package exports the symbol or its class, `deprecated` whether its class is deprecated.
    `statement` is what assigns a field of a class.
    """
    doc = _docstring(member, statement)
    if _is_internal(doc):
        return
    deprecated = deprecated or _is_deprecated(module, definition, member, doc, statement)
    fqn = f"{module.name}.{definition}"
    # The public name may be another one than that of the definition.
    depth = definition.count(".") + 1
    symbol = ".".join(public.split(".")[-depth:])
    name = symbol.rpartition(".")[2]
    members = _members(member)
    node = module.classes.get(definition) if member.is_class else None
    made_by = constructor(node) if node is not None else None
    assigned = _assignments(node) if node is not None else {}
    own = _signature(member, name, statement, takes(made_by) if made_by is not None else None)
    inside = (_signature(inner, called, assigned.get(called)) for called, inner in members[:MAX_SIGNATURES])
    parts = RankParts(centrality=0, docs_mentions=0, documented=0, exported=exported, deprecated=deprecated, weight=0)
    target = Target(
        rank=0,
        score=0,
        fqn=public if is_private(fqn) else fqn,
        name=name,
        symbol=symbol,
        type=_type(member, symbol),
        import_path=public,
        summary=_summary(doc),
        signatures=(clip(own, MAX_OWN_SIGNATURE_CHARS), *(clip(text, MAX_SIGNATURE_CHARS) for text in inside)),
        shortcuts=shortcuts(node) if node is not None else (),
        deprecated_parameters=_deprecated_parameters(made_by, doc),
        path=module.path,
        lines=_lines(member, statement),
        parts=parts,
    )
    yield PublicSymbol(target, module.name, fqn, _value(member), takes(made_by) if made_by is not None else None)
    for inner_name, inner in members:
        statement = assigned.get(inner_name)
        # A field that nothing is said of has nothing but its signature, which its class lists.
        if inner.is_attribute and "property" not in inner.labels and not _docstring(inner, statement):
            continue
        yield from _symbol_and_members(
            module,
            f"{definition}.{inner_name}",
            inner,
            f"{public}.{inner_name}",
            exported=exported,
            deprecated=deprecated,
            statement=statement,
        )


def _deprecated_parameters(made_by: Function | None, doc: str) -> tuple[str, ...]:
    """Those of the constructor of a class, and of what has this docstring."""
    made_with = ast.get_docstring(made_by, clean=False) if made_by is not None else None
    return deprecated_parameters(f"{made_with or ''}\n\n{doc}")


def _assignments(node: ast.ClassDef) -> dict[str, _Assignment]:
    """The statements of a class that give names to its fields."""
    found = (item for block in scope_blocks(node) for item in block if isinstance(item, _Assignment))
    return {name: item for item in found for name in bound_names(item)}


def field_signatures(node: ast.ClassDef) -> Iterator[str]:
    """The fields that a class assigns and does not call private, as `name: type = value`."""
    for name, statement in list(_assignments(node).items())[:MAX_SIGNATURES]:
        if not name.startswith("_"):
            annotation = f": {unparse(statement.annotation)}" if isinstance(statement, ast.AnnAssign) else ""
            yield clip(_field(name, annotation, statement), MAX_SIGNATURE_CHARS)


def _field(name: str, annotation: str, statement: _Assignment) -> str:
    value = default(statement.value)
    return as_text(f"{name}{annotation}{f' = {value}' if value else ''}")


def _lines(member: Any, statement: _Assignment | None) -> LineSpan:
    if statement is not None:
        return LineSpan(start=first_line(statement), end=last_line(statement))
    return LineSpan(start=member.lineno or 1, end=member.endlineno or member.lineno or 1)


def _members(owner: Any) -> list[tuple[str, Any]]:
    inside = owner.members.items() if owner.is_class else ()
    return [(name, inner) for name, inner in inside if not name.startswith("_") and _is_defined_here(inner)]


def _is_defined_here(member: Any) -> bool:
    return not member.is_alias and (member.is_class or member.is_function or member.is_attribute)


def _type(member: Any, symbol: str) -> TargetType:
    if member.is_class:
        return "class"
    if member.is_function:
        return "method" if "." in symbol else "function"
    if "property" in member.labels:
        return "property"
    return "attribute" if "." in symbol else "variable"


def _docstring(member: Any, statement: _Assignment | None = None) -> str:
    """The docstring; of a field without one, what `Field(description=...)` says."""
    said = member.docstring.value if member.docstring is not None else ""
    if not said and statement is not None:
        said = field_text(statement.value)
    return _NOT_TEXT.sub("\ufffd", str(said)).strip()


def _summary(doc: str) -> str:
    """The first paragraph of a docstring, and the prose that follows while it is short."""
    first, *others = doc.split("\n\n")
    summary = " ".join(first.split())
    for paragraph in others:
        if len(summary) >= ENOUGH_SUMMARY_CHARS or not _PROSE.match(paragraph):
            break
        summary = f"{summary} {' '.join(paragraph.split())}"
    return clip(summary, MAX_SUMMARY_CHARS)


def _is_internal(doc: str) -> bool:
    return bool(_INTERNAL.search(" ".join(doc.split())))


def _is_deprecated(module: ModuleText, definition: str, member: Any, doc: str, statement: _Assignment | None) -> bool:
    if statement is not None and (is_deprecated(statement.value) or _WILL_BE_DEPRECATED.search(doc)):
        return True
    # Of a property, the setter alone may be deprecated.
    nodes = (node for node in module.statements.get(definition, ()) if first_line(node) == member.lineno)
    said = (deprecation(node) for node in nodes if isinstance(node, Definition))
    return docstring_deprecation(doc) is not None or any(said)


def _decorators(member: Any) -> set[str]:
    """The names of a definition's decorators, without modules and arguments."""
    return {str(item.value).partition("(")[0].rpartition(".")[2] for item in getattr(member, "decorators", ())}


def _signature(member: Any, name: str, statement: _Assignment | None = None, made_by: Takes | None = None) -> str:
    if member.is_class:
        bases = ", ".join(str(base) for base in member.bases)
        made = member.members.get("__init__") if made_by != "as the next class" else None
        if made is not None and not made.is_alias and made.is_function:
            return as_text(made.signature(return_type=False, name=name))
        return f"class {name}({bases})" if bases else f"class {name}"
    if member.is_function:
        # Whoever calls the function must know whether to await the result, or to enter it.
        said = "async " if "async" in member.labels else ""
        said += "with " if _decorators(member) & _CONTEXT_MANAGERS else ""
        return said + as_text(member.signature(name=name))
    annotation = f": {member.annotation}" if member.annotation else ""
    if statement is not None:
        # A method may assign the attribute as well; what the class says of it counts.
        if isinstance(statement, ast.AnnAssign) and is_shared(statement.annotation):
            # griffe leaves out that all instances share it.
            annotation = f": {unparse(statement.annotation)}"
        return _field(name, annotation, statement)
    # `self.name = name` says nothing of the value.
    has_value = "property" not in member.labels and member.value is not None and str(member.value) != name
    value = f" = {member.value}" if has_value else ""
    return as_text(f"{name}{annotation}{value if len(value) <= MAX_VALUE_CHARS else ' = ...'}")


def as_text(text: str) -> str:
    """A text of the corpus on one line, without what no file can hold."""
    return _NOT_TEXT.sub("\ufffd", " ".join(text.split()))


def _value(member: Any) -> str | None:
    if not member.is_attribute or member.value is None:
        return None
    match = _VALUE.fullmatch(str(member.value))
    return match["name"] if match else None
