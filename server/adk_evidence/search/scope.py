"""Chooses what a request searches: by kind, filters (SPEC 5 section 7.4), version, origin and reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adk_evidence.errors import InvalidRequestError
from adk_evidence.globs import Globs
from adk_evidence.index.opened import Index
from adk_evidence.index.versions import not_indexed
from adk_evidence.languages import PROGRAMMING, common_name
from adk_evidence.models.chunk import DECORATOR, KINDS, TAG_FIELDS, Kind, ProgrammingLanguage
from adk_evidence.models.pack import AdkVersion, LanguagePlan, VersionPlan
from adk_evidence.models.request import EvidenceFilters, ProjectVersion
from adk_evidence.readers.audience import named_languages
from adk_evidence.released_versions import version_of
from adk_evidence.search.context import Context
from adk_evidence.search.versions import (
    BASES,
    AskedVersion,
    Basis,
    VersionChoice,
    asked_versions,
    choose_versions,
    exactly,
    missing_version,
)
from adk_evidence.settings import StoreSettings
from adk_evidence.store.base import Condition, Filter, Match

# Names that people use, and the values that chunks carry in `lang` and in `code_langs`.
_FILE_LANGUAGES = {"python": "py", "markdown": "md", "yml": "yaml", "restructuredtext": "rst", "text": "txt"}
_TAB_LANGUAGES = {"py": "python", "ts": "typescript", "js": "javascript", "golang": "go"}
# Folders at the beginning of a glob that say nothing: `./`, `/`, `**/`.
_LEADING = re.compile(r"^(?:\.{0,2}/|\*+/)+")
# The condition of paths that no indexed file has.
_NO_PATH = Match("path", ())


@dataclass(frozen=True)
class Scope:
    """What one request searches.

    `filters` has the store's filter of every searched kind, and `excluded_origins` what the filters leave out on
    purpose. `asked` are the versions that the question names. `version_missing` is empty, or says whose version is not
    indexed. `hinted` says that the request's own filter chose the version. `languages` says for whose readers pages are
    searched; None where for all. `adk` compares the version of the asker's project, where the request names one, with
    what is searched.
    """

    kinds: Sequence[Kind]
    filters: Mapping[Kind, Filter]
    excluded_origins: tuple[str, ...]
    versions: Mapping[Kind, VersionChoice]
    asked: tuple[AskedVersion, ...]
    hinted: bool
    version_missing: str
    languages: LanguagePlan | None = None
    adk: AdkVersion | None = None

    @property
    def leaves_versions_out(self) -> bool:
        """Whether other versions are indexed that are not searched."""
        return any(choice.left_out for choice in _of(self.kinds, self.versions))

    def of_versions(self, kind: Kind) -> Filter:
        """A filter for the versions of a kind that are searched, or that would be searched if the kind were."""
        return _narrowed(Filter(), self.versions.get(kind))

    def version_plan(self, store: StoreSettings) -> VersionPlan | None:
        """What became of versions; None where the question names none and only one is indexed."""
        if not self.asked and not self.leaves_versions_out:
            return None
        chosen = {store.collection(kind): self.versions[kind] for kind in self.kinds if kind in self.versions}
        bases = {choice.basis for choice in chosen.values() if choice.searched}
        basis: Basis = next((basis for basis in BASES if basis in bases), "newest")
        by_project = self.adk is not None and not self.asked and basis == "question"
        return VersionPlan(
            asked=tuple(one.text for one in self.asked),
            basis="request" if self.hinted else "project" if by_project else basis,
            searched={name: choice.searched for name, choice in chosen.items() if choice.searched},
            left_out={name: choice.left_out for name, choice in chosen.items() if choice.left_out},
        )


def choose_scope(
    request: EvidenceFilters,
    question: str,
    index: Index,
    context: Context,
    reader: ProgrammingLanguage | None = None,
    *,
    samples: bool = True,
    project: ProjectVersion | None = None,
) -> Scope:
    """Choose what to search. A version or a path that the index lacks, and missing guides, are warnings.

    `reader` is the language of the reader; None searches what pages have for all readers. `samples` says whether
    example programs are searched. The version of the `project` counts where the question names no version.

    Raises:
        InvalidRequestError: A path filter cannot be parsed.
    """
    kinds = request.kinds
    built = {kind: filter_of(request, kind, index) for kind in kinds}
    # For a kind that the request's own filter narrows, the versions in the question do not count.
    hinted = {kind for kind in kinds if built[kind][1]}
    named = asked_versions(question)
    asked = () if hinted else named
    wanted = asked or ((exactly(project.version),) if project and not hinted else ())
    versions = {kind: choose_versions(kind, index.refs[kind], wanted) for kind in KINDS if kind not in hinted}
    # Guides have no version: then the code beside them says which version is indexed.
    searched = _of(kinds, versions)
    known = any(choice.searched for choice in searched)
    missing = missing_version(asked, searched if known else list(versions.values()))
    adk = None if project is None else _compared(project, versions.get("code"), index, request.repo_ref_hint)
    whose = "that the question names" if missing else ""
    if project and adk and not asked and not hinted and not adk.is_wanted:
        missing, whose = not_indexed(project, adk.indexed), "that the project uses"
        if not project.taken_from:
            whose = "that you asked for"
    if missing:
        context.warn("version_not_indexed", missing)
    if request.repo_ref_hint and not hinted:
        left_out = any(choice.left_out for choice in searched)
        went_on = "the search went on without it" if left_out else "all of them were searched"
        context.warn("ref_not_indexed", f"no indexed corpus is of {request.repo_ref_hint!r}; {went_on}.")
    if request.path_allowlist and not any(index.paths[kind] and _NO_PATH not in built[kind][0].must for kind in kinds):
        globs = ", ".join(map(repr, request.path_allowlist))
        without = " besides the files that the blocklist leaves out" if request.path_blocklist else ""
        sentence = f"no indexed file{without} matches the paths that you asked for: {globs}"
        nearest = _meant(request, [path for kind in kinds for path in index.paths[kind]])
        context.warn("path_not_indexed", f"{sentence}.{nearest}")
    filters = {kind: _narrowed(filter, versions.get(kind)) for kind, (filter, _) in built.items()}
    excluded: tuple[str, ...] = ()
    if index.has_api_reference and "doc" in kinds and not index.has_guides:
        context.warn("docs_fallback", "the guides are not indexed; the API reference stands in for them.")
    elif index.has_api_reference and kinds == KINDS and not request.path_allowlist and not built["doc"][1]:
        # These pages repeat the docstrings of the code that is searched as well, and would crowd out the guides.
        # A request that names paths or a version may well mean these pages.
        excluded = ("api-reference",)
    if not samples and "doc" in kinds:
        excluded = (*excluded, "sample")
    if excluded:
        docs = filters["doc"]
        filters["doc"] = replace(docs, must_not=(*docs.must_not, Match("origin", excluded)))
    languages = _languages(request, question, reader) if "doc" in kinds else None
    if languages is not None:
        docs, others = filters["doc"], PROGRAMMING - {languages.reader, *languages.also}
        filters["doc"] = replace(docs, must_not=(*docs.must_not, Match("for_language", tuple(sorted(others)))))
    return Scope(kinds, filters, excluded, versions, named, bool(hinted), whose, languages, adk)


def _compared(project: ProjectVersion, code: VersionChoice | None, index: Index, hint: str | None) -> AdkVersion:
    """The version of a project beside the version of the code that is searched, which a filter may have chosen."""
    refs = index.refs["code"]
    found = [version for commit in _commits_of(hint, refs) if (version := version_of(commit, refs[commit]))]
    searched = code.searched if code else map(str, found)
    indexed = ", ".join(dict.fromkeys(label.removeprefix("v") for label in searched)) or None
    return AdkVersion(indexed=indexed, wanted=project.version, taken_from=project.taken_from)


def _languages(request: EvidenceFilters, question: str, reader: ProgrammingLanguage | None) -> LanguagePlan | None:
    """For whose readers pages are searched: the reader's language, and those that the question or its filters name."""
    if reader is None:
        return None
    filtered = {common_name(name.lower().lstrip(".")) for name in (*request.languages, *request.tags)}
    # Who names the folder or the page of another language means its readers.
    paths = named_languages(" ".join(request.path_allowlist))
    others = (named_languages(question) | filtered | paths) & PROGRAMMING - {reader}
    return LanguagePlan(reader=reader, also=tuple(sorted(others)))


