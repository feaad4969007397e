"""API reference pages made from docstrings, one Markdown page a module (design section 4).

Their links lead to the official reference, one Sphinx page (`<site>/api-reference/python/google-adk.html`) whose
anchors are public import paths: `#google.adk.agents.LlmAgent`. That page documents the packages below the root package
by their `__all__`. So a symbol has an anchor only where such a package exports the symbol, or where the root package
exports it from a module directly below the root (`google.adk.runners.Runner`); all others link to the page itself.
Source: the `automodule` list and links of google/adk-docs.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from adk_evidence.identifiers import is_internal
from adk_evidence.readers.python import absolute, bound_names, every_statement, parse_quietly

if TYPE_CHECKING:
    import griffe

API_REFERENCE_FOLDER = "api-reference/python"
OFFICIAL_PAGE = f"{API_REFERENCE_FOLDER}/google-adk.html"

_SECTION_TITLES = {
    "parameters": "Args",
    "other parameters": "Other args",
    "raises": "Raises",
    "warns": "Warns",
    "returns": "Returns",
    "yields": "Yields",
    "attributes": "Attributes",
    "receives": "Receives",
}
# Line starts that Markdown would read as structure: headings, their underlines, HTML, tabs, admonitions.
_STRUCTURE = re.compile(r"^(\s{0,3})(?=#{1,6}(?:\s|$)|=+\s*$|-{2,}\s*$|<)|^(\s*)(?====|!!!|\?\?\?)")
_INCLUDE = re.compile(r"^(\s*)(?=;*-+8<)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")


def api_reference_path(module: str) -> str:
    """Where a module's page stands in the docs corpus, e.g. `api-reference/python/google.adk.runners.md`."""
    return f"{API_REFERENCE_FOLDER}/{module}.md"


def api_reference_url(site_url: str, anchor: str | None) -> str:
    """The official reference's URL; `anchor` counts only if it is a dotted name, which no slug is."""
    fragment = f"#{anchor}" if anchor and "." in anchor else ""
    return f"{site_url.rstrip('/')}/{OFFICIAL_PAGE}{fragment}"


def build_export_map(files: Mapping[str, str]) -> dict[str, str]:
    """Where packages export what their modules define, from texts by repository path; see `join_exports`.

    Only each `__init__.py` is read; a broken one exports nothing.
    """
    packages = ((package_of(path), text) for path, text in files.items())
    return join_exports({package: read_exports(package, text) for package, text in packages if package is not None})


