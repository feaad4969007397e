"""What the released versions of the ADK say of a name that the indexed code lacks."""

from __future__ import annotations

from adk_evidence.index.opened import Index
from adk_evidence.search.run import Run
from adk_evidence.settings import Settings
from adk_evidence.symbols.history_stories import lack_at


def told_by_releases(run: Run, name: str) -> str | None:
    """A sentence on a name that the searched version of the ADK lacks, where another version has the name.

    An import path that no version has is said to be none. None where the table of versions says nothing of the name,
    or where the searched code is of no single version.
    """
    return lack_at(run.settings.paths.history, searched_version(run), name)


def searched_version(run: Run) -> str | None:
    """The one version of the ADK's code that is searched."""
    adk = run.settings.corpora["code"].repo
    choice = run.scope.versions.get("code")
    if choice is None or len(choice.searched) != 1:
        return None
    return choice.searched[0] if any(one.repo == adk for one in run.index.info.corpora.values()) else None


def indexed_version(index: Index, settings: Settings) -> str | None:
    """The version of the ADK's code that an index is of; None of other codebases."""
    adk = settings.corpora["code"].repo
    found = (one.ref or one.commit for one in index.manifest.proper().values() if one.repo == adk)
    return next((version for version in found), None)