def filter_of(request: EvidenceFilters, kind: Kind, index: Index) -> tuple[Filter, bool]:
    """The store's filter of a kind; see `build_filter`.

    Raises:
        InvalidRequestError: A glob cannot be parsed.
    """
    return build_filter(request, index.paths[kind], index.refs[kind])


def build_filter(
    filters: EvidenceFilters, paths: Sequence[str], refs: Mapping[str, tuple[str, ...]]
) -> tuple[Filter, bool]:
    """The store's filter of one collection.

    Args:
        filters: The request's filters. Globs are resolved here, since no store matches globs.
        paths: Repository-relative paths of every indexed file of the collection.
        refs: For each indexed commit of the collection, the names it goes by (tag, branch).

    Returns:
        The filter, and whether `repo_ref_hint` named something that this collection holds.

    Raises:
        InvalidRequestError: A glob cannot be parsed.
    """
    must: list[Condition] = []
    if filters.path_allowlist or filters.path_blocklist:
        kept = _match_paths(filters, paths)
        if len(kept) < len(paths):
            must.append(Match("path", kept))
    if filters.languages:
        must.append(_language_condition(filters.languages))
    must += map(_tag_condition, filters.tags)
    commits = _commits_of(filters.repo_ref_hint, refs)
    if commits:
        must.append(Match("commit", commits))
    return Filter(must=tuple(must)), bool(commits)


