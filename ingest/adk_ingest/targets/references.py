"""Which definitions the code and the docs refer to: where they are imported from, and how central they are."""

from __future__ import annotations

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adk_evidence.api.bases import with_bases
from adk_evidence.api.module import ModuleText
from adk_evidence.readers.pages.snippets import shown_imports
from adk_evidence.readers.python import Definition, bound_names, dotted_name, imports, statements
from adk_evidence.text.identifiers import is_private

DAMPING = 0.85
TOLERANCE = 1e-10
MAX_ITERATIONS = 200
# Longest chain of re-exports that is followed.
MAX_HOPS = 12

_BUILTINS = frozenset(dir(builtins))
_WITHOUT_MEMBERS = frozenset({"ABC", "Generic", "Protocol", "object"})


class ReferenceGraph:
    """Definitions at the top of modules, and which of them refers to which.

    A module is a node as well; it stands for its imports and for code outside of definitions. The imports of an
    `__init__.py` are not references, since packages export by them. `class_aliases` are the variables that are merely
    other names of classes: `ToolContext = Context`.

    Args:
        modules: The corpus.
        exports: Fully qualified name to public import path; resolves what packages load lazily.
    """

    def __init__(self, modules: Sequence[ModuleText], exports: Mapping[str, str]) -> None:
        parsed = {module.name: (module, module.tree) for module in modules if module.tree is not None}
        self._bindings = {name: imports(tree, module.package) for name, (module, tree) in parsed.items()}
        self._definitions = {f"{name}.{symbol}" for name, (_, tree) in parsed.items() for symbol in _defined(tree)}
        # The last module and the name of each.
        self._tails = {".".join(one.split(".")[-2:]) for one in self._definitions}
        self._origins = {public: fqn for fqn, public in exports.items()}
        for name, bindings in self._bindings.items():
            self._origins.update({f"{name}.{bound}": path for bound, path in bindings.items()})
        self.edges: set[tuple[str, str]] = set()
        self._bases: dict[str, list[str]] = {}
        # The module of each class and the bases as they are named there.
        self._named_bases: dict[str, tuple[str, list[str]]] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        self._models: set[str] = set()
        for module, tree in parsed.values():
            self._add(module, tree)
        self.class_aliases = frozenset(
            alias for module, tree in parsed.values() for alias in self._find_aliases(module.name, tree)
        )

    def resolve(self, module: str, dotted: str) -> str | None:
        """The definition that a dotted name means in a module, or None: `agents.LlmAgent.model` is the class."""
        first, _, rest = dotted.partition(".")
        local = f"{module}.{first}"
        base = local if local in self._definitions else self._bindings.get(module, {}).get(first)
        return self.resolve_path(f"{base}.{rest}" if rest else base) if base else None

    def resolve_path(self, path: str) -> str | None:
        """The definition that an importable path means, re-exports followed, or None.

        A path of a member means its class.
        """
        for _ in range(MAX_HOPS):
            known = path
            while known and known not in self._definitions and known not in self._origins:
                known = known.rpartition(".")[0]
            if not known or known in self._definitions:
                return known or None
            path = f"{self._origins[known]}{path[len(known) :]}"
        return None

    def ancestors(self, definition: str) -> list[str]:
        """The definitions that a class inherits from, in the order in which Python looks a member up."""
        return with_bases(definition, lambda one: self._bases.get(one, ()))[1:]

    def outer_bases(self, definition: str) -> list[str]:
        """What a class and its bases inherit from other packages and from Python, e.g. `pydantic.BaseModel`.

        What gives a class no members of its own, such as `abc.ABC`, is left out.
        """
        found: list[str] = []
        for one in (definition, *self.ancestors(definition)):
            module, named = self._named_bases.get(one, ("", []))
            for name in named:
                first, _, rest = name.partition(".")
                path = self.elsewhere(module, first)
                path = f"{path}.{rest}" if path and rest else path or (name if name in _BUILTINS else "")
                if path and path.rpartition(".")[2] not in _WITHOUT_MEMBERS:
                    found.append(path)
        return list(dict.fromkeys(found))

    def class_of(self, definition: str) -> ast.ClassDef | None:
        """The class that a definition at the top of a module is, or None."""
        return self._classes.get(definition)

    def is_model(self, definition: str) -> bool:
        """Whether a class is a model of pydantic, whose fields are what its constructor takes."""
        return any(one in self._models for one in (definition, *self.ancestors(definition)))

    def imported(self, module: str, dotted: str) -> str | None:
        """The importable path that a dotted name means in a module by an import of the module, or None."""
        first, dot, rest = dotted.partition(".")
        base = self._bindings.get(module, {}).get(first)
        return f"{base}{dot}{rest}" if base else None

    def elsewhere(self, module: str, name: str) -> str | None:
        """The importable path of another package that a name means in a module, re-exports followed, or None."""
        path = self.imported(module, name)
        for _ in range(MAX_HOPS):
            if path not in self._origins:
                break
            path = self._origins[path]
        # `from runners import Runner` in a package means its own module, which only its own folder makes importable.
        if path is None or path in self._origins or path in self._tails:
            return None
        parts = path.split(".")
        return None if any(".".join(parts[:end]) in self._bindings for end in range(1, len(parts) + 1)) else path

    def centrality(self) -> dict[str, float]:
        """PageRank of every definition and module; the values sum to 1. The same corpus gives the same values."""
        nodes = sorted(self._definitions | {node for edge in self.edges for node in edge})
        if not nodes:
            return {}
        place = {node: number for number, node in enumerate(nodes)}
        edges = np.array([(place[start], place[end]) for start, end in sorted(self.edges)], dtype=np.int64)
        return dict(zip(nodes, page_rank(len(nodes), edges.reshape(-1, 2)).tolist(), strict=True))

    def _add(self, module: ModuleText, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
                named = [name for name in map(dotted_name, bases) if name]
                resolved = (self.resolve(module.name, name) for name in named)
                self._classes[f"{module.name}.{node.name}"] = node
                self._named_bases[f"{module.name}.{node.name}"] = (module.name, named)
                self._bases[f"{module.name}.{node.name}"] = [base for base in resolved if base is not None]
                if any((self.imported(module.name, name) or "").startswith("pydantic") for name in named):
                    self._models.add(f"{module.name}.{node.name}")
            start = f"{module.name}.{node.name}" if isinstance(node, Definition) else module.name
            if module.is_package and start == module.name:
                continue
            ends = {self.resolve(module.name, dotted) for dotted in _names(node)}
            self.edges |= {(start, end) for end in ends if end is not None and end != start}

    def _find_aliases(self, module: str, tree: ast.Module) -> Iterator[str]:
        for node in tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            value = dotted_name(node.value)
            meant = self.resolve(module, value) if value else None
            # A path of a member means its class, and the member is not the class.
            if value and meant in self._bases and meant.rpartition(".")[2] == value.rpartition(".")[2]:
                yield from (f"{module}.{name}" for name in bound_names(node))


def public_paths(modules: Sequence[ModuleText], pages: Iterable[str], graph: ReferenceGraph) -> dict[str, str]:
    """Where private definitions are imported from, beside what packages export: fully qualified name to import path.

    The `__all__` of public modules and the imports that the pages of the docs show say so.
    """
    found: dict[str, str] = {}
    for path in (*_listed(modules), *sorted({path for text in pages for path in shown_imports(text)})):
        origin = graph.resolve_path(path)
        if origin is not None and is_private(origin) and not is_private(path):
            found.setdefault(origin, path)
    return found


def shown_paths(
    modules: Sequence[ModuleText], pages: Iterable[str], graph: ReferenceGraph, exports: Mapping[str, str]
) -> dict[str, str]:
    """Where docs import exported definitions from, if that is a package around the one that `exports` names.

    That is the shortest path which at least half as many pages show as any other: fully qualified name to import path.
    """
    listed = set(_listed(modules))
    shown = Counter(path for text in pages for path in set(shown_imports(text)))
    candidates: dict[str, list[str]] = defaultdict(list)
    for path in sorted(shown, key=lambda path: path.count(".")):
        origin = graph.resolve_path(path) if path in listed else None
        package, _, name = path.rpartition(".")
        usual = exports.get(origin or "", "")
        if origin is not None and usual.startswith(f"{package}.") and usual.endswith(f".{name}"):
            candidates[origin].append(path)
    for origin, paths in candidates.items():
        paths.append(exports[origin])
    return {
        origin: next(path for path in paths if 2 * shown[path] >= max(shown[each] for each in paths))
        for origin, paths in candidates.items()
    }


def _listed(modules: Sequence[ModuleText]) -> Iterator[str]:
    for module in modules:
        tree = module.tree if not is_private(module.name) else None
        for node in tree.body if tree else ():
            if isinstance(node, ast.Assign) and any(getattr(item, "id", "") == "__all__" for item in node.targets):
                for item in ast.walk(node.value):
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield f"{module.name}.{item.value}"


def page_rank(nodes: int, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """PageRank of nodes 0 to `nodes - 1`, shape (nodes,), summing to 1.

    Args:
        nodes: How many there are, at least 1.
        edges: Shape (E, 2), start and end of each edge, each once.
    """
    starts, ends = edges[:, 0], edges[:, 1]
    out_degree = np.bincount(starts, minlength=nodes)
    rank: NDArray[np.float64] = np.full(nodes, 1 / nodes)
    for _ in range(MAX_ITERATIONS):
        passed = np.bincount(ends, weights=rank[starts] / out_degree[starts], minlength=nodes)
        dangling = rank[out_degree == 0].sum()
        following: NDArray[np.float64] = (1 - DAMPING) / nodes + DAMPING * (passed + dangling / nodes)
        if np.abs(following - rank).sum() < TOLERANCE:
            return following
        rank = following
    return rank


def _defined(tree: ast.Module) -> Iterator[str]:
    """Names that a module defines, also under `if` and `try`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in statements(waiting.pop()):
            yield from bound_names(node)
            waiting += [node] if isinstance(node, ast.If | ast.Try) else []


def _names(statement: ast.stmt) -> set[str]:
    """Names and dotted names that a statement uses or imports."""
    found: set[str] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.ImportFrom | ast.Import):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Attribute | ast.Name):
            dotted = dotted_name(node)
            if dotted is not None:
                found.add(dotted)
                continue
        stack.extend(ast.iter_child_nodes(node))
    return found
