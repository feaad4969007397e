"""The code of a distribution: installed for some interpreter, a wheel, or fetched from the package registry.

Its commit is the release's tag `v<version>`, unless it was installed from a known commit.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, NormalizedName, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from adk_evidence.errors import SourceError
from adk_evidence.index.environments import site_packages
from adk_evidence.services.package_registry import RegistryError, fetch_distribution
from adk_evidence.settings import CorpusSettings
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.git import open_checkout

# Where the repository keeps the packages that a wheel holds at its top.
REPOSITORY_PREFIX = "src/"
MAX_UNPACKED_BYTES = 1_000_000_000


def parse_requirement(text: str) -> Requirement:
    """A requirement such as `google-adk==2.13.0`.

    Raises:
        SourceError: It is not a requirement, or it points to an address.
    """
    try:
        requirement = Requirement(text)
    except InvalidRequirement as exc:
        raise SourceError(f"{text!r} is not a distribution such as google-adk==2.13.0.") from exc
    if requirement.url:
        raise SourceError(f"The distribution {requirement.name} is given by an address.", "Name its version instead.")
    return requirement


def open_installed(requirement: Requirement, settings: CorpusSettings, python: Path | None = None) -> CorpusSource:
    """A distribution that is installed for the running interpreter, or in the environment at `python`.

    `python` is an interpreter or the folder of an environment. It is not run: it may be a stranger's.

    Raises:
        SourceError: It is not installed there, or in another version.
    """
    name = canonicalize_name(requirement.name)
    places = sys.path if python is None else site_packages(python)
    found = _find(name, places, f"{requirement.name} is not installed {f'in {python}' if python else 'here'}.")
    version = _version(found)
    if not requirement.specifier.contains(version, prereleases=True):
        raise SourceError(f"{requirement.name} is installed as {version}, not as {requirement.specifier}.")
    return open_folder(Path(str(found.locate_file(""))), name, settings)


def open_wheel(wheel: Path, home: Path, settings: CorpusSettings) -> CorpusSource:
    """A wheel, unpacked once into `home`/<name>-<version>.

    Raises:
        SourceError: The file is not a sound wheel.
    """
    try:
        name, version, _, _ = parse_wheel_filename(wheel.name)
    except (InvalidWheelFilename, InvalidVersion) as exc:
        raise SourceError(f"{wheel.name} is not the name of a wheel.") from exc
    if not wheel.is_file():
        raise SourceError(f"The wheel {wheel} does not exist.")
    return _open_unpacked(home, name, version, settings, lambda folder: _unpack(wheel, folder))


def open_registry(
    requirement: Requirement, home: Path, settings: CorpusSettings, *, notify: Callable[[str], None]
) -> CorpusSource:
    """A distribution of the package registry, fetched without its requirements and unpacked into `home`.

    A pinned version that was unpacked before is taken from there. `notify` gets a sentence before the download.

    Raises:
        SourceError: It cannot be fetched.
    """
    name = canonicalize_name(requirement.name)
    pinned = _pinned_version(requirement)
    if pinned is not None:
        return _open_unpacked(home, name, pinned, settings, lambda folder: _download(requirement, folder, notify))
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=home) as scratch:
        fetched = Path(scratch) / "fetched"
        fetched.mkdir()
        _download(requirement, fetched, notify)
        version = _version(_find(name, [fetched]))
        return _open_unpacked(home, name, version, settings, lambda folder: _move_all(fetched, folder))


def open_copy(folder: Path, requirement: Requirement, home: Path, settings: CorpusSettings) -> CorpusSource:
    """An installed distribution, copied once into `home`/<name>-<version>.

    An environment may be upgraded or removed, and an index of a version must outlive that. Only files are copied that
    are as they were installed; where one of them was edited, the installation is no release.

    Args:
        folder: A `site-packages` that has the distribution.
        requirement: Names the version, as in `google-adk==2.13.0`.
        home: Where distributions are kept.
        settings: The corpus.

    Raises:
        SourceError: The distribution is not there in this version, or not as it was released.
    """
    name, version = canonicalize_name(requirement.name), _pinned_version(requirement)
    found = _find(name, [folder])
    if version is None or _version(found) != version:
        raise SourceError(f"{requirement.name} is installed as {found.version}, not as {requirement.specifier}.")
    if _direct_url(found):
        raise SourceError(f"{requirement.name} {found.version} was installed from a folder or an address.")
    return _open_unpacked(home, name, version, settings, lambda copy: _copy_installed(found, folder, copy))


def _copy_installed(found: Distribution, folder: Path, copy: Path) -> None:
    """Copy the recorded files whose content the record confirms; what the installer added has no hash."""
    size = 0
    for file in found.files or ():
        path = PurePosixPath(str(file).replace("\\", "/"))
        is_record = path.name == "RECORD" and path.parent.name.endswith(".dist-info")
        if path.is_absolute() or ".." in path.parts or (file.hash is None and not is_record):
            continue
        source = folder.joinpath(*path.parts)
        try:
            info = source.stat()
            # To read a pipe would wait for ever.
            if not stat.S_ISREG(info.st_mode):
                raise SourceError(f"The installed {path} is no file.")
            size += info.st_size
            if size > MAX_UNPACKED_BYTES:
                raise SourceError(f"The installed {found.metadata['Name']} is too large.")
            content = source.read_bytes()
        except (OSError, ValueError) as exc:
            raise SourceError(f"The installed {path} cannot be read.") from exc
        if file.hash is not None and not _is_recorded(content, file.hash.mode, file.hash.value):
            raise SourceError(f"The installed {path} was edited, so it is not as {found.metadata['Name']} released it.")
        target = copy.joinpath(*path.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _is_recorded(content: bytes, mode: str, value: str) -> bool:
    if mode not in hashlib.algorithms_guaranteed or mode.startswith("shake"):
        return False
    digest = base64.urlsafe_b64encode(hashlib.new(mode, content, usedforsecurity=False).digest())
    return digest.rstrip(b"=").decode() == value


def is_unpacked(requirement: Requirement, home: Path) -> bool:
    """Whether a pinned distribution was unpacked into `home` before."""
    version = _pinned_version(requirement)
    return version is not None and (home / f"{canonicalize_name(requirement.name)}-{version}").is_dir()


def _pinned_version(requirement: Requirement) -> Version | None:
    """The version of a requirement `name==version`, None where several will do."""
    pins = list(requirement.specifier)
    if len(pins) != 1 or pins[0].operator != "==" or pins[0].version.endswith(".*"):
        return None
    return Version(pins[0].version)


def open_folder(folder: Path, name: NormalizedName, settings: CorpusSettings) -> CorpusSource:
    """A distribution in a folder of packages and their `*.dist-info`: a `site-packages`, or one unpacked alone.

    Raises:
        SourceError: The folder does not hold it.
    """
    found = _find(name, [folder])
    origin = _direct_url(found)
    if origin.get("dir_info", {}).get("editable"):
        return _open_editable(str(origin.get("url", "")), name, settings)
    subtrees = tuple(_package_roots(_recorded_files(found)))
    if not subtrees:
        raise SourceError(f"The installed {name} does not say which files are its own.", "Install it again.")
    tag = f"v{_version(found)}"
    vcs = origin.get("vcs_info", {})
    return CorpusSource(
        corpus=settings.corpus,
        repo=settings.repo,
        kind="distribution",
        root=folder.resolve(),
        commit=str(vcs.get("commit_id") or tag),
        ref=str(vcs.get("requested_revision") or tag) if vcs else tag,
        site_url=settings.site_url,
        licence=_licence(found),
        path_prefix=REPOSITORY_PREFIX,
        subtrees=subtrees,
    )


def _licence(found: Distribution) -> str | None:
    metadata = found.metadata
    for name in ("License-Expression", "License"):
        if name in metadata:
            return metadata[name].partition("\n")[0]
    classifiers = metadata.get_all("Classifier") or []
    return next((line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")), None)


def _open_editable(url: str, name: str, settings: CorpusSettings) -> CorpusSource:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(url)
    if parts.scheme != "file":
        raise SourceError(f"The installed {name} is editable, but its folder is not known.", "Name its checkout.")
    return open_checkout(Path(url2pathname(parts.path)), settings)


def _find(name: NormalizedName, folders: Iterable[Path | str], missing: str = "") -> Distribution:
    """The distribution in the first of the folders that holds it; `missing` is the sentence where none does."""
    places = [str(folder) for folder in folders]
    for found in importlib.metadata.distributions(name=name, path=places):
        if canonicalize_name(found.metadata["Name"] or "") == name:
            return found
    raise SourceError(missing or f"The folder {places[0]} does not hold the distribution {name}.")


def _version(found: Distribution) -> Version:
    try:
        return Version(found.version)
    except InvalidVersion as exc:
        raise SourceError(f"{found.metadata['Name']} has the invalid version {found.version!r}.") from exc


def _direct_url(found: Distribution) -> dict[str, Any]:
    """How a distribution was installed if not from a registry; empty otherwise."""
    try:
        data = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _recorded_files(found: Distribution) -> Iterator[PurePosixPath]:
    for file in found.files or ():
        path = PurePosixPath(str(file).replace("\\", "/"))
        top = path.parts[0] if path.parts else ""
        if path.suffix == ".pyc" or path.is_absolute() or ".." in path.parts or top.endswith((".dist-info", ".data")):
            continue
        yield path


def _package_roots(files: Iterable[PurePosixPath]) -> list[str]:
    """The packages that no other package holds, and modules outside of packages.

    `google` is shared by many distributions; what belongs to google-adk begins at `google/adk`.
    """
    # As tuples of parts: making a path of each folder above each file takes three times as long.
    places = sorted(file.parts for file in files)
    packages = {file[:-1] for file in places if file[-1] == "__init__.py"}
    owners = (next((file[:depth] for depth in range(len(file)) if file[:depth] in packages), file) for file in places)
    return list(dict.fromkeys("/".join(owner) or "." for owner in owners))


def _open_unpacked(
    home: Path, name: NormalizedName, version: Version, settings: CorpusSettings, fill: Callable[[Path], None]
) -> CorpusSource:
    """Open `home`/<name>-<version>, which `fill` makes where it does not exist; one process at a time."""
    folder = home / f"{name}-{version}"
    if not folder.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / f".{folder.name}.lock"):
            if not folder.is_dir():
                _make(folder, name, fill)
    return open_folder(folder, name, settings)


def _make(folder: Path, name: NormalizedName, fill: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        fill(made)
        if f"{name}-{_version(_find(name, [made]))}" != folder.name:
            raise SourceError(f"What was fetched as {folder.name} is another version.")
        made.replace(folder)


def _download(requirement: Requirement, folder: Path, notify: Callable[[str], None]) -> None:
    wanted = f"{requirement.name}{requirement.specifier}"
    notify(f"Downloading {wanted} from the package registry")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".download-") as scratch:
        try:
            fetched = fetch_distribution(wanted, Path(scratch))
        except RegistryError as exc:
            hint = exc.hint or "Get online once, or name a wheel or a checkout by its path."
            raise SourceError(exc.message, hint) from exc
        if fetched.is_file():
            _unpack(fetched, folder)
        else:
            _move_all(fetched, folder)


def _move_all(source: Path, destination: Path) -> None:
    for entry in source.iterdir():
        shutil.move(entry, destination / entry.name)


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack packages and metadata; names that lead out of the folder lose what leads out."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED_BYTES:
                raise SourceError(f"The wheel {wheel.name} is larger than {MAX_UNPACKED_BYTES:,} bytes.")
            archive.extractall(folder)
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as exc:
        raise SourceError(f"The wheel {wheel.name} is damaged.") from exc
    except OSError as exc:
        raise SourceError(f"The wheel {wheel.name} cannot be unpacked: {exc.strerror}.") from exc
