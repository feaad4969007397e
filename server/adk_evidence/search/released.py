"""What the released versions of the ADK say of a name that the indexed code lacks."""

from __future__ import annotations

from contextlib import suppress

from adk_evidence.errors import EvidenceError
from adk_evidence.search.run import Run
from adk_evidence.symbols.history import History
from adk_evidence.symbols.history_stories import lack


def told_by_releases(run: Run, name: str) -> str | None:
    """A sentence on a name that the searched version of the ADK lacks, where another version has the name.

    An import path that no version has is said to be none. None where the table of versions says nothing of the name,
    or where the searched code is of no single version.
    """
    version = _searched_version(run)
    if version is None:
        return None
    with suppress(EvidenceError):
        history = History.load(run.settings.paths.history)
        known = history.nearest(version)
        # A version that is newer than the table may have what no known version has.
        return lack(history, version, name) if known is not None and known.exact else None
    return None


def _searched_version(run: Run) -> str | None:
    """The one version of the ADK's code that is searched."""
    adk = run.settings.corpora["code"].repo
    choice = run.scope.versions.get("code")
    if choice is None or len(choice.searched) != 1:
        return None
    return choice.searched[0] if any(one.repo == adk for one in run.index.info.corpora.values()) else None
