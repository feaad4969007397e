"""Chooses what a request searches: by kind, filters (SPEC 5 section 7.4), origin and reader.

An index holds one version of the ADK; which index answers is chosen before (`choice.py`). Here the version is compared
with those that the question names, or with that of the asker's project.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.opened import Index
from adk_evidence.index.versions import not_indexed, version_of_code
from adk_evidence.languages import PROGRAMMING, common_name, langs_of
from adk_evidence.models.chunk import DECORATOR, KINDS, TAG_FIELDS, Kind, ProgrammingLanguage
from adk_evidence.models.pack import AdkVersion, VersionPlan
from adk_evidence.models.request import EvidenceFilters, ProjectVersion
from adk_evidence.readers.pages.audience import named_languages
from adk_evidence.render import wording
from adk_evidence.search.context import Context
from adk_evidence.search.question.versions import AskedVersion, asked_versions
from adk_evidence.settings import Settings
from adk_evidence.store.base import Condition, Filter, Match
from adk_evidence.text.globs import Globs

# Folders at the beginning of a glob that say nothing: `./`, `/`, `**/`.
_LEADING = re.compile(r"^(?:\.{0,2}/|\*+/)+")
# The condition of paths that no indexed file has.
_NO_PATH = Match("path", ())


@dataclass(frozen=True)
class ReaderLanguages:
    """The programming language of the reader, from the settings, and others that the question or its filters name.

    What pages have for readers of any other language is not searched.
    """

    reader: ProgrammingLanguage
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """What one request searches.

    `filters` has the store's filter of every searched kind, and `excluded_origins` what the filters leave out on
    purpose. `version` is that of the ADK's code in the index; None where nobody knows. `asked` are the versions that
    the question names. `version_missing` is empty, or says whose version is not indexed. `languages` says for whose
    readers pages are searched; None where for all. `adk` compares the version of the asker's project, where the request
    names one, with the version of the index.
    """

    kinds: Sequence[Kind]
    filters: Mapping[Kind, Filter]
    excluded_origins: tuple[str, ...]
    version: str | None
    asked: tuple[AskedVersion, ...]
    version_missing: str
    languages: ReaderLanguages | None = None
    adk: AdkVersion | None = None

    @property
    def version_plan(self) -> VersionPlan | None:
        """The versions that the question names beside that of the index; None where the question names none."""
        if not self.asked:
            return None
        return VersionPlan(
            asked=tuple(one.text for one in self.asked),
            indexed=self.version,
            is_asked=holds_all(self.version, self.asked),
        )


def choose_scope(
    request: EvidenceFilters,
    question: str,
    index: Index,
    settings: Settings,
    context: Context,
    reader: ProgrammingLanguage | None = None,
    *,
    project: ProjectVersion | None = None,
) -> Scope:
    """Choose what to search. A version or a path that the index lacks, and missing guides, are warnings.

    `reader` is the language of the reader; None searches what pages have for all readers. The version of the `project`
    counts where the question names no version.

    Raises:
        InvalidRequestError: A path filter cannot be parsed.
    """
    kinds = request.kinds
    filters = {kind: filter_of(request, kind, index) for kind in kinds}
    version = version_of_code(index.manifest, settings)
    asked = asked_versions(question)
    adk = None
    if project is not None:
        adk = AdkVersion(indexed=version, wanted=project.version, taken_from=project.taken_from)
    missing = ""
    if asked and not holds_all(version, asked):
        missing = "that the question names"
        context.warn(wording.asked_version_not_indexed([one.text for one in asked], version))
    elif project and adk and not asked and not adk.is_wanted:
        missing = "that the project uses" if project.taken_from else "that you asked for"
        context.warn(wording.version_not_indexed(not_indexed(project, version)))
    narrowed = {kind for kind in kinds if index.commits_of(kind, request.repo_ref_hint)}
    if request.repo_ref_hint and not narrowed:
        context.warn(wording.ref_not_indexed(request.repo_ref_hint))
    if request.path_allowlist and not any(index.paths[kind] and _NO_PATH not in filters[kind].must for kind in kinds):
        near = _meant(request, [path for kind in kinds for path in index.paths[kind]])
        blocked = bool(request.path_blocklist)
        context.warn(wording.path_not_indexed(request.path_allowlist, near, blocked=blocked))
    excluded: tuple[str, ...] = ()
    if index.has_api_reference and "doc" in kinds and not index.has_guides:
        context.warn(wording.docs_fallback())
    elif index.has_api_reference and kinds == KINDS and not request.path_allowlist and "doc" not in narrowed:
        # These pages repeat the docstrings of the code that is searched as well, and would crowd out the guides.
        # A request that names paths or a commit may well mean these pages.
        excluded = ("api-reference",)
    if excluded:
        docs = filters["doc"]
        filters["doc"] = replace(docs, must_not=(*docs.must_not, Match("origin", excluded)))
    languages = _languages(request, question, reader) if "doc" in kinds else None
    if languages is not None:
        docs, others = filters["doc"], PROGRAMMING - {languages.reader, *languages.also}
        filters["doc"] = replace(docs, must_not=(*docs.must_not, Match("for_language", tuple(sorted(others)))))
    return Scope(kinds, filters, excluded, version, asked, missing, languages, adk)


def holds_all(version: str | None, asked: Sequence[AskedVersion]) -> bool:
    """Whether a version is each of those that a question names."""
    return version is not None and all(one.holds(Version(version)) for one in asked)


def _languages(request: EvidenceFilters, question: str, reader: ProgrammingLanguage | None) -> ReaderLanguages | None:
    """For whose readers pages are searched: the reader's language, and those that the question or its filters name."""
    if reader is None:
        return None
    filtered = {common_name(name.lower().lstrip(".")) for name in (*request.languages, *request.tags)}
    # Who names the folder or the page of another language means its readers.
    paths = named_languages(" ".join(request.path_allowlist))
    others = (named_languages(question) | filtered | paths) & PROGRAMMING - {reader}
    return ReaderLanguages(reader=reader, also=tuple(sorted(others)))


