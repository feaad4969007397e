"""What one file of a distribution says of its public API, read without importing anything.

The payloads are those of the table of versions (`adk_evidence.api.table`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from adk_evidence.api.constructors import field_call, given_default, is_shared, options_of, passes_on, reads_before
from adk_evidence.api.deprecations import deprecation, field_deprecation, module_deprecation
from adk_evidence.api.module import ModuleText
from adk_evidence.api.signatures import CONTEXT_MANAGERS, yields_asynchronously
from adk_evidence.api.table import BEFORE, OF_CLASS, PASSED_ON, YIELDS
from adk_evidence.readers.annotations import said_type
from adk_evidence.readers.python import (
    PROPERTIES,
    Definition,
    Function,
    absolute,
    blocks,
    bound_names,
    clip,
    decorator_names,
    dotted_name,
    imports,
    is_type_checking,
    last_name,
    own_nodes,
    parameters,
    scope_blocks,
    walk,
)

MAX_TEXT_CHARS = 240
# What a module that binds names in other ways than by statements calls.
_BINDING = frozenset({"globals", "locals", "vars", "exec"})
_DYNAMIC = frozenset({"__new__", "__getattr__", "__getattribute__"})
_METACLASSES = (None, "ABCMeta", "abc.ABCMeta")


@dataclass
class ClassFacts:
    """The flags of a class, and its bases as they stand in the file; None of what is no name."""

    flags: str
    bases: tuple[str | None, ...]


@dataclass
class ModuleFacts:
    """What a file says alone.

    `defined` are payloads by qualified name, classes apart in `classes`. `bound` are dotted paths that imports and lazy
    tables give to names, `aliases` the dotted expressions that variables are another name for. `stars` are modules
    whose names are all taken over. `named` are names that the module gives without saying where they come from. An
    `open` module may have any other names, too. `types` are dotted names of the classes that members and results are
    of, as `said_type` gives them; `typing` is what only type checkers see, as `bound`.
    """

    name: str
    defined: dict[str, str] = field(default_factory=dict)
    classes: dict[str, ClassFacts] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    listed: frozenset[str] | None = None
    deprecated: dict[str, str] = field(default_factory=dict)
    open: bool = False
    types: dict[str, str] = field(default_factory=dict)
    typing: dict[str, str] = field(default_factory=dict)

    @property
    def at_top(self) -> set[str]:
        """The names at the top of the file, but for those of modules whose names are all taken over."""
        return {
            name
            for found in (self.defined, self.classes, self.bound, self.aliases)
            for name in found
            if "." not in name
        }

    def defines(self, name: str) -> bool:
        """Whether the file gives a name at its top that it does not import."""
        return any(name in found for found in (self.defined, self.classes, self.aliases, self.named))

    def binds(self, name: str) -> bool:
        """Whether the file itself gives a name at its top."""
        return name in self.bound or self.defines(name)


def read_module(module: ModuleText) -> ModuleFacts | None:
    """The facts of a file, or None where the file is not Python."""
    tree = module.tree
    if tree is None:
        return None
    # A stub need not say all.
    facts = ModuleFacts(module.name, open=module.path.endswith(".pyi"))
    _Reader(module, facts).read(tree)
    return facts


class _Reader:
    def __init__(self, module: ModuleText, facts: ModuleFacts) -> None:
        self._module = module
        self._facts = facts
        self._tables: dict[str, ast.Dict] = {}
        self._lists: dict[str, set[str]] = {}
        self._texts: dict[str, str] = {}
        self._lazy: list[ast.AST] = []
        self._seen: set[str] = set()

    def read(self, tree: ast.Module) -> None:
        self._block(tree.body)
        self._add_lazy()
        if not self._lazy:
            run = (part for node in tree.body if not isinstance(node, Definition) for part in walk(node))
            self._facts.open |= any(isinstance(part, ast.Name) and part.id in _BINDING for part in run)
        if text := module_deprecation(tree):
            self._deprecate("", text)

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        for node in statements:
            match node:
                case ast.Import() | ast.ImportFrom():
                    for name, path in imports(node, self._module.package).items():
                        if name.startswith("*"):
                            self._facts.stars.append(path)
                        elif path.partition(".")[0] != "__future__":
                            self._forget(name)
                            self._facts.bound[name] = path
                case ast.ClassDef():
                    self._forget(node.name)
                    self._class(node, node.name)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    if node.name == "__getattr__":
                        self._lazy.append(node)
                    self._function(node, node.name, method=False)
                case ast.Assign() | ast.AnnAssign():
                    self._assignment(node)
                case ast.AugAssign(target=ast.Name(id="__all__"), value=value):
                    self._facts.listed = (self._facts.listed or frozenset()) | self._listed(value)
                case ast.If():
                    # What only type checkers see cannot be imported.
                    if not is_type_checking(node.test):
                        self._block(node.body)
                    else:
                        self._facts.typing |= imports(node, self._module.package)
                    if not (isinstance(node.test, ast.UnaryOp) and is_type_checking(node.test.operand)):
                        self._unless_bound(node.orelse)
                case ast.For() | ast.While():
                    self._block(node.body)
                case ast.Try() | ast.With():
                    first, *others = blocks(node)
                    self._block(first)
                    for other in others:
                        self._unless_bound(other)

    def _unless_bound(self, statements: list[ast.stmt]) -> None:
        """An alternative: what the likelier branch binds stays as that branch has it."""
        other = _Reader(self._module, ModuleFacts(self._module.name))
        other._block(statements)
        ours, theirs = self._facts, other._facts
        new = {name for name in theirs.at_top if not ours.binds(name)}
        for kind in ("bound", "aliases", "defined", "classes", "deprecated", "types"):
            found = getattr(theirs, kind).items()
            getattr(ours, kind).update({name: said for name, said in found if name.partition(".")[0] in new})
        ours.stars += theirs.stars
        self._lazy += other._lazy
        self._tables = {**other._tables, **self._tables}

    def _forget(self, name: str) -> None:
        """A later statement binds the name anew."""
        facts = self._facts
        for found in (facts.bound, facts.aliases):
            found.pop(name, None)
        # Most names are bound once, and a module may have ten thousand.
        if not (name in self._seen or name in facts.defined or name in facts.classes):
            self._seen.add(name)
            return
        for members in (facts.defined, facts.classes, facts.deprecated, facts.types):
            for known in [known for known in members if known == name or known.startswith(f"{name}.")]:
                del members[known]

    def _assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        value = node.value
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Tuple) and any(getattr(item, "id", "") == "__getattr__" for item in target.elts):
                self._lazy.append(node)
        for name in _unpacked(targets):
            self._forget(name)
            self._facts.defined[name] = "v"
        # A stub says no values.
        for name in bound_names(node) if value is not None or self._module.path.endswith(".pyi") else ():
            self._forget(name)
            if isinstance(value, ast.Dict):
                self._tables[name] = value
            if isinstance(value, ast.Set | ast.List | ast.Tuple):
                self._lists[name] = _strings(value)
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                self._texts[name] = value.value
            if name == "__all__":
                listed = self._listed(value)
                self._facts.listed = listed if listed or isinstance(value, ast.List | ast.Tuple) else None
            if name == "__getattr__":
                self._lazy.append(node)
            other = dotted_name(value)
            if other is not None and other != name:
                self._facts.aliases[name] = other
            else:
                self._facts.defined[name] = "v"

    def _listed(self, value: ast.AST | None) -> frozenset[str]:
        """The strings of a list, and the keys of the tables that it is made of: `list(_LAZY_MAPPING.keys())`."""
        nodes = list(ast.walk(value)) if value is not None else []
        tables = (self._tables[node.id] for node in nodes if isinstance(node, ast.Name) and node.id in self._tables)
        keys = {text for table in tables for text in lazy_table(self._module.package, table)}
        return frozenset(keys.union(*map(_strings, nodes)))

    def _function(self, node: Function, name: str, *, method: bool) -> None:
        decorators = decorator_names(node)
        if "overload" in decorators or decorators & {"setter", "deleter"}:
            return
        self._forget(name)
        if method and decorators & PROPERTIES:
            self._facts.defined[name] = "p"
        else:
            # What a context manager gives is entered, not awaited.
            is_awaited = isinstance(node, ast.AsyncFunctionDef) and decorators.isdisjoint(CONTEXT_MANAGERS)
            kind = "a" if is_awaited else "f"
            bare = method and "staticmethod" not in decorators
            self._facts.defined[name] = f"{kind}:{_parameters(node.args, bare=bare, passed_on=passes_on(node))}"
            if method and decorators & {"staticmethod", "classmethod"}:
                self._facts.defined[f"{name}{OF_CLASS}"] = "y"
            if kind == "a" and yields_asynchronously(node):
                self._facts.defined[f"{name}{YIELDS}"] = "y"
        self._type(name, node.returns)
        if text := deprecation(node):
            self._deprecate(name, text)

    def _type(self, name: str, annotation: ast.expr | None) -> None:
        if annotation is not None and (said := said_type(annotation)):
            self._facts.types[name] = said

    def _class(self, node: ast.ClassDef, name: str) -> None:
        flags = "d" if "dataclass" in decorator_names(node) else ""
        bases = tuple(dotted_name(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases)
        options = {item.arg: item.value for item in node.keywords if item.arg}
        defined = self._facts.defined
        # What metaclasses and these methods do with the class or its attributes is not known.
        names = {member.name for member in node.body if isinstance(member, Function)}
        if not names.isdisjoint(_DYNAMIC) or dotted_name(options.get("metaclass")) not in _METACLASSES:
            bases = (*bases, None)
        is_partial = isinstance(options.get("total"), ast.Constant)
        before: set[str] = set()
        set_here: dict[str, set[str]] = {}
        for block in scope_blocks(node):
            for member, following in zip(block, [*block[1:], None], strict=True):
                match member:
                    case ast.ClassDef() if not member.name.startswith("_"):
                        self._class(member, f"{name}.{member.name}")
                    case ast.FunctionDef() | ast.AsyncFunctionDef() if (
                        member.name[0] != "_" or member.name == "__init__"
                    ):
                        self._function(member, f"{name}.{member.name}", method=True)
                    case ast.Assign() | ast.AnnAssign():
                        for bound in bound_names(member):
                            if bound == "model_config":
                                options |= options_of(member.value)
                                flags += "" if isinstance(member.value, ast.Call | ast.Dict) else "x"
                            elif not bound.startswith("_"):
                                payload = _field(member)
                                defined[f"{name}.{bound}"] = "o:" if is_partial and payload == "r:" else payload
                                self._type(f"{name}.{bound}", getattr(member, "annotation", None))
                                if text := field_deprecation(member, following):
                                    self._deprecate(f"{name}.{bound}", text)
                if isinstance(member, Function):
                    for attribute, said in _set_on_self(member):
                        defined.setdefault(f"{name}.{attribute}", "s")
                        set_here.setdefault(attribute, set()).add(said)
                    if reads_before(member):
                        before |= {text for part in member.body for text in _strings(part) if text.isidentifier()}
        for attribute, kinds in set_here.items():
            if len(kinds - {"None"}) == 1 and defined[f"{name}.{attribute}"] == "s":
                self._facts.types[f"{name}.{attribute}"] = max(kinds - {"None"})
        if before:
            defined[f"{name}{BEFORE}"] = f"b:{', '.join(sorted(before))}"
        if isinstance(options.get("extra"), ast.Constant) and getattr(options["extra"], "value", None) == "allow":
            flags += "x"
        if "alias_generator" in options:
            flags += "k"
        if "__setattr__" in names:
            flags += "s"
        if any(isinstance(member, Function) and _enters_itself(member, node.name) for member in node.body):
            flags += "e"
        self._facts.classes[name] = ClassFacts(flags, bases)
        self._facts.deprecated.pop(f"{name}.__init__", None)
        if text := deprecation(node):
            self._deprecate(name, text)

    def _deprecate(self, name: str, text: str) -> None:
        self._facts.deprecated[name] = clip(" ".join(text.split()), MAX_TEXT_CHARS)

    def _add_lazy(self) -> None:
        """The names that a `__getattr__` of the module answers to."""
        if not self._lazy:
            return
        facts, package = self._facts, self._module.package
        tables = list(self._tables.values())
        for node in self._lazy:
            tables += [found for found in ast.walk(node) if isinstance(found, ast.Dict)]
        for table in tables:
            for name, path in lazy_table(package, table).items():
                if not facts.binds(name):
                    facts.bound[name] = path
        is_said = len(tables) > len(self._tables) or any(lazy_table(package, table) for table in tables)
        facts.open |= not (is_said or any(map(self._answered, self._lazy)))
        for node in self._lazy:
            inner = imports(node, package)
            modules = self._imported_modules(node)
            for name in sorted(self._answered(node)):
                if facts.binds(name):
                    continue
                if name in inner:
                    facts.bound[name] = inner[name]
                elif len(modules) == 1:
                    facts.bound[name] = f"{modules[0]}.{name}"
                else:
                    facts.named.add(name)

    def _answered(self, node: ast.AST) -> set[str]:
        """The strings that a function compares its parameter with."""
        found: set[str] = set()
        for compared in ast.walk(node):
            if isinstance(compared, ast.match_case):
                found |= _strings(compared.pattern)
            if isinstance(compared, ast.Compare) and isinstance(compared.left, ast.Name):
                for operator, value in zip(compared.ops, compared.comparators, strict=True):
                    if isinstance(operator, ast.Eq | ast.In):
                        found |= _strings(value)
                        found |= self._lists.get(value.id, set()) if isinstance(value, ast.Name) else set()
        return {name for name in found if name.isidentifier() and not name.startswith("_")}

    def _imported_modules(self, node: ast.AST) -> list[str]:
        """The modules that a function imports by `import_module`."""
        found: list[str] = []
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and (dotted_name(call.func) or "").endswith("import_module") and call.args:
                match call.args[0]:
                    case ast.Constant(value=str(path)):
                        found.append(absolute(self._module.package, path))
                    case ast.Name(id=name) if name in self._texts:
                        found.append(absolute(self._module.package, self._texts[name]))
                    case ast.JoinedStr(
                        values=[ast.FormattedValue(value=ast.Name(id="__name__")), ast.Constant(value=str(end))]
                    ):
                        found.append(f"{self._module.name}{end}")
        return found


def _enters_itself(method: Function, cls: str) -> bool:
    """Whether a `with` gives the object itself of a class."""
    return method.name in ("__enter__", "__aenter__") and (
        (method.returns is not None and said_type(method.returns) in ("Self", "typing.Self", cls))
        or [dotted_name(node.value) for node in own_nodes(method) if isinstance(node, ast.Return)] == ["self"]
    )


def _strings(node: ast.AST) -> set[str]:
    return {item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)}


def _parameters(arguments: ast.arguments, *, bare: bool, passed_on: bool = False) -> str:
    """Parameters as the table writes them; `bare` leaves the first out, which is bound, `passed_on` is `passes_on`."""
    given = parameters(arguments)
    found: list[str] = []
    for place, item in enumerate(given):
        before = given[place - 1].kind if place else None
        if before == "positional only" != item.kind:
            found.append("/")
        if item.kind == "named" and before not in ("rest", "named"):
            found.append("*")
        sign = {"rest": "*", "more": "**"}.get(item.kind, "")
        found.append(f"{sign}{item.name}{'=' if item.default is not None else ''}")
    if given and given[-1].kind == "positional only":
        found.append("/")
    if bare and given and given[0].is_positional:
        found = found[2:] if found[1:2] == ["/"] else found[1:]
    if passed_on:
        found[-1] = PASSED_ON
    return ", ".join(found)


def _field(node: ast.Assign | ast.AnnAssign) -> str:
    """The payload of a variable of a class."""
    if isinstance(node, ast.Assign):
        return "v"
    if is_shared(node.annotation):
        return "v"
    said, call = node.annotation, node.value
    around = last_name(said.value) if isinstance(said, ast.Subscript) else ""
    if around == "Annotated" and field_call(call) is None:
        call = next((part for part in walk(said) if isinstance(part, ast.Call) and field_call(part) is not None), call)
    options = field_call(call)
    if options is None:
        return "r:" if node.value is None and around != "NotRequired" else "o:"
    if isinstance(options.get("init"), ast.Constant) and getattr(options["init"], "value", None) is False:
        return "n"
    alias = next((options[name] for name in ("validation_alias", "alias") if name in options), None)
    other = alias.value if isinstance(alias, ast.Constant) and isinstance(alias.value, str) else ""
    # No call can name what is no identifier.
    other = other if other.isidentifier() else ""
    given = isinstance(call, ast.Call) and (call is not node.value is not None or given_default(call) is not None)
    return f"{'o' if given or 'default_factory' in options else 'r'}:{other}"


def _set_on_self(method: Function) -> Iterator[tuple[str, str]]:
    """The public attributes that a method sets, each with what is said of its type, as `said_type` does."""
    plain = (item for item in parameters(method.args) if item.kind not in ("rest", "more"))
    given = {item.name: item.node.annotation for item in plain}
    said: dict[int, str] = {}
    # What holds a target comes before the target.
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=targets, value=value):
                said |= dict.fromkeys(map(id, targets), _type_of(value, given))
            case ast.AnnAssign(target=target, annotation=annotation):
                said[id(target)] = said_type(annotation)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if not name.startswith("_"):
                yield name, said.get(id(node), "")


def _type_of(value: ast.expr | None, given: Mapping[str, ast.expr | None]) -> str:
    """The type of a value of a method: of a parameter, of one with another value in its place, of what is made here."""
    match value:
        case ast.Name(id=name) | ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), *_]):
            annotation = given.get(name)
            return said_type(annotation) if annotation is not None else ""
        case ast.Call(func=function):
            return dotted_name(function) or ""
        case ast.Constant(value=None):
            return "None"
        case _:
            return ""


def _unpacked(targets: Iterable[ast.expr]) -> Iterator[str]:
    """The names that an assignment to several names at once binds."""
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id


def lazy_table(package: str, table: ast.Dict) -> dict[str, str]:
    """Origins in a dict of lazy imports: name to module, or name to (module, attribute). Lists are passed over."""
    found: dict[str, str] = {}
    for key, value in zip(table.keys, table.values, strict=True):
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        parts = [part for part in parts if not isinstance(part, ast.List)]
        texts = [part.value for part in (key, *parts) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if len(texts) == len(parts) + 1 and len(texts) in (2, 3):
            module = texts[1] if "." in texts[1] else f".{texts[1]}"
            found[texts[0]] = f"{absolute(package, module)}.{texts[-1] if len(texts) == 3 else texts[0]}"
    return found
