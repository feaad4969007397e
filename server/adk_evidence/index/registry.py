"""The registry of named indexes: one folder for each codebase and each other version of the ADK beside the main index.

<home>/indexes/<name>/codebase.json   the codebase's folder, and how its files are chosen and cut
<home>/indexes/<name>/version.json    instead, for a version of the ADK; see `index/versions.py`
<home>/indexes/<name>/index/          the generations
<home>/indexes/<name>/manifests/      the run manifests
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from adk_evidence.errors import InvalidRequestError, StoreError, UnknownIndexError
from adk_evidence.files import write_atomic
from adk_evidence.index.codebase import MAIN, MAX_NAME_CHARS, Codebase, checked_name, name_for
from adk_evidence.index.settings import settings_for
from adk_evidence.index.versions import (
    VERSION_RECORD,
    has_main,
    index_name,
    indexed_versions,
    recorded_versions,
    settings_for_version,
    version_in,
)
from adk_evidence.models.citation import short_name
from adk_evidence.paths import expanded
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.validation import first_problem

RECORD = "codebase.json"
# How long to wait for another process that registers or removes an index; both take milliseconds.
_REGISTRY_SECONDS = 10


class _Record(BaseModel):
    """What `codebase.json` holds."""

    model_config = ConfigDict(frozen=True)

    created_at: str
    codebase: Codebase


@dataclass(frozen=True)
class IndexSummary:
    """What is known of an index without opening it.

    `path` is the folder of the codebase; it is None for indexes of the ADK and where the record is damaged. `version`
    is that of a version index. `created_at` and `updated_at` are UTC times, None while nothing is published. `commits`
    are the commits of the corpora, `cited_as` the names that citations begin with, and `languages` the numbers of files
    by extension, the most frequent first.
    """

    name: str
    path: Path | None
    version: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    files: int = 0
    chunks: int = 0
    size_bytes: int = 0
    commits: tuple[str, ...] = ()
    cited_as: tuple[str, ...] = ()
    languages: tuple[tuple[str, int], ...] = ()


def settings_of(settings: Settings, name: str) -> Settings:
    """The settings under which the main index, the index of a version or that of a codebase is read and built.

    Raises:
        UnknownIndexError: No index has this name; the hint lists the existing ones.
        StoreError: The record of the codebase cannot be read.
    """
    if name == MAIN:
        return settings
    if version := version_in(name):
        own = settings_for_version(settings, version)
        if version in recorded_versions(settings):
            return own
        raise UnknownIndexError(f"google-adk {version} has no index of its own.", f"Run `{own.ingest_command}`.")
    return settings_for(settings, read_codebase(settings, name))


def names_of_all(settings: Settings) -> tuple[str, ...]:
    """The index of the ADK, if there is one, and the codebases. Further versions of the ADK are not among them."""
    main = (MAIN,) if has_main(settings) or indexed_versions(settings) else ()
    return (*main, *_names(settings))


def read_codebase(settings: Settings, name: str) -> Codebase:
    """The codebase of a named index; fails as `settings_of` does."""
    found = _read(settings, name)
    if found is None:
        main = [MAIN] if open_generations(settings).current() else []
        names = ", ".join([*main, *map(index_name, recorded_versions(settings)), *_names(settings)])
        hint = f"There are: {names}." if names else "Nothing has been indexed yet; run `adk-ingest all`."
        raise UnknownIndexError(f"There is no index called {name!r}.", hint)
    return found.codebase


def described(settings: Settings, values: Mapping[str, Any], words: Mapping[str, str], hint: str) -> Codebase:
    """A codebase by its name, its path and other fields; where the name is known, the fields that are left out stay.

    Args:
        settings: Of the main index.
        values: The fields.
        words: What the user calls each field.
        hint: What to do about a bad value.

    Raises:
        InvalidRequestError: A value is outside its contract; the sentence names it.
    """
    known: dict[str, Any] = {}
    with suppress(UnknownIndexError):
        known = read_codebase(settings, values["name"]).model_dump()
    try:
        return Codebase.model_validate({**known, **values})
    except ValidationError as exc:
        where, what = first_problem(exc)
        field = where.partition(".")[0] or "overlap_tokens"
        for name in ("overlap_tokens", "chunk_tokens"):
            what = what.replace(name, words[name])
        raise InvalidRequestError(f"{words[field]} is not valid: {what}.", hint) from exc


def register(settings: Settings, codebase: Codebase) -> bool:
    """Record a codebase under its name; whether the name is new.

    Raises:
        InvalidRequestError: Another folder has the name, or it is kept for the index of a version.
        StoreError: The home folder cannot be written.
    """
    with registry(settings):
        known = _known(settings, codebase)
        created_at = known.created_at if known else _now()
        record = _Record(created_at=created_at, codebase=codebase)
        _write(settings.paths.indexes / codebase.name / RECORD, record.model_dump_json(indent=1))
        return known is None


def _known(settings: Settings, codebase: Codebase) -> _Record | None:
    """The record of a codebase, if there is one; fails where another index has its name."""
    known = _read(settings, codebase.name)
    if known is None and (version := version_in(codebase.name)):
        message = f"{codebase.name!r} is the name of the index of google-adk {version}."
        raise InvalidRequestError(message, "Choose another name.")
    if known is not None and known.codebase.path != codebase.path:
        raise InvalidRequestError(
            f"The index {codebase.name} is of another folder, {known.codebase.path}.",
            f"Choose another name, or run `adk-ingest delete {codebase.name}` first.",
        )
    return known


def register_version(settings: Settings, version: str) -> bool:
    """Record that a version of the ADK has an index of its own; whether that is new.

    Raises:
        StoreError: The home folder cannot be written.
    """
    with registry(settings):
        path = settings.paths.indexes / index_name(version) / VERSION_RECORD
        if path.is_file():
            return False
        _write(path, json.dumps({"created_at": _now(), "version": version}, indent=1))
        return True


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())
    except OSError as exc:
        raise StoreError.of_disk(f"The folder {path.parent} cannot be written", exc) from exc


@contextmanager
def registry(settings: Settings) -> Iterator[None]:
    """Keep other processes from adding and removing indexes for a moment.

    Raises:
        StoreError: Another process is doing that, or the home folder cannot be written.
    """
    folder = settings.paths.indexes
    lock = FileLock(folder / ".lock", timeout=_REGISTRY_SECONDS)  # no index has this name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise StoreError("Another process is adding or removing an index.", "Try again.") from None
    except OSError as exc:
        raise StoreError.of_disk(f"The folder {folder} cannot be written", exc) from exc
    try:
        yield
    finally:
        lock.release()


def list_indexes(settings: Settings) -> list[IndexSummary]:
    """Every index of the home folder, read from its manifest alone.

    The main index comes first, if it exists, then other versions of the ADK, oldest first, then codebases.
    """
    main = _summary(settings, IndexSummary(MAIN, None))
    found = [main] if main.created_at else []
    for version in recorded_versions(settings):
        known = IndexSummary(index_name(version), None, version=version)
        found.append(_summary(settings_for_version(settings, version), known))
    for name in _names(settings):
        try:
            record = _read(settings, name)
        except StoreError:
            found.append(IndexSummary(name, None))
            continue
        if record is not None:
            known = IndexSummary(name, record.codebase.path, created_at=record.created_at)
            found.append(_summary(settings_for(settings, record.codebase), known))
    return found


def codebases(settings: Settings) -> list[Codebase]:
    """The codebases that have an index; those whose records are damaged are left out."""
    found = []
    for name in _names(settings):
        with suppress(StoreError):
            if (record := _read(settings, name)) is not None:
                found.append(record.codebase)
    return found


def _innermost(known: Iterable[Codebase], paths: Sequence[Path]) -> list[Codebase]:
    """The codebases that hold all of some files and folders, which may be gone, without those around them."""
    places = [resolved_place(path) for path in paths]
    found = [one for one in known if all(place.is_relative_to(one.path) for place in places)]
    innermost = max((len(one.path.parts) for one in found), default=0)
    return [one for one in found if len(one.path.parts) == innermost]


def resolved_place(path: Path) -> Path:
    """Where a file, folder or link lies or lay, without links above."""
    place = expanded(path).absolute()
    return Path(os.path.realpath(place.parent)) / place.name if place.name else Path(os.path.realpath(place))


def codebase_holding(settings: Settings, paths: Sequence[Path], choose: str) -> Codebase:
    """The innermost indexed codebase that holds some files and folders.

    Args:
        settings: Of the main index.
        paths: Files and folders, which may be gone.
        choose: What to do where several indexes are of one folder, as a sentence.

    Raises:
        InvalidRequestError: No codebase holds a path, or several hold all of them alike.
    """
    found = _innermost(codebases(settings), paths)
    if not found:
        what = paths[0] if len(paths) == 1 else "These paths together"
        verb = "lies" if len(paths) == 1 else "lie"
        raise InvalidRequestError(
            f"{what} {verb} in no codebase that is indexed.", "Index its folder with `adk-ingest codebase PATH`."
        )
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise InvalidRequestError(f"Several indexes are of the folder {found[0].path}: {names}.", choose)
    return found[0]


def codebase_at(settings: Settings, place: Path, within: Path) -> str | None:
    """The name of the published index of the innermost codebase that holds a place, the first where there are several.

    Args:
        settings: Of the main index.
        place: A file or folder.
        within: The folder that the codebase is, or lies in: an index of more than that would answer with what does not
            belong to the folder. None is found where no index has been published of such a codebase.
    """
    outermost = Path(os.path.realpath(within))
    published = (
        one
        for one in codebases(settings)
        if one.path.is_relative_to(outermost) and open_generations(settings_for(settings, one)).current_id() is not None
    )
    return next((one.name for one in _innermost(published, [place])), None)


def name_for_folder(settings: Settings, folder: Path) -> str:
    """The name of a folder's own index; for a folder without one, a name that no other folder has."""
    place = Path(os.path.realpath(folder))
    known = {one.name: one.path for one in codebases(settings)}
    if (own := next((name for name, path in known.items() if path == place), None)) is not None:
        return own
    name = name_for(place) or "project"
    if not _is_free_for_codebases(name):
        name = f"project-{name}"
    taken = set(_names(settings))
    endings = chain([""], (f"-{number}" for number in count(2)))
    names = (name[: MAX_NAME_CHARS - len(ending)].rstrip(".") + ending for ending in endings)
    return next(one for one in names if one not in taken)