def _of(kinds: Sequence[Kind], versions: Mapping[Kind, VersionChoice]) -> list[VersionChoice]:
    return [versions[kind] for kind in kinds if kind in versions]


def _narrowed(filter: Filter, versions: VersionChoice | None) -> Filter:
    if versions is None or not versions.commits:
        return filter
    return replace(filter, must=(*filter.must, Match("commit", versions.commits)))


def _match_paths(filters: EvidenceFilters, paths: Iterable[str]) -> tuple[str, ...]:
    try:
        allow, block = Globs(filters.path_allowlist), Globs(filters.path_blocklist)
    except ValueError as exc:
        raise InvalidRequestError(f"A path filter is not a valid glob: {exc}.", "Use gitignore-style globs.") from exc
    return tuple(path for path in paths if (not filters.path_allowlist or allow.match(path)) and not block.match(path))


def _meant(filters: EvidenceFilters, paths: Sequence[str]) -> str:
    """A sentence on the request's globs that would match files if they began with `**/`; else empty."""
    told = []
    for glob in filters.path_allowlist:
        # What has no folder matches in every folder already.
        end = _LEADING.sub("", glob) if "/" in glob.rstrip("/") else ""
        anywhere = f"**/{end}"
        found = _match_paths(filters.model_copy(update={"path_allowlist": (anywhere,)}), paths) if end else ()
        if found:
            told.append(f"{anywhere!r} matches {len(found)} indexed file{'s' if len(found) > 1 else ''}")
    return f" {'; '.join(dict.fromkeys(told))}." if told else ""


def _language_condition(languages: Iterable[str]) -> Filter:
    names = [name.lower().lstrip(".") for name in languages]
    files = tuple(dict.fromkeys(_FILE_LANGUAGES.get(name, name) for name in names))
    tabs = tuple(dict.fromkeys(_TAB_LANGUAGES.get(name, name) for name in names))
    return Filter(should=(Match("lang", files), Match("code_langs", tabs)))


def _tag_condition(tag: str) -> Filter:
    """The condition of a tag: `@name` is a decorator, `name` may be one, too. Names of decorators keep their case."""
    value = tag.lower()
    named = Match("decorators", (tag.removeprefix(DECORATOR),))
    if tag.startswith(DECORATOR):
        return Filter(should=(named,))
    # Most chunks have the origin `repository`, which is not a tag.
    fields = (field for field in TAG_FIELDS if field != "decorators" and (field != "origin" or value != "repository"))
    return Filter(should=(*(Match(field, (value,)) for field in fields), named))


def _commits_of(hint: str | None, refs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if not hint:
        return ()
    wanted = hint.strip().lower()
    bare = wanted.removeprefix("v")
    return tuple(
        commit
        for commit, names in refs.items()
        if (len(wanted) >= 7 and commit.lower().startswith(wanted))
        or bare in {name.lower().removeprefix("v") for name in (commit, *names)}
    )
