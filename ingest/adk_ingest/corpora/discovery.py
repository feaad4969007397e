"""Finds the files of a corpus, always in the same order, and reads those that changed (SPEC 3 section 4)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from adk_evidence.errors import SettingsError
from adk_evidence.gitcli import is_copy
from adk_evidence.settings import CorpusSettings
from adk_evidence.text.globs import Globs, takes_back
from adk_ingest.chunking.base import SourceFile
from adk_ingest.corpora.credentials import BY_NAME, is_credential_file, is_credential_folder
from adk_ingest.corpora.known_files import Facts
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.snapshot import MANIFEST
from adk_ingest.wording import counted


@dataclass
class Discovery:
    """The result of a walk: `files` that passed every filter, sorted by path, and what the walk skipped.

    `skipped` lists repository paths (folders end with `/`) by reason: excluded, ignored, not_included, extension,
    symlink, special_file, too_large, empty, binary, unreadable, undecodable, undecodable_name,
    another_working_tree (of the same repository), credential_file (by its name or place), credential_text (its text
    holds one).
    Reading the file adds the reasons that only its content shows: undecodable, empty, unreadable, credential_text, and
    of a codebase minified, source_map, saved_text (`error.txt`), dependency_list and twin (of another file).
    `decode_warnings` has a sentence for each file in which characters were replaced.
    """

    files: list[SourceFile] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)
    decode_warnings: list[str] = field(default_factory=list)

    def read(self) -> Iterator[SourceFile]:
        """The files in their order, without those that cannot be used."""
        for file in self.files:
            facts = file.known.facts if file.known else Facts()
            if facts.reason is not None:
                self.skip(facts.reason, file.path)
                continue
            if facts.replaced:
                characters = counted(facts.replaced, "character that is", "characters that are")
                self.decode_warnings.append(f"{file.path}: replaced {characters} not UTF-8.")
            yield file

    def skip(self, reason: str, path: str) -> None:
        self.skipped.setdefault(reason, []).append(path)


def discover(
    source: CorpusSource,
    settings: CorpusSettings,
    ignored: Collection[str] = (),
) -> Discovery:
    """Walk a corpus; filters apply in the order exclude globs, ignored, include globs, extensions, size, binary.

    Globs are gitignore-style and match the repository's paths; `!` takes back what an earlier glob matched. Credentials
    are left out whatever the globs say. Symbolic links are not followed: what they lead to inside the root is found at
    its own path.

    Args:
        source: The corpus.
        settings: The filters; empty include globs and empty extensions let everything pass.
        ignored: Paths below the root, folders with `/` at their end, that are left out besides.

    Raises:
        SettingsError: A glob cannot be parsed.
    """
    return _Walk(source, settings, frozenset(ignored)).run()


def path_filter(source: CorpusSource, settings: CorpusSettings) -> Callable[[str, bool], bool]:
    """Whether a walk could take the file at a path below the root, or enter the folder there, without its content.

    The function takes the path and whether it is a folder's.

    Raises:
        SettingsError: A glob cannot be parsed.
    """
    return _Walk(source, settings, frozenset()).could_take


class _Walk:
    """One walk. Paths are relative to the root."""

    def __init__(self, source: CorpusSource, settings: CorpusSettings, ignored: frozenset[str]) -> None:
        self._source = source
        self._ignored = ignored
        self._root = os.path.realpath(source.root)
        self._below = self._root.rstrip(os.sep) + os.sep
        self._exclude = read_globs("exclude_globs", settings.exclude_globs)
        self._include = read_globs("include_globs", settings.include_globs) if settings.include_globs else None
        self._may_prune = not any(map(takes_back, settings.exclude_globs))
        self._extensions = {extension.lower() for extension in settings.allowed_exts}
        self._max_bytes = settings.max_file_bytes
        self._found = Discovery()

    def run(self) -> Discovery:
        self._source.known.walked(self._root)
        # Without recursion, since a corpus may be of any depth.
        waiting = list(self._source.subtrees)
        while waiting:
            relative = waiting.pop()
            disk = self._on_disk(relative)
            try:
                info = os.lstat(disk)
            except OSError:
                self._skip("unreadable", relative)
                continue
            if stat.S_ISDIR(info.st_mode):
                waiting += self._list(relative)
            else:
                self._take(relative, disk, info)
        self._found.files.sort(key=lambda found: found.path)
        for paths in self._found.skipped.values():
            paths.sort()
        return self._found

    def could_take(self, relative: str, is_folder: bool) -> bool:
        """Whether the filters that need no more than a path let a file pass, or the walk into a folder."""
        above = [*PurePosixPath(relative).parents][-2::-1]
        folders = [f"{folder}/" for folder in (*above, *([relative] if is_folder else []))]
        if any(is_credential_folder(PurePosixPath(folder).name) for folder in folders):
            return False
        if self._may_prune and any(map(self._excluded, folders)):
            return False
        if any(self._is_copy(folder[:-1]) for folder in folders):
            return False
        return is_folder or self._reason_by_path(relative) is None

    def _list(self, relative: str) -> list[str]:
        """What a folder holds, if the walk may enter it."""
        excluded = bool(relative) and self._excluded(f"{relative}/")
        if excluded and self._may_prune:
            self._skip("excluded", f"{relative}/")
            return []
        if relative and is_credential_folder(PurePosixPath(relative).name):
            self._skip("excluded" if excluded else BY_NAME, f"{relative}/")
            return []
        if f"{relative}/" in self._ignored:
            self._skip("ignored", f"{relative}/")
            return []
        if self._is_copy(relative):
            self._skip("another_working_tree", f"{relative}/")
            return []
        try:
            names = os.listdir(self._on_disk(relative))  # noqa: PTH208
        except OSError:
            self._skip("unreadable", f"{relative}/")
            return []
        entries = []
        for name in names:
            path = f"{relative}/{name}" if relative else name
            if _is_utf8(name):
                entries.append(path)
            else:
                self._skip("undecodable_name", os.fsencode(path).decode("utf-8", "backslashreplace"))
        return entries

    def _take(self, relative: str, disk: str, info: os.stat_result) -> None:
        if relative in self._ignored or not self._source.known.takes(disk):
            reason = self._reason_by_path(relative) or self._reason_by_kind(info)
            if reason:
                return self._skip(reason, relative)
        try:
            known = self._source.known.look(disk, info)
        except OSError:
            return self._skip("unreadable", relative)
        if known.facts.reason == "binary":
            return self._skip("binary", relative)
        path = self._source.repo_path(relative)
        return self._found.files.append(SourceFile(path, None, known.facts.digest, known))

    def _reason_by_path(self, relative: str) -> str | None:
        """The first filter that a file's path does not pass."""
        # Of working trees and submodules, `.git` is a file that says where the repository is.
        if self._excluded(relative) or self._is_manifest(relative) or PurePosixPath(relative).name == ".git":
            return "excluded"
        if relative in self._ignored:
            return "ignored"
        if self._include and not self._include.match(self._source.repo_path(relative)):
            return "not_included"
        if is_credential_file(self._on_disk(relative)):
            return BY_NAME
        if self._extensions and PurePosixPath(relative).suffix.lower() not in self._extensions:
            return "extension"
        return None

    def _reason_by_kind(self, info: os.stat_result) -> str | None:
        if stat.S_ISLNK(info.st_mode):
            return "symlink"
        if not stat.S_ISREG(info.st_mode):
            return "special_file"
        if info.st_size > self._max_bytes:
            return "too_large"
        return "empty" if info.st_size == 0 else None

    def _is_copy(self, relative: str) -> bool:
        return bool(relative) and is_copy(Path(self._on_disk(relative)), Path(self._root))

    def _is_manifest(self, relative: str) -> bool:
        return self._source.kind == "snapshot" and relative == MANIFEST

    def _excluded(self, relative: str) -> bool:
        return self._exclude.match(self._source.repo_path(relative))

    def _skip(self, reason: str, relative: str) -> None:
        self._found.skip(reason, self._source.repo_path(relative))

    def _on_disk(self, relative: str) -> str:
        return f"{self._below}{relative.replace('/', os.sep)}" if relative else self._root


def read_globs(setting: str, globs: tuple[str, ...]) -> Globs:
    """The globs of a setting.

    Raises:
        SettingsError: A glob cannot be parsed.
    """
    try:
        return Globs(globs)
    except ValueError as exc:
        raise SettingsError(f"The setting {setting} holds a glob that is not valid: {exc}.") from exc


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
