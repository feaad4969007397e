"""What modules import from other packages."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from adk_evidence.api.module import ModuleText
from adk_evidence.readers.python import every_statement

# Several distributions have packages in it.
_SHARED = "google"


def outside_imports(modules: Sequence[ModuleText]) -> dict[str, str]:
    """The statement that imports each name which modules take from other packages, by the name that is bound.

    Of several statements for one name, the one counts that most modules have.
    """
    counts = Counter(found for module in modules for found in dict.fromkeys(_imported(module)))
    own = {_package(module.name) for module in modules}
    statements: dict[str, str] = {}
    for (name, path, statement), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if _package(path) not in own:
            statements.setdefault(name, statement)
    return statements


def _package(path: str) -> str:
    """The package of a dotted path: its first part, but `google.adk` of `google.adk.agents`."""
    parts = path.split(".")
    return ".".join(parts[: 2 if parts[0] == _SHARED else 1])


def _imported(module: ModuleText) -> Iterator[tuple[str, str, str]]:
    """The names that absolute imports of single names bind, each with its dotted path and its statement."""
    for node in every_statement(module.tree) if module.tree is not None else ():
        if isinstance(node, ast.ImportFrom) and not node.level and node.module and node.module != "__future__":
            for alias in node.names:
                if alias.name != "*":
                    renamed = f" as {alias.asname}" if alias.asname else ""
                    statement = f"from {node.module} import {alias.name}{renamed}"
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}", statement
