"""From a request's filters to the store's (SPEC 5 section 7.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adk_evidence.errors import InvalidRequestError
from adk_evidence.globs import Globs
from adk_evidence.models.chunk import TAG_FIELDS
from adk_evidence.models.request import EvidenceFilters
from adk_evidence.store.base import Condition, Filter, Match

# Names that people use, and the values that chunks carry in `lang` and in `code_langs`.
_FILE_LANGUAGES = {"python": "py", "markdown": "md", "yml": "yaml", "restructuredtext": "rst", "text": "txt"}
_TAB_LANGUAGES = {"py": "python", "ts": "typescript", "js": "javascript", "golang": "go"}


def build_filter(
    filters: EvidenceFilters, paths: Sequence[str], refs: Mapping[str, tuple[str, ...]]
) -> tuple[Filter, bool]:
    """The store filter of one collection.

    Globs are resolved against the files that the index holds, since no store matches globs.

    Args:
        filters: The request's filters.
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
    must += [_tag_condition(tag) for tag in filters.tags]
    commits = _commits_of(filters.repo_ref_hint, refs)
    if commits:
        must.append(Match("commit", commits))
    return Filter(must=tuple(must)), bool(commits)


def _match_paths(filters: EvidenceFilters, paths: Iterable[str]) -> tuple[str, ...]:
    try:
        allow = Globs(filters.path_allowlist)
        block = Globs(filters.path_blocklist)
    except ValueError as exc:
        raise InvalidRequestError(f"A path filter is not a valid glob: {exc}.", "Use gitignore-style globs.") from exc
    return tuple(path for path in paths if (not filters.path_allowlist or allow.match(path)) and not block.match(path))


def _language_condition(languages: Iterable[str]) -> Filter:
    names = [name.lower().lstrip(".") for name in languages]
    files = tuple(dict.fromkeys(_FILE_LANGUAGES.get(name, name) for name in names))
    tabs = tuple(dict.fromkeys(_TAB_LANGUAGES.get(name, name) for name in names))
    return Filter(should=(Match("lang", files), Match("code_langs", tabs)))


def _tag_condition(tag: str) -> Filter:
    value = tag.lower()
    fields = (field for field in TAG_FIELDS if field != "origin" or value != "repository")
    return Filter(should=tuple(Match(field, (value,)) for field in fields))


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
