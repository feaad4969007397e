"""Files without evidence: what the sources hold and the index has nothing of, and why."""

from __future__ import annotations

from collections.abc import Iterable

from adk_evidence.index.indexer import Survey
from adk_evidence.models.analysis import LeftOut
from adk_evidence.store.manifest import IndexManifest

_WHY = {
    "excluded": "A glob leaves them out.",
    "ignored": "Git ignores them, or they are this product's own data.",
    "not_included": "No glob of the wanted files matches them.",
    "extension": "Their extension is not one of the corpus's.",
    "too_large": "They have more bytes than a file may have.",
    "empty": "They are empty.",
    "binary": "They are not text.",
    "minified": "Their lines are too long for a person to have written them.",
    "source_map": "They map a build to its sources.",
    "another_working_tree": "They are further working trees of a repository that is indexed.",
    "twin": "Another file says the same, as builds and copies do.",
    "unreadable": "They cannot be read.",
    "undecodable": "Their text is in no encoding that is known.",
    "undecodable_name": "Their names are not valid UTF-8.",
    "special_file": "They are pipes, sockets or devices.",
    "symlink": "They are links, which are not followed.",
    "credential_file": "Their names or places are those of credentials.",
    "credential_text": "Their text holds a credential.",
    "chunker_failed": "They could not be cut into chunks, by a fault of the program.",
    "nothing_to_cite": "They hold no more than a licence, or no word to search for.",
}


def without_evidence(manifest: IndexManifest, survey: Survey | None, limit: int) -> tuple[LeftOut, ...]:
    """The files of the sources that the index has no chunk of, by reason, the most frequent reason first.

    Without a survey, only those that the manifest lists.
    """
    found: dict[str, set[str]] = {}
    for reason, path in (*(survey.left_out if survey else ()), *_indexed_for_nothing(manifest)):
        found.setdefault(reason, set()).add(path)
    groups = (_left_out(reason, paths, limit) for reason, paths in found.items())
    return tuple(sorted(groups, key=lambda group: (-group.files, -group.folders, group.reason)))


def _indexed_for_nothing(manifest: IndexManifest) -> Iterable[tuple[str, str]]:
    for corpus in manifest.corpora.values():
        # A page is made of every module, also of those without a docstring.
        if corpus.source == "api-reference":
            continue
        for path, file in corpus.files.items():
            if not file.chunks:
                yield "chunker_failed" if file.failed else "nothing_to_cite", path


def _left_out(reason: str, paths: set[str], limit: int) -> LeftOut:
    folders = sum(path.endswith("/") for path in paths)
    return LeftOut(
        reason=reason,
        why=_WHY.get(reason, f"{reason.replace('_', ' ').capitalize()}."),
        files=len(paths) - folders,
        folders=folders,
        listed=tuple(sorted(paths)[:limit]),
    )
