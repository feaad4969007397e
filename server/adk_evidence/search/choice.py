"""Which index answers a question: that of the version which the question names, or which the asker's project uses."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.versions import ChosenIndex, choose_index, indexed_versions, main_version
from adk_evidence.search.question.query import normalise
from adk_evidence.search.question.versions import asked_versions
from adk_evidence.settings import Settings


def index_for(settings: Settings, question: str, wanted: ProjectAdk | None) -> ChosenIndex:
    """The index that answers a question.

    A version that the question names comes before the project's: its own index answers, or else that of the nearest
    version. A question about several versions gets the project's index.

    Args:
        settings: Of the main index.
        question: As it was asked.
        wanted: What the project uses.
    """
    by_project = choose_index(settings, wanted)
    asked = asked_versions(normalise(question).text)
    if len(asked) != 1 or (by_project.version and asked[0].holds(Version(by_project.version))):
        return by_project
    # Where the main index has such a version, it comes before the others.
    main = main_version(settings)
    known = [*([main] if main else []), *reversed(indexed_versions(settings))]
    version = next((one for one in known if asked[0].holds(Version(one))), str(asked[0].nearest_to))
    # `exact`: what the project uses is not what was to answer. A pack says of itself where it is not of that version.
    return replace(choose_index(settings, ProjectAdk(version, "", exact=True)), wanted=wanted, exact=True)
