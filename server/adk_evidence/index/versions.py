"""Version indexes: for each version of the ADK that a project uses, an index of its own beside the main index.

<home>/indexes/adk-1.18.0/version.json   the version
<home>/indexes/adk-1.18.0/index/         the generations: docs, code and API reference as in the main index
<home>/indexes/adk-1.18.0/targets/       the ranked symbols
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from adk_evidence.commands import spelled, with_options
from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import Kind
from adk_evidence.paths import Home
from adk_evidence.settings import CorpusSettings, Settings
from adk_evidence.store.generations import GenerationStore
from adk_evidence.store.manifest import IndexManifest, checkout_name
from adk_evidence.text.versions import checked_version, read_release, tagged_version

# Runs of ingestion, which have no project, do not wait for these.
if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.models.pack import AdkVersion
    from adk_evidence.models.request import ProjectVersion

VERSION_RECORD = "version.json"
_PREFIX = "adk-"


class VersionSettings(Settings):
    """The settings under which a version index is read and built; get them from `settings_for_version`."""

    adk_version: str

    @property
    def index_name(self) -> str:
        return index_name(self.adk_version)

    @property
    def paths(self) -> Home:
        return Home(super().paths.root, self.index_name)

    @property
    def corpora(self) -> Mapping[Kind, CorpusSettings]:
        corpora = dict(super().corpora)
        about = corpora["code"]
        own = {"distribution": f"{distribution_name(self)}=={self.adk_version}"}
        return {**corpora, "code": about.model_copy(update=own)}

    @property
    def exact_subject(self) -> str:
        return f"{self.subject} {self.adk_version}"

    @property
    def ingest_command(self) -> str:
        return ingest_command(self.adk_version)


@dataclass(frozen=True)
class ChosenIndex:
    """The index that answers for a project.

    `settings` are those of the index, and `version` is the version that the index is of; None where nobody knows.
    `wanted` is what the project uses. `exact` is False only where no index is of the version that was to answer, so
    that another version answers instead.
    """

    settings: Settings
    version: str | None
    wanted: ProjectAdk | None
    exact: bool

    @property
    def name(self) -> str | None:
        """The name of a version index; None for the main index."""
        return self.settings.index_name

    @property
    def project(self) -> ProjectVersion | None:
        """What a request says of the project."""
        return None if self.wanted is None else project_version(self.wanted)

    @property
    def warning(self) -> str | None:
        """What to say beside an answer without a pack where the project's version has no index."""
        project = self.project
        return None if self.exact or project is None else with_options(not_indexed(project, self.version))

    @property
    def label(self) -> AdkVersion | None:
        """The wanted version beside the version that answers; None where none is wanted."""
        from adk_evidence.models.pack import AdkVersion

        project = self.project
        if project is None:
            return None
        return AdkVersion(indexed=self.version, wanted=project.version, taken_from=project.taken_from)


def project_version(found: ProjectAdk) -> ProjectVersion:
    """The google-adk of a project as a request carries it."""
    from adk_evidence.models.request import MAX_TAKEN_FROM_CHARS, ProjectVersion

    source = found.taken_from if found.exact or not found.asked else f"{found.taken_from}: {found.asked}"
    # No JSON can hold some bytes of names.
    source = source.encode("utf-8", "backslashreplace").decode()
    return ProjectVersion(version=found.version, taken_from=source[:MAX_TAKEN_FROM_CHARS])


def not_indexed(project: ProjectVersion, indexed: str | None) -> str:
    """A sentence for a project whose version is not the indexed one; `indexed` is None where nobody knows.

    The same project and index give the same sentence on every machine. The command therefore lacks the options of this
    process.
    """
    wanted = f"google-adk {project.version}"
    # Who names a version alone need not speak of a project.
    why = f"The project uses {wanted}" if project.taken_from else f"You asked for {wanted}"
    # A version that a person types need not exist.
    does = "indexes that version" if project.taken_from else "indexes that version if it was released"
    holds = f"is of {indexed}" if indexed else "does not say which version it holds"
    # The registry has releases alone, not builds of one's own.
    command = ingest_command(project.version.partition("+")[0])
    return f"{why}; the index {holds}. Evidence may not hold for {project.version}. `{command}` {does}."


def ingest_command(version: str) -> str:
    """The command that builds the index of a version."""
    return spelled("adk-ingest", "all", "--adk", version)


def index_name(version: str) -> str:
    """The name of the index of a version."""
    return f"{_PREFIX}{version}"


def version_in(name: str) -> str | None:
    """The version that a name of an index stands for: `1.18.0` for `adk-1.18.0`, None for names of other indexes.

    Only the one spelling of a version counts: `adk-2` and `adk-2024` may be names of codebases.
    """
    with suppress(InvalidRequestError):
        version = checked_version(name.removeprefix(_PREFIX))
        return version if index_name(version) == name else None
    return None


