"""Version indexes: for each version of the ADK that a project uses, an index of its own beside the main index.

<home>/indexes/adk-1.18.0/version.json   the version
<home>/indexes/adk-1.18.0/index/         the generations: docs, code and API reference as in the main index
<home>/indexes/adk-1.18.0/targets/       the ranked symbols
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from adk_evidence.commands import spelled, with_options
from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.project import DISTRIBUTION, ProjectAdk
from adk_evidence.models.chunk import Kind
from adk_evidence.models.pack import AdkVersion
from adk_evidence.models.request import MAX_TAKEN_FROM_CHARS, ProjectVersion
from adk_evidence.paths import Home
from adk_evidence.settings import CorpusSettings, Settings
from adk_evidence.store.generations import GenerationStore
from adk_evidence.store.manifest import IndexManifest, checkout_name, is_beside

VERSION_RECORD = "version.json"
_PREFIX = "adk-"
_TAG = re.compile(r"v?\d+\.\d")
# Releases of the ADK have three numbers; `1.18` is the same version as `1.18.0`.
_NUMBERS = 3


class VersionSettings(Settings):
    """The settings under which a version index is read and built; get them from `settings_for_version`."""

    adk_version: str

    @property
    def paths(self) -> Home:
        return Home(super().paths.root, index_name(self.adk_version))

    @property
    def corpora(self) -> Mapping[Kind, CorpusSettings]:
        corpora = dict(super().corpora)
        about = corpora["code"]
        # A checkout at the root of the corpus is of whatever version.
        own = {"source": "distribution", "distribution": f"{distribution_name(self)}=={self.adk_version}"}
        return {**corpora, "code": about.model_copy(update=own)}

    @property
    def ingest_command(self) -> str:
        return ingest_command(self.adk_version)

    @property
    def targets_command(self) -> str:
        return spelled("adk-ingest", "targets", "--adk", self.adk_version)


@dataclass(frozen=True)
class ChosenIndex:
    """The index that answers for a project.

    `settings` are those of the index, and `version` is the version that the index is of; None where nobody knows.
    `exact` says whether that is the version which was wanted, or whether none was wanted.
    """

    settings: Settings
    version: str | None
    wanted: ProjectAdk | None
    exact: bool

    @property
    def name(self) -> str | None:
        """The name of a version index; None for the main index."""
        return index_name(self.settings.adk_version) if isinstance(self.settings, VersionSettings) else None

    @property
    def project(self) -> ProjectVersion | None:
        """What a request says of the project."""
        return None if self.wanted is None else project_version(self.wanted)

    @property
    def warning(self) -> str | None:
        """What to say where an answer without a pack is of another version than the wanted one."""
        project = self.project
        return None if self.exact or project is None else not_indexed(project, self.version)

    @property
    def label(self) -> AdkVersion | None:
        """The wanted version beside the version that answers; None where none is wanted."""
        project = self.project
        if project is None:
            return None
        return AdkVersion(indexed=self.version, wanted=project.version, taken_from=project.taken_from)


def project_version(found: ProjectAdk) -> ProjectVersion:
    """The google-adk of a project as a request carries it."""
    source = found.taken_from if found.exact or not found.asked else f"{found.taken_from}: {found.asked}"
    # Names of folders may hold bytes that no JSON can, and ranges may be of any length.
    source = source.encode("utf-8", "backslashreplace").decode()
    return ProjectVersion(version=found.version, taken_from=source[:MAX_TAKEN_FROM_CHARS])


def not_indexed(project: ProjectVersion, indexed: str | None) -> str:
    """A sentence for a project whose version is not the indexed one; `indexed` is None where nobody knows."""
    wanted = f"google-adk {project.version}"
    # Who names a version alone need not speak of a project.
    why = f"The project uses {wanted} ({project.taken_from})" if project.taken_from else f"You asked for {wanted}"
    holds = f"is of {indexed}" if indexed else "does not say which version it holds"
    command = with_options(f"`{ingest_command(project.version)}`")
    return f"{why}; the index {holds}. Evidence may not hold for {project.version}. {command} indexes that version."


def checked_version(text: str) -> str:
    """A version of the ADK in its one spelling: `v1.18` and `1.18.0` are `1.18.0`.

    Raises:
        InvalidRequestError: The text is not one released version.
    """
    version = _parsed(text)
    if version is None or version.epoch or "+" in text:
        raise InvalidRequestError(f"{text[:80]!r} is not a version of google-adk.", "Name one such as 1.18.0.")
    numbers = ".".join(map(str, (*version.release, 0, 0)[: max(_NUMBERS, len(version.release))]))
    given = ".".join(map(str, version.release))
    return str(version).replace(given, numbers, 1)


def ingest_command(version: str) -> str:
    """The command that builds the index of a version."""
    return spelled("adk-ingest", "all", "--adk", version)


def index_name(version: str) -> str:
    """The name of the index of a version."""
    return f"{_PREFIX}{version}"


def version_in(name: str) -> str | None:
    """The version that a name of an index stands for: `1.18.0` for `adk-1.18.0`, None for names of other indexes."""
    if not name.startswith(_PREFIX):
        return None
    with suppress(InvalidRequestError):
        return checked_version(name.removeprefix(_PREFIX))
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
    with suppress(InvalidRequirement):
        if settings.ingestion.corpora.adk_python.distribution:
            return Requirement(settings.ingestion.corpora.adk_python.distribution).name
    return DISTRIBUTION


def recorded_versions(settings: Settings) -> list[str]:
    """The versions that have an index of their own, oldest first; their building may not have ended."""
    found = settings.paths.indexes.glob(f"{_PREFIX}*/{VERSION_RECORD}")
    versions = {version for path in found if (version := version_in(path.parent.name))}
    return sorted((version for version in versions if _has_record(settings, version)), key=Version)


def indexed_versions(settings: Settings) -> list[str]:
    """The versions whose own index answers questions, oldest first."""
    return [version for version in recorded_versions(settings) if _is_published(settings, version)]


def main_version(settings: Settings) -> str | None:
    """The version of the ADK that the main index is of; None without an index, or where its commit is no version."""
    current = _generations(settings.index_path).current()
    return None if current is None else _version_of_code(current.manifest)


def choose_index(settings: Settings, wanted: ProjectAdk | None) -> ChosenIndex:
    """The index that answers for a project: the main index or a version index of the wanted version.

    Where there is neither, the nearest version that is indexed answers: the newest of those below, else the oldest of
    those above. Where the version of the main index is not known, a version index is nearer.

    Args:
        settings: Of the main index.
        wanted: What the project uses; None chooses the main index.
    """
    main = main_version(settings)
    if wanted is None:
        return ChosenIndex(settings, main, None, exact=True)
    version = _parsed(wanted.version)
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
    if about.source not in ("auto", "distribution") or (settings.paths.root / about.root).exists():
        return None
    name, _, version = (about.distribution or "").partition("==")
    parsed = _parsed(version) if name else None
    return None if parsed is None else str(parsed)


def version_of(commit: str, names: Sequence[str]) -> Version | None:
    """The version of a commit, from its names or from the commit itself: tags such as `v2.13.0`."""
    for name in (*names, commit):
        if _TAG.match(name):
            with suppress(InvalidVersion):
                return Version(name)
    return None


def _version_of_code(manifest: IndexManifest) -> str | None:
    """The version of the code proper of an index, without versions that are kept beside it."""
    for name, corpus in manifest.corpora.items():
        if corpus.kind == "code" and not is_beside(name) and checkout_name(name) == name:
            version = version_of(corpus.commit, (corpus.ref,) if corpus.ref else ())
            return None if version is None else str(version)
    return None


def _nearest(wanted: Version, known: Sequence[str]) -> str | None:
    below = [version for version in known if Version(version) <= wanted]
    above = [version for version in known if Version(version) > wanted]
    if below:
        return max(below, key=Version)
    return min(above, key=Version, default=None)


def _has_record(settings: Settings, version: str) -> bool:
    # A folder of another spelling, `adk-1.18`, is not the index of 1.18.0.
    return (settings.paths.indexes / index_name(version) / VERSION_RECORD).is_file()


def _is_published(settings: Settings, version: str) -> bool:
    return _generations(settings.paths.indexes / index_name(version) / "index").current_id() is not None


# Kept: they remember the manifests, which take milliseconds to read.
@functools.lru_cache(maxsize=16)
def _generations(index_path: Path) -> GenerationStore:
    return GenerationStore(index_path)


def _parsed(text: str) -> Version | None:
    """The version that a text names, without the local part of builds of one's own."""
    with suppress(InvalidVersion):
        return Version(Version(text).public)
    return None
