"""Which part of the index a request searches: kinds, the request's filters, versions, left-out origins."""

from __future__ import annotations

from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.models.pack import VersionPlan
from adk_evidence.models.request import EvidenceFilters
from adk_evidence.search.context import Context
from adk_evidence.search.filters import build_filter
from adk_evidence.search.version_filter import BASES, VersionChoice, choose_versions, missing_version
from adk_evidence.search.versions import asked_versions
from adk_evidence.settings import StoreSettings
from adk_evidence.store.base import Filter, Match


class Scope:
    """What one request searches.

    `filters` has the store's filter of every searched kind, `excluded_origins` what they leave out on purpose, and
    `version_missing` says whether the question names a version that is not indexed.

    Args:
        asked: The request's filters.
        question: The normalised question, which may name versions.
        index: What is there to be searched.
        context: Gets the warnings.

    Raises:
        InvalidRequestError: A path filter cannot be parsed.
    """

    def __init__(self, asked: EvidenceFilters, question: str, index: Index, context: Context) -> None:
        self.kinds = asked.kinds
        self.filters: dict[Kind, Filter] = {}
        self.excluded_origins: tuple[str, ...] = ()
        self.version_missing = False
        self._asked = asked
        self._asked_versions = asked_versions(question)
        self._index = index
        self._context = context
        self._versions: dict[Kind, VersionChoice] = {}
        self._hinted = False
        self._build()

    @property
    def leaves_versions_out(self) -> bool:
        """Whether other versions are indexed that are not searched."""
        return any(self._versions[kind].left_out for kind in self.kinds if kind in self._versions)

    def of_versions(self, kind: Kind, filter: Filter) -> Filter:
        """A filter narrowed to the versions of a kind that are searched; of a kind that is not, to those that would."""
        versions = self._versions.get(kind)
        if versions is None or not versions.commits:
            return filter
        return Filter((*filter.must, Match("commit", versions.commits)), filter.should, filter.must_not)

    def version_plan(self, store: StoreSettings) -> VersionPlan | None:
        """What became of versions; None for a question about none where one is indexed."""
        if not self._asked_versions and not self.leaves_versions_out:
            return None
        chosen = {store.collection(kind): self._versions[kind] for kind in self.kinds if kind in self._versions}
        bases = {choice.basis for choice in chosen.values() if choice.searched}
        return VersionPlan(
            asked=tuple(one.text for one in self._asked_versions),
            basis="request" if self._hinted else next((basis for basis in BASES if basis in bases), "newest"),
            searched={name: choice.searched for name, choice in chosen.items() if choice.searched},
            left_out={name: choice.left_out for name, choice in chosen.items() if choice.left_out},
        )

    def _build(self) -> None:
        asked, index = self._asked, self._index
        built = {kind: build_filter(asked, index.paths(kind), index.refs(kind)) for kind in self.kinds}
        self._choose_versions({kind for kind in self.kinds if built[kind][1]})
        if asked.repo_ref_hint and not self._hinted:
            went_on = "the search went on without it" if self.leaves_versions_out else "all of them were searched"
            self._context.warn("ref_not_indexed", f"no indexed corpus is of {asked.repo_ref_hint!r}; {went_on}.")
        self.filters = {kind: self.of_versions(kind, filter) for kind, (filter, _) in built.items()}
        if not index.has_api_reference:
            return
        if "doc" in self.kinds and not index.has_guides:
            self._context.warn("docs_fallback", "the guides are not indexed; the API reference stands in for them.")
        elif self.kinds == KINDS and not asked.path_allowlist and not built["doc"][1]:
            # Its pages repeat the docstrings of the code that is searched as well, and would crowd out the guides.
            # Who names paths or a version may well mean these pages.
            docs = self.filters["doc"]
            left_out = (*docs.must_not, Match("origin", ("api-reference",)))
            self.filters["doc"] = Filter(docs.must, docs.should, left_out)
            self.excluded_origins = ("api-reference",)

    def _choose_versions(self, hinted: set[Kind]) -> None:
        """Choose the versions of each kind; a version that is asked for in vain is a warning.

        Args:
            hinted: Kinds that the request's own filter narrows; then the question does not count.
        """
        self._hinted = bool(hinted)
        asked = () if hinted else self._asked_versions
        self._versions = {
            kind: choose_versions(kind, self._index.refs(kind), asked) for kind in KINDS if kind not in hinted
        }
        # Guides have no version: then the code beside them says which one is indexed.
        searched = [self._versions[kind] for kind in self.kinds if kind in self._versions]
        known = any(choice.searched for choice in searched)
        missing = missing_version(asked, searched if known else list(self._versions.values()))
        if missing:
            self.version_missing = True
            self._context.warn("version_not_indexed", missing)
