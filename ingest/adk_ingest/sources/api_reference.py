"""API reference pages made from docstrings, one Markdown page a module (design section 4).

Their links lead to the official reference, one Sphinx page (`<site>/api-reference/python/google-adk.html`) whose
anchors are public import paths: `#google.adk.agents.LlmAgent`. That page documents the packages below the root package
by their `__all__`. So a symbol has an anchor only where such a package exports the symbol, or where the root package
exports it from a module directly below the root (`google.adk.runners.Runner`); all others link to the page itself.
Source: the `automodule` list and links of google/adk-docs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adk_evidence.text.identifiers import is_internal

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
