"""From an operation's filters to those of retrieval."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import Kind, SourceType
from adk_evidence.models.request import EvidenceFilters
from adk_evidence.search.filters import build_filter
from adk_evidence.store.base import Filter, Match
from adk_evidence_agents.operations.requests import SearchFilters

# What people call a language, and the extensions under which its files are indexed.
_EXTENSIONS: dict[str, tuple[str, ...]] = {
    "typescript": ("ts", "tsx", "mts", "cts"),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "python": ("py", "pyi"),
    "markdown": ("md", "mdx"),
    "golang": ("go",),
    "rust": ("rs",),
    "kotlin": ("kt", "kts"),
    "ruby": ("rb",),
    "shell": ("sh", "bash"),
    "c++": ("cpp", "cc", "cxx", "hpp"),
    "c#": ("cs",),
}
_HERE = ("", ".", "/")


def evidence_filters(filters: SearchFilters, sources: tuple[SourceType, ...]) -> EvidenceFilters:
    """The filters of the retrieval."""
    directory = (filters.directory or "").removeprefix("./")
    # An agent knows the folder of its project, which may lie deep in the repository that is indexed.
    anywhere = directory if directory.startswith("/") else f"**/{directory}"
    languages: tuple[str, ...] = ()
    if filters.file_type is not None:
        name = filters.file_type.lower().lstrip(".")
        languages = (name, *_EXTENSIONS.get(name, ()))
    return EvidenceFilters(
        path_allowlist=() if directory in _HERE else (anywhere,),
        languages=languages,
        source_types=sources,
        tags=filters.tags,
    )


def narrows(filters: SearchFilters) -> bool:
    """Whether anything is filtered."""
    return filters != SearchFilters()


def count_searched(
    index: Index, collection: str, kind: Kind, filters: EvidenceFilters, excluded_origins: Sequence[str] = ()
) -> int:
    """How many chunks of a collection pass the filters of a retrieval.

    Raises:
        InvalidRequestError: A path filter is no valid glob.
        CollectionUnavailableError: The collection cannot answer.
    """
    built, _ = build_filter(filters, index.paths(kind), index.refs(kind))
    if excluded_origins and kind == "doc":
        built = Filter(built.must, built.should, (*built.must_not, Match("origin", tuple(excluded_origins))))
    if built:
        return index.store.count(collection, built)
    entry = index.manifest.collections.get(collection)
    return entry.points if entry else 0
