"""What earlier runs found in files, so that a file that did not change is not read again.

A file counts as unchanged when size, times, inode and device are those of the last look, as in git's index. The time of
the last change of the inode counts too: a program can set the time of a file's content back, but not that time. A file
that changed shortly before the last look is read anyway, as git does with "racily clean" files: where a file system
counts time in steps, a second change within a step leaves the same times.

What is kept of a file depends on its bytes alone. So the record needs no agreement with the index: where the record is
missing, damaged or of another version of the product, all files are read.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from adk_evidence import __version__
from adk_evidence.errors import SourceError
from adk_evidence.files import write_atomic
from adk_evidence.models.chunk import sha256_text
from adk_evidence.text.textfile import HEAD_BYTES, decode, is_binary
from adk_ingest.corpora.credentials import BY_TEXT, holds_credential

RECORD = "files.json"
# Raise it when the facts of a file, or the facts that others derive from its text, come about in another way.
RULES = 2
# FAT counts the times of files in steps of two seconds; no file system in use counts in longer ones.
TIME_STEP_NS = 2_000_000_000

# Size, time of the last change of the content and of the inode, inode, device.
Signature = tuple[int, int, int, int, int]


class Facts(BaseModel):
    """What the bytes of a file say.

    `reason` says why the file cannot be used; None where it can. `digest` is the sha256 of the text, `replaced` counts
    the characters that were not UTF-8. `blobs` are the ids that git gives to the bytes, with their line ends and with
    those of Unix. `derived` has what others found in the text, by the name of their rule.
    """

    reason: str | None = None
    digest: str = ""
    replaced: int = 0
    chars: int = 0
    lines: int = 0
    blobs: tuple[str, ...] = ()
    derived: dict[str, Any] = Field(default_factory=dict)


class _Entry(BaseModel):
    """A file as it was looked at; `at` is the time just before, in nanoseconds."""

    signature: Signature
    at: int
    facts: Facts


class _Record(BaseModel):
    """What the record's file holds; `rules` says how the facts came about."""

    rules: str
    files: dict[str, _Entry] = Field(default_factory=dict)


class KnownFile:
    """A regular file of this run, with its facts; the text is read each time it is asked for.

    Reading takes microseconds, and the texts of a large codebase would take all memory.
    """

    def __init__(self, disk: str, facts: Facts, changed: Callable[[], None] = lambda: None) -> None:
        self.facts = facts
        self._disk = disk
        self._changed = changed

    def __reduce__(self) -> tuple[type[KnownFile], tuple[str, Facts]]:
        # What another process learns of the file is not kept.
        return KnownFile, (self._disk, self.facts)

    @property
    def text(self) -> str:
        """The text as it is now; empty where the file cannot be read as text any more."""
        with suppress(OSError):
            if (decoded := decode(Path(self._disk).read_bytes())) is not None:
                return decoded.text
        return ""

    def is_blob(self, content: str) -> bool:
        """Whether git would give the bytes this id, where the kind of line ends makes no difference."""
        facts = self.facts
        if not any(len(known) == len(content) for known in facts.blobs):
            try:
                facts.blobs = blob_ids(Path(self._disk).read_bytes(), content)
            except OSError:
                return False
            self._changed()
        return content in facts.blobs

    def derived(self, rule: str, derive: Callable[[], Any]) -> Any:
        """What a rule finds in the text, as plain JSON data; a rule that changes needs another name."""
        if rule not in self.facts.derived:
            self.facts.derived[rule] = derive()
            self._changed()
        return self.facts.derived[rule]


class KnownFiles:
    """The record of one index.

    Args:
        path: The record's file; without one, nothing is known before and nothing is kept.
        compare: Read every file, whatever its size and times are.
        clock: Nanoseconds since 1970, as file systems count them.
    """

    def __init__(
        self, path: Path | None = None, *, compare: bool = False, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._path = path
        self._clock = clock
        self._known = {} if path is None else _read(path)
        self._compare = compare
        self._seen: dict[str, tuple[Signature, KnownFile]] = {}
        self._walked: set[str] = set()
        self._is_changed = False

    def look(self, disk: str, info: os.stat_result) -> KnownFile:
        """What is known of a regular file, which is read if anything about it changed since the last look.

        Raises:
            OSError: The file cannot be read.
        """
        signature = _signature(info)
        seen = self._seen.get(disk)
        if seen is not None and seen[0] == signature:
            return seen[1]
        entry = self._known.get(disk)
        is_known = entry is not None and entry.signature == signature and _is_settled(signature, entry.at)
        if entry is not None and is_known and not self._compare:
            file = KnownFile(disk, entry.facts, self._change)
        else:
            at = self._clock()
            facts = _facts(disk)
            # Files whose facts are all the same still get the later time, so that the next run trusts them.
            self._known[disk] = _Entry(signature=signature, at=at, facts=facts)
            self._change()
            file = KnownFile(disk, facts, self._change)
        self._seen[disk] = signature, file
        return file

    def look_at(self, disk: str | Path) -> KnownFile | None:
        """The same for a place where there may be no file; None where no regular file can be read."""
        try:
            info = os.stat(disk)  # noqa: PTH116
            # Reading a pipe would never end.
            return self.look(os.fspath(disk), info) if stat.S_ISREG(info.st_mode) else None
        except (OSError, ValueError):
            return None

    def takes(self, disk: str) -> bool:
        """Whether a walk need not ask again if it may take the file at a place."""
        return False

    def walked(self, root: str) -> None:
        """All files below a folder are being looked at: `save` forgets those that are not there any more."""
        self._walked.add(root.rstrip(os.sep) + os.sep)

    def save(self) -> None:
        """Keep what is known; where the file cannot be written, the next run reads more."""
        if self._path is None:
            return
        gone = [disk for disk in self._known if disk not in self._seen and disk.startswith(tuple(self._walked))]
        if not gone and not self._is_changed:
            return
        for disk in gone:
            del self._known[disk]
        record = _Record(rules=_rules(), files=self._known)
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self._path, record.model_dump_json(exclude_defaults=True).encode())
            self._is_changed = False

    def _change(self) -> None:
        self._is_changed = True