def filter_of(request: EvidenceFilters, kind: Kind, index: Index) -> Filter:
    """The store's filter of a kind; see `build_filter`.

    Raises:
        InvalidRequestError: A glob cannot be parsed.
    """
    return build_filter(request, index.paths[kind], index.commits_of(kind, request.repo_ref_hint))


def build_filter(filters: EvidenceFilters, paths: Sequence[str], commits: Collection[str] = ()) -> Filter:
    """The store's filter of one collection.

    Args:
        filters: The request's filters. Globs are resolved here, since no store matches globs.
        paths: Repository-relative paths of every indexed file of the collection.
        commits: The indexed commits that `repo_ref_hint` names; none do not narrow the collection.

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
    if commits:
        must.append(Match("commit", tuple(commits)))
    return Filter(must=tuple(must))


def _match_paths(filters: EvidenceFilters, paths: Iterable[str]) -> tuple[str, ...]:
    try:
        allow, block = Globs(filters.path_allowlist), Globs(filters.path_blocklist)
    except ValueError as exc:
        raise InvalidRequestError(f"A path filter is not a valid glob: {exc}.", "Use gitignore-style globs.") from exc
    return tuple(path for path in paths if (not filters.path_allowlist or allow.match(path)) and not block.match(path))


def _meant(filters: EvidenceFilters, paths: Sequence[str]) -> dict[str, int]:
    """How many files the request's globs would match if they began with `**/`, without those that match none."""
    meant: dict[str, int] = {}
    for glob in filters.path_allowlist:
        # What has no folder matches in every folder already.
        end = _LEADING.sub("", glob) if "/" in glob.rstrip("/") else ""
        anywhere = f"**/{end}"
        found = _match_paths(filters.model_copy(update={"path_allowlist": (anywhere,)}), paths) if end else ()
        if found:
            meant[anywhere] = len(found)
    return meant


def _language_condition(languages: Iterable[str]) -> Filter:
    names = [name.lower().lstrip(".") for name in languages]
    files = tuple(dict.fromkeys(lang for name in names for lang in langs_of(name)))
    tabs = tuple(dict.fromkeys(map(common_name, names)))
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
