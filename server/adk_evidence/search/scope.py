"""Chooses the part of the index that a request searches: kinds, filters, versions and origins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.models.pack import VersionPlan
from adk_evidence.models.request import EvidenceFilters
from adk_evidence.search.context import Context
from adk_evidence.search.filters import build_filter
from adk_evidence.search.version_filter import BASES, VersionChoice, choose_versions, missing_version
from adk_evidence.search.versions import AskedVersion, asked_versions
from adk_evidence.settings import StoreSettings
from adk_evidence.store.base import Filter, Match


@dataclass(frozen=True)
class Scope:
    """What one request searches.

    `filters` has the store's filter of every searched kind, and `excluded_origins` what the filters leave out on
    purpose. `asked` are the versions that the question names; `version_missing` says that none of them is indexed.
    `hinted` says that the request's own filter chose the version.
    """

    kinds: Sequence[Kind]
    filters: Mapping[Kind, Filter]
    excluded_origins: tuple[str, ...]
    versions: Mapping[Kind, VersionChoice]
    asked: tuple[AskedVersion, ...]
    hinted: bool
    version_missing: bool

    @property
    def leaves_versions_out(self) -> bool:
        """Whether other versions are indexed that are not searched."""
        return any(choice.left_out for choice in _of(self.kinds, self.versions))

    def of_versions(self, kind: Kind) -> Filter:
        """A filter for the versions of a kind that are searched; of a kind that is not, for those that would be."""
        return _narrowed(Filter(), self.versions.get(kind))

    def version_plan(self, store: StoreSettings) -> VersionPlan | None:
        """What became of versions; None for a question about none where only one is indexed."""
        if not self.asked and not self.leaves_versions_out:
            return None
        chosen = {store.collection(kind): self.versions[kind] for kind in self.kinds if kind in self.versions}
        bases = {choice.basis for choice in chosen.values() if choice.searched}
        return VersionPlan(
            asked=tuple(one.text for one in self.asked),
            basis="request" if self.hinted else next((basis for basis in BASES if basis in bases), "newest"),
            searched={name: choice.searched for name, choice in chosen.items() if choice.searched},
            left_out={name: choice.left_out for name, choice in chosen.items() if choice.left_out},
        )


def choose_scope(request: EvidenceFilters, question: str, index: Index, context: Context) -> Scope:
    """Choose what to search. A version that is asked for in vain, and missing guides, are warnings.

    Args:
        request: The request's filters.
        question: The normalised question, which may name versions.
        index: What is there to be searched.
        context: Gets the warnings.

    Raises:
        InvalidRequestError: A path filter cannot be parsed.
    """
    kinds = request.kinds
    built = {kind: build_filter(request, index.paths(kind), index.refs(kind)) for kind in kinds}
    # A kind that the request's own filter narrows: there the question does not count.
    hinted = {kind for kind in kinds if built[kind][1]}
    named = asked_versions(question)
    asked = () if hinted else named
    versions = {kind: choose_versions(kind, index.refs(kind), asked) for kind in KINDS if kind not in hinted}
    # Guides have no version: then the code beside them says which one is indexed.
    searched = _of(kinds, versions)
    known = any(choice.searched for choice in searched)
    missing = missing_version(asked, searched if known else list(versions.values()))
    if missing:
        context.warn("version_not_indexed", missing)
    if request.repo_ref_hint and not hinted:
        left_out = any(choice.left_out for choice in searched)
        went_on = "the search went on without it" if left_out else "all of them were searched"
        context.warn("ref_not_indexed", f"no indexed corpus is of {request.repo_ref_hint!r}; {went_on}.")
    filters = {kind: _narrowed(filter, versions.get(kind)) for kind, (filter, _) in built.items()}
    excluded: tuple[str, ...] = ()
    if index.has_api_reference and "doc" in kinds and not index.has_guides:
        context.warn("docs_fallback", "the guides are not indexed; the API reference stands in for them.")
    elif index.has_api_reference and kinds == KINDS and not request.path_allowlist and not built["doc"][1]:
        # Its pages repeat the docstrings of the code that is searched as well, and would crowd out the guides.
        # Who names paths or a version may well mean these pages.
        excluded = ("api-reference",)
        docs = filters["doc"]
        filters["doc"] = Filter(docs.must, docs.should, (*docs.must_not, Match("origin", excluded)))
    return Scope(kinds, filters, excluded, versions, named, bool(hinted), bool(missing))


def _of(kinds: Sequence[Kind], versions: Mapping[Kind, VersionChoice]) -> list[VersionChoice]:
    return [versions[kind] for kind in kinds if kind in versions]


def _narrowed(filter: Filter, versions: VersionChoice | None) -> Filter:
    if versions is None or not versions.commits:
        return filter
    return Filter((*filter.must, Match("commit", versions.commits)), filter.should, filter.must_not)