class ChangedFiles(KnownFiles):
    """What a walk finds otherwise than the last run, by sizes and times alone: no file is read, and nothing is kept.

    `known` has the files of the last run, `gone` those that the walk does not meet. `changed` has the new and changed
    files with the bytes that may be new text: of a changed file, a quarter. `unsure` are files that reading may find
    unchanged: they were written just before the last run, or nothing but their inodes changed, as with other rights, or
    where a disk has another number after a restart.

    Raises:
        SourceError: The record at `path` is missing, damaged or of another version; `hint` says what to do.
    """

    def __init__(self, path: Path, hint: str) -> None:
        super().__init__()
        try:
            self.known = _looks(path, _signature(path.stat()))
        except (OSError, ValueError, LookupError, TypeError) as exc:
            raise SourceError("The record of its files is missing, or another version wrote it.", hint) from exc
        self.gone = set(self.known)
        self.changed: dict[str, int] = {}
        self.unsure: set[str] = set()
        self._unread = Facts()

    def takes(self, disk: str) -> bool:
        return disk in self.known

    def look(self, disk: str, info: os.stat_result) -> KnownFile:
        signature = _signature(info)
        known, at = self.known.get(disk, (None, 0))
        if known is None and not os.access(disk, os.R_OK):
            # A run has no use for it either.
            raise PermissionError(disk)
        self.gone.discard(disk)
        if known is None or known[:2] != signature[:2]:
            self.changed[disk] = info.st_size if known is None else info.st_size // 4
        elif known != signature or not _is_settled(signature, at):
            self.unsure.add(disk)
        return KnownFile(disk, self._unread)


def blob_ids(raw: bytes, like: str) -> tuple[str, ...]:
    """The ids that git gives to some bytes, and to the bytes with the line ends of Unix; as long as the id `like`.

    git would apply what the repository's settings call filters, which are programs. Here the bytes count, except that
    line ends make no difference: many checkouts on Windows have other line ends than the commit. A file that a filter
    made from what the commit holds counts as changed.
    """
    algorithm = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    forms = (raw, raw.replace(b"\r\n", b"\n")) if b"\r\n" in raw else (raw,)
    return tuple(algorithm(b"blob %d\0" % len(form) + form, usedforsecurity=False).hexdigest() for form in forms)


def _facts(disk: str) -> Facts:
    """What a file's bytes say."""
    with open(disk, "rb") as file:  # noqa: PTH123
        head = file.read(HEAD_BYTES)
        if is_binary(head):
            return Facts(reason="binary")
        raw = head + file.read()
    blobs = blob_ids(raw, "0" * 40)
    decoded = decode(raw)
    if decoded is None:
        return Facts(reason="undecodable", blobs=blobs)
    text = decoded.text
    reason = None
    if not text.strip():
        reason = "empty"
    elif holds_credential(text):
        reason = BY_TEXT
    return Facts(
        reason=reason,
        digest=sha256_text(text),
        replaced=decoded.replaced,
        chars=len(text),
        lines=text.count("\n") + 1,
        blobs=blobs,
    )


def _signature(info: os.stat_result) -> Signature:
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_dev


def _is_settled(signature: Signature, at: int) -> bool:
    """Whether any change after a look at `at` shows in the times."""
    return max(signature[1:3]) + TIME_STEP_NS < at


def _read(path: Path) -> dict[str, _Entry]:
    try:
        record = _Record.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return {}
    return record.files if record.rules == _rules() else {}


# Servers look before each question, and reading a record of 20,000 files takes a tenth of a second.
@lru_cache(maxsize=4)
def _looks(path: Path, written: Signature) -> dict[str, tuple[Signature, int]]:
    """Signature and time of the last look at each file; `written` only lets the cache notice another record."""
    record = json.loads(path.read_bytes())
    if record["rules"] != _rules():
        raise ValueError("the record is of other rules")
    return {disk: (tuple(entry["signature"]), entry["at"]) for disk, entry in record.get("files", {}).items()}


@cache
def _rules() -> str:
    # Its patterns say which texts hold credentials.
    try:
        patterns = metadata.version("detect-secrets")
    except metadata.PackageNotFoundError:
        patterns = "unknown"
    return f"{RULES} {__version__} {patterns}"