def _is_free_for_codebases(name: str) -> bool:
    """Whether a codebase may have a name: it is not that of the main index, of a version's index or of a device."""
    try:
        return version_in(checked_name(name)) is None
    except ValueError:
        return False


def name_of_index(settings: Settings, named: str) -> str:
    """The name of the index that a person means by its name, or by a folder or file of a codebase.

    Raises:
        InvalidRequestError: The path is in no codebase that is indexed, or several indexes are of its folder.
        UnknownIndexError: No index has this name.
    """
    try:
        settings_of(settings, named)
    except UnknownIndexError:
        path = Path(named)
        if not named or not expanded(path).exists():
            raise
        return codebase_holding(settings, [path], "Name one of them.").name
    return named


def _names(settings: Settings) -> list[str]:
    return sorted(record.parent.name for record in settings.paths.indexes.glob(f"*/{RECORD}"))


def _read(settings: Settings, name: str) -> _Record | None:
    # A caller may send any text: it becomes part of a path only if it is a valid name.
    try:
        path = settings.paths.indexes / checked_name(name) / RECORD
    except ValueError:
        return None
    try:
        return _Record.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as exc:
        raise StoreError(f"{path} cannot be read.", f"Run `adk-ingest delete {name}`, then index it again.") from exc


def _summary(settings: Settings, known: IndexSummary) -> IndexSummary:
    """What is known of an index, with what the manifest of its current generation says."""
    current = open_generations(settings).current()
    if current is None:
        return known
    manifest = current.manifest
    # Generated pages are not files.
    corpora = [corpus for corpus in manifest.corpora.values() if corpus.source != "api-reference"]
    paths = [path for corpus in corpora for path in corpus.files]
    languages = Counter(PurePosixPath(path).suffix.lstrip(".").lower() or "txt" for path in paths)
    return replace(
        known,
        created_at=known.created_at or manifest.created_at,
        updated_at=manifest.created_at,
        files=len(paths),
        chunks=sum(corpus.chunks for corpus in manifest.corpora.values()),
        size_bytes=size_on_disk(settings.index_path),
        commits=tuple(dict.fromkeys(corpus.commit for _, corpus in sorted(manifest.corpora.items()))),
        cited_as=tuple(sorted({short_name(corpus.repo) for corpus in manifest.corpora.values()})),
        languages=tuple(sorted(languages.items(), key=lambda count: (-count[1], count[0]))),
    )


def size_on_disk(folder: Path) -> int:
    """Bytes that the files of a folder take on disk; files that vanish meanwhile do not count.

    A file of several generations counts once.
    """
    total, seen = 0, set[tuple[int, int]]()
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                info = os.lstat(Path(place, name))
            except OSError:
                continue
            if info.st_nlink > 1:
                if (info.st_dev, info.st_ino) in seen:
                    continue
                seen.add((info.st_dev, info.st_ino))
            # Qdrant Edge creates large files that are mostly or wholly unwritten. Windows does not report blocks.
            blocks = getattr(info, "st_blocks", None)
            total += info.st_size if blocks is None else blocks * 512
    return total