def settings_for_version(settings: Settings, version: str) -> VersionSettings:
    """The settings for the index of a version of the ADK, whether or not there is such an index.

    Raises:
        InvalidRequestError: That is not a version.
    """
    version = checked_version(version)
    shared = {field: getattr(settings, field) for field in Settings.model_fields}
    store = settings.store
    own = store.model_copy(
        update={
            "path": None,
            "docs_collection": f"{store.docs_collection}-{version}",
            "code_collection": f"{store.code_collection}-{version}",
        }
    )
    return VersionSettings.model_construct(**{**shared, "store": own, "adk_version": version})


def distribution_name(settings: Settings) -> str:
    """The distribution that the code comes from: `google-adk`."""
    from adk_evidence.index.project import DISTRIBUTION

    with suppress(InvalidRequirement):
        if settings.ingestion.corpora.adk_python.distribution:
            return Requirement(settings.ingestion.corpora.adk_python.distribution).name
    return DISTRIBUTION


def recorded_versions(settings: Settings) -> list[str]:
    """The versions that have an index of their own, oldest first; their building may not have ended."""
    found = settings.paths.indexes.glob(f"{_PREFIX}*/{VERSION_RECORD}")
    return sorted((version for path in found if (version := version_in(path.parent.name))), key=Version)


def indexed_versions(settings: Settings) -> list[str]:
    """The versions whose own index answers questions, oldest first."""
    folders = {
        version: settings.paths.indexes / index_name(version) / "index" for version in recorded_versions(settings)
    }
    return [version for version, folder in folders.items() if GenerationStore(folder).current_id() is not None]


def has_main(settings: Settings) -> bool:
    """Whether the main index answers questions."""
    return GenerationStore(settings.index_path).current_id() is not None


def main_version(settings: Settings) -> str | None:
    """The version of the ADK that the main index is of; None without an index, or where its commit is no version."""
    current = GenerationStore(settings.index_path).current()
    return None if current is None else version_of_code(current.manifest, settings)


def choose_index(settings: Settings, wanted: ProjectAdk | None) -> ChosenIndex:
    """The index that answers for a project: the main index or a version index of the wanted version.

    Where there is neither, the nearest version that is indexed answers: the newest of those below, else the oldest of
    those above; versions with the same first number come before all others. Where the version of the main index is not
    known, a version index is nearer.

    Args:
        settings: Of the main index.
        wanted: What the project uses. None chooses the main index, which is of what the settings name, and where there
            is none, the newest version that is indexed.
    """
    main = main_version(settings)
    if wanted is None:
        newest = None if has_main(settings) else next(reversed(indexed_versions(settings)), None)
        own_settings = settings if newest is None else settings_for_version(settings, newest)
        return ChosenIndex(own_settings, newest or main, None, exact=True)
    version = read_release(wanted.version)
    if version is not None and main is not None and Version(main) == version:
        return ChosenIndex(settings, main, wanted, exact=True)
    own = indexed_versions(settings)
    nearest = None if version is None else _nearest(version, [*([main] if main else []), *own])
    if nearest is None or nearest not in own:
        return ChosenIndex(settings, main, wanted, exact=False)
    return ChosenIndex(settings_for_version(settings, nearest), nearest, wanted, exact=Version(nearest) == version)


def configured_version(settings: Settings) -> str | None:
    """The version that the main index would be of if it were built now; None where that is not known."""
    about = settings.ingestion.corpora.adk_python
    if (settings.paths.root / about.root).exists():
        return None
    name, _, version = (about.distribution or "").partition("==")
    parsed = read_release(version) if name else None
    return None if parsed is None else str(parsed)


def version_of_code(manifest: IndexManifest, settings: Settings) -> str | None:
    """The version of the ADK's code proper in an index; None of other code.

    Args:
        manifest: Of the index.
        settings: They name the repository of the ADK.
    """
    adk = settings.corpora["code"].repo
    for name, corpus in manifest.corpora.items():
        if corpus.kind == "code" and corpus.repo == adk and checkout_name(name) == name:
            versions = map(tagged_version, (corpus.ref or "", corpus.commit))
            return next((str(version) for version in versions if version is not None), None)
    return None


def _nearest(wanted: Version, known: Sequence[str]) -> str | None:
    """The newest version below, else the oldest above; one with the same first number before all others."""
    versions = [Version(version) for version in known]
    alike = [version for version in versions if version.major == wanted.major] or versions
    below = [version for version in alike if version <= wanted]
    return str(max(below) if below else min(alike)) if alike else None
