"""Where the symbols that private modules define are imported from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from adk_evidence.readers.definitions import parse_quietly
from adk_ingest.targets.extract import ModuleText, is_private
from adk_ingest.targets.references import ReferenceGraph

_DOCS_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#]+)", re.MULTILINE
)
_NAME = re.compile(r"([A-Za-z_]\w*)(?:[ \t]+as[ \t]+\w+)?")


def public_paths(modules: Sequence[ModuleText], pages: Iterable[str], graph: ReferenceGraph) -> dict[str, str]:
    """Where private definitions are imported from, beside what packages export.

    That is a public module's `__all__`, and the imports that the docs show.

    Args:
        modules: The corpus.
        pages: Texts of the documentation.
        graph: Resolves re-exports.

    Returns:
        Fully qualified name of a private definition to its public import path.
    """
    found: dict[str, str] = {}
    for path in (*_listed(modules), *sorted({path for text in pages for path in shown_imports(text)})):
        origin = graph.resolve_path(path)
        if origin is not None and is_private(origin) and not is_private(path):
            found.setdefault(origin, path)
    return found


def _listed(modules: Sequence[ModuleText]) -> Iterator[str]:
    for module in modules:
        tree = parse_quietly(module.text) if "__all__" in module.text and not is_private(module.name) else None
        for node in tree.body if tree else ():
            if isinstance(node, ast.Assign) and any(getattr(item, "id", "") == "__all__" for item in node.targets):
                for item in ast.walk(node.value):
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield f"{module.name}.{item.value}"


def shown_imports(text: str) -> Iterator[str]:
    """Dotted paths that the examples of a page import by `from ... import ...`."""
    for match in _DOCS_IMPORT.finditer(text):
        for name in _NAME.findall(match["names"]):
            yield f"{match['module']}.{name}"
