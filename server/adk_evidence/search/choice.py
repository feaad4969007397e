"""Which index answers a question: that of the version which the question names, or which the asker's project uses."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.versions import ChosenIndex, IndexedVersions, choose_index
from adk_evidence.released_versions import version_of
from adk_evidence.search.query import normalise
from adk_evidence.search.versions import asked_versions, exactly
from adk_evidence.settings import Settings


def index_for(settings: Settings, question: str, wanted: ProjectAdk | None, ref: str | None = None) -> ChosenIndex:
    """The index that answers a question.

    A version that the request's own filter or else the question names wins over the project's, where that version is
    indexed. A question about several versions gets the project's index.

    Args:
        settings: Of the main index.
        question: As it was asked.
        wanted: What the project uses.
        ref: The commit, tag or version to which a filter narrows the search.
    """
    indexed = IndexedVersions(settings)
    by_project = choose_index(settings, wanted, indexed)
    filtered = version_of(ref, ()) if ref else None
    asked = (exactly(str(filtered)),) if filtered else asked_versions(normalise(question).text)
    if len(asked) != 1 or (by_project.version and asked[0].holds(Version(by_project.version))):
        return by_project
    # Where the main index has such a version, it comes before the others.
    for version in [*([indexed.main] if indexed.main else []), *reversed(indexed.own)]:
        if asked[0].holds(Version(version)):
            # `exact`: this is the version that was to answer, whatever the project uses.
            return replace(choose_index(settings, ProjectAdk(version, "", exact=True), indexed), wanted=wanted)
    return by_project