def join_exports(packages: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Where packages export what their modules define, from what `read_exports` gives for each package.

    Returns:
        Fully qualified name to public import path, e.g. `google.adk.agents.llm_agent.LlmAgent` to
        `google.adk.agents.LlmAgent`. Of several exporting packages below the root, the nearest to the definition.
    """
    exports: dict[str, str] = {}
    roots: dict[str, str] = {}
    for package, names in sorted(packages.items()):
        is_root = not any(package.startswith(f"{other}.") for other in packages)
        found = roots if is_root else exports  # the root package itself is not on the official page
        found.update({f"{package}.{name}": origin for name, origin in names.items()})
    beside = {o for path, o in roots.items() if o.rpartition(".")[0].rpartition(".")[0] == path.rpartition(".")[0]}
    public = {origin: origin for origin in beside if origin.rpartition(".")[0] not in packages}
    for path in exports:
        origin = _resolve(path, exports)
        best = public.get(origin)
        if best is None or _closeness(path, origin) > _closeness(best, origin):
            public[origin] = path
    return public


def package_of(path: str) -> str | None:
    """The package that an `__init__.py` makes, by its repository path; None for other files."""
    place = PurePosixPath(path.removeprefix("src/"))
    return ".".join(place.parent.parts) if place.name == "__init__.py" else None


def _resolve(path: str, exports: Mapping[str, str]) -> str:
    seen = set()
    while path in exports and path not in seen:
        seen.add(path)
        path = exports[path]
    return path


def _closeness(path: str, origin: str) -> tuple[bool, int]:
    package, _, name = path.rpartition(".")
    same = [left == right for left, right in zip(package.split("."), origin.split("."), strict=False)]
    return name == origin.rpartition(".")[2], [*same, False].index(False)


def read_exports(package: str, text: str) -> dict[str, str]:
    """Public name to origin of what an `__init__.py` imports and lists in `__all__`, eagerly or lazily."""
    tree = parse_quietly(text)
    if tree is None:
        return {}
    origins: dict[str, str] = {}
    tables: dict[str, dict[str, str]] = {}
    listed: set[str] = set()
    for node in every_statement(tree):
        if isinstance(node, ast.ImportFrom):
            base = absolute(package, "." * node.level + (node.module or ""))
            origins.update({alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names})
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for name in bound_names(node):
                if name == "__all__":
                    listed |= _names_in(node.value, tables)
                elif isinstance(node.value, ast.Dict):
                    tables[name] = lazy_table(package, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == "__all__":
            listed |= _names_in(node.value, tables)
    for table in tables.values():
        origins = {**table, **origins}
    return {name: origins[name] for name in sorted(listed) if name in origins}


def _names_in(value: ast.expr, tables: Mapping[str, Mapping[str, str]]) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
        elif isinstance(node, ast.Name):  # list(_LAZY_MAPPING.keys())
            names |= set(tables.get(node.id, ()))
    return names


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


def api_reference_page(source_path: str, code_text: str, module_name: str, export_map: Mapping[str, str]) -> str | None:
    """The Markdown page of a module's public classes and functions, read without importing the module.

    `export_map` is what `build_export_map` returned; it decides on anchors and import lines.

    Returns:
        The page, or None where the module is private, does not parse or has nothing public.
    """
    import griffe

    # A private module's names are public only where a package exports them.
    if is_internal(module_name) and not any(name.rpartition(".")[0] == module_name for name in export_map):
        return None
    try:
        module = griffe.visit(module_name, filepath=Path(source_path), code=code_text, docstring_parser="google")
        sections = list(_module_sections(module, export_map))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not sections:
        return None
    head = [f"# {module_name}", *_docstring(module), f"Source: `{source_path}`"]
    return "\n\n".join([*head, *sections]) + "\n"


def _module_sections(module: griffe.Module, export_map: Mapping[str, str]) -> Iterator[str]:
    for member in _public(module):
        path = f"{module.path}.{member.name}"
        public = export_map.get(path)
        if public is None and is_internal(module.path):
            continue
        yield from _member(member, "##", member.name, public)
        if member.is_class:
            for inner in _public(member):
                anchor = f"{public}.{inner.name}" if public else None
                yield from _member(inner, "###", f"{member.name}.{inner.name}", anchor)


def _public(owner: griffe.Object) -> Iterator[Any]:
    for name, member in owner.members.items():
        if name.startswith("_") or member.is_alias:
            continue
        if member.is_class or member.is_function or (member.is_attribute and owner.is_class and member.docstring):
            yield member


def _member(member: Any, level: str, title: str, anchor: str | None) -> Iterator[str]:
    explicit = f" {{#{anchor}}}" if anchor else ""
    prefix = "class " if member.is_class else ""
    yield f"{level} {prefix}{title}{explicit}"
    if anchor and member.is_class:
        package, _, name = anchor.rpartition(".")
        yield f"Import: `from {package} import {name}`"
    yield f"```python\n{_signature(member)}\n```"
    yield from _docstring(member)


def _signature(member: Any) -> str:
    if member.is_class:
        bases = ", ".join(str(base) for base in member.bases)
        return f"class {member.name}({bases})" if bases else f"class {member.name}"
    if member.is_function:
        word = "async def" if "async" in member.labels else "def"
        return _one_line(f"{word} {member.signature()}")
    annotation = f": {member.annotation}" if member.annotation else ""
    default = f" = {member.value}" if member.value and "\n" not in str(member.value) else ""
    return _one_line(f"{member.name}{annotation}{default if len(default) <= 200 else ''}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _docstring(owner: Any) -> Iterator[str]:
    if owner.docstring is None:
        return
    for section in owner.docstring.parse("google", warnings=False):
        kind = section.kind.value
        if kind in _SECTION_TITLES:
            yield f"**{_SECTION_TITLES[kind]}:**"
            yield "\n".join(_item(item) for item in section.value)
        elif kind == "examples":
            yield "**Examples:**"
            yield from (_escape(text) for _, text in section.value)
        elif kind in ("admonition", "deprecated"):
            yield f"**{_escape(_one_line(section.title or kind.capitalize()))}:**"
            yield _escape(getattr(section.value, "contents", None) or section.value.description)
        else:
            yield _escape(str(section.value))


def _item(item: Any) -> str:
    name = getattr(item, "name", "") or ""
    annotation = str(item.annotation) if item.annotation and not name else ""
    label = f"`{_one_line(name or annotation)}`: " if name or annotation else ""
    return f"- {label}{_escape(_one_line(item.description))}"


def _escape(text: str) -> str:
    """Docstring text that cannot pose as a heading, an include, a tab or HTML, and closes its fences.

    An interactive session becomes a code block.
    """
    if text.lstrip().startswith(">>>"):
        return textwrap.indent(text, " " * 4)
    return "\n".join(_escaped_lines(text.strip().split("\n")))


def _escaped_lines(lines: Iterable[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        elif not fence:
            line = _STRUCTURE.sub(lambda match: f"{match[1] or match[2] or ''}\\", line)
        yield _INCLUDE.sub(r"\1\\", line)  # snippets are included inside fences too
    if fence:
        yield fence
