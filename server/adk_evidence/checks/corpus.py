"""The drift of a whole corpus of docs: a folder of pages and programs, or the docs of an index."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adk_evidence.checks.drift import Deviation, DriftChecker, DriftKind
from adk_evidence.checks.prose import lines_for_others, prose_deviations
from adk_evidence.errors import EvidenceError, SourceError
from adk_evidence.gitcli import is_copy
from adk_evidence.languages import language_of_file
from adk_evidence.readers.pages.includes import IncludeReader
from adk_evidence.readers.pages.snippets import snippets_of
from adk_evidence.text.textfile import decode, is_binary, split_lines

# A check of files opens no index.
if TYPE_CHECKING:
    from adk_evidence.settings import Settings
    from adk_evidence.store.manifest import IndexManifest

MAX_FILE_BYTES = 5_000_000
_LANGS = ("md", "py")
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "dist", "build"})
# What marks the folder that a page's includes are looked for in, as documentation tools do.
_ROOTS = ("mkdocs.yml", "mkdocs.yaml", ".git")


@dataclass(frozen=True)
class DocsFile:
    """A page or a program. `path` is how people name the file, `disk` where it lies; `read` reads what it includes."""

    path: str
    disk: Path
    text: str
    lang: str
    read: IncludeReader


@dataclass(frozen=True)
class Found:
    """A deviation in a file."""

    file: DocsFile
    deviation: Deviation


@dataclass(frozen=True)
class DriftReport:
    """What a corpus shows and a version lacks.

    `imports` counts each name that a statement imports from the ADK as often as readers meet the statement: in the code
    blocks of pages, with the files that a page includes in their places, and in the programs of the corpus. `missing`
    are those of them that the version does not have.
    """

    version: str
    files: int
    imports: int
    missing: int
    found: tuple[Found, ...]

    @property
    def share(self) -> float:
        """The share of the imports that do not exist, 0 to 1."""
        return self.missing / self.imports if self.imports else 0.0

    @property
    def lacking(self) -> tuple[Found, ...]:
        """The findings without the notes on deprecated names."""
        return tuple(one for one in self.found if one.deviation.kind != "deprecated")

    def counts(self) -> dict[DriftKind, int]:
        return dict(Counter(one.deviation.kind for one in self.found))


def report_drift(checker: DriftChecker, files: Iterable[DocsFile]) -> DriftReport:
    """Check files in their order."""
    count = imports = missing = 0
    found: list[Found] = []
    for file in files:
        lines = split_lines(file.text)
        checked = checker.check(snippets_of(lines, file.lang, file.read))
        count += 1
        imports += checked.imports
        missing += checked.missing
        others = lines_for_others(lines, file.path) if file.lang == "md" else frozenset()
        named = prose_deviations(checker, lines, file.text, others) if file.lang == "md" else ()
        in_order = sorted((*checked.deviations, *named), key=lambda one: one.first)
        found += (Found(file, deviation) for deviation in in_order)
    return DriftReport(checker.version, count, imports, missing, tuple(found))


def files_of_folder(folder: Path) -> Iterator[DocsFile]:
    """The pages and programs below a folder, or a file alone, sorted by path; links are not followed.

    Hidden folders, environments and what builds leave behind are left out.

    Raises:
        SourceError: There is no such folder.
    """
    if not folder.exists():
        raise SourceError(f"There is no file or folder {folder}.", "Check the path.")
    read = _include_reader(folder if folder.is_dir() else folder.parent)
    for disk in sorted(_walk(folder)) if folder.is_dir() else [folder]:
        lang = language_of_file(disk.name)
        text = _read(disk) if lang in _LANGS else None
        if text is not None:
            yield DocsFile(str(disk.relative_to(folder)) if disk != folder else disk.name, disk, text, lang, read)


def indexed_version(settings: Settings, manifest: IndexManifest) -> str | None:
    """The version of google-adk that an index is of, as the index calls it; None where it holds no source of that."""
    adk = settings.corpora["code"].repo
    return next((one.ref or one.commit for one in manifest.corpora.values() if one.repo == adk), None)


def files_of_index(manifest: IndexManifest, folder: Path) -> Iterator[DocsFile]:
    """The indexed pages and programs as their sources have them now; the API reference is made of the code itself.

    Args:
        manifest: Of the index's generation.
        folder: Of the same.

    Raises:
        SourceError: The source of a corpus is missing.
    """
    from adk_evidence.index.opened import source_readers

    readers = source_readers(manifest, folder)
    for name, corpus in sorted(manifest.corpora.items()):
        if corpus.kind != "doc" or corpus.source == "api-reference":
            continue
        location, reader = corpus.location, readers[name]

        def read(path: str, reader: IncludeReader = reader.read) -> str | None:
            with suppress(EvidenceError):
                return reader(path)
            return None

        for path in sorted(corpus.files):
            text = reader.read(path) if language_of_file(path) in _LANGS else None
            if text is not None:
                disk = folder / location.root / path.removeprefix(location.path_prefix)
                yield DocsFile(path, disk, text, language_of_file(path), read)


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        seen = [name for name in folders if not name.startswith(".") and name not in _LEFT_OUT]
        folders[:] = [name for name in seen if not is_copy(Path(root, name), folder)]
        yield from (Path(root) / name for name in files)


def _include_reader(folder: Path) -> IncludeReader:
    """Reads included files below the folder, or below the root of the documentation around the folder."""
    here = folder.resolve()
    around = next((one for one in (here, *here.parents) if any((one / name).exists() for name in _ROOTS)), here)

    def read(path: str) -> str | None:
        for root in dict.fromkeys((here, around)):
            with suppress(OSError, ValueError):
                disk = (root / path).resolve()
                if disk.is_relative_to(root) and disk.is_file():
                    return _read(disk)
        return None

    return read


def _read(disk: Path) -> str | None:
    """The text of a file, or None of what is no text, too large, or cannot be read."""
    with suppress(OSError):
        if disk.is_file() and not disk.is_symlink() and disk.stat().st_size <= MAX_FILE_BYTES:
            raw = disk.read_bytes()
            decoded = None if is_binary(raw) else decode(raw)
            return decoded.text if decoded else None
    return None
