"""Files of agents, read and written, and the record of what was written, which takes it back to the byte."""

from __future__ import annotations

import json
import os
from codecs import BOM_UTF8
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from adk_evidence.files import write_atomic, write_private
from adk_evidence.paths import Home, default_home
from adk_evidence_cli.setup.entries import AgentFileError, Written


@dataclass
class Record:
    """What was written into which file, and the folders that were made for the record itself."""

    files: dict[str, Written]
    made: list[str]

    @classmethod
    def load(cls) -> Record:
        path = Home(default_home()).setup_record
        try:
            known = json.loads(path.read_bytes())
            return cls({file: Written(*written) for file, written in known["files"].items()}, known["made"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # Without a record, entries are found by their names.
            return cls({}, missing_folders(path))

    def save(self) -> None:
        path = Home(default_home()).setup_record
        if self.files:
            write(path, json.dumps(asdict(self)))
        else:
            delete(path, self.made)


def read(path: Path, within: Path | None = None) -> str | None:
    """The text of a file, without the mark of its encoding; None where there is no file.

    A link stands for the file that it leads to, which must be in the folder `within` if that is given.
    """
    target = _target(path)
    if within is not None and not target.is_relative_to(_target(within)):
        raise AgentFileError(f"{path} leads out of the project, and stays as it is.")
    try:
        if not target.exists():
            return None
        if target.is_file():  # nobody waits for a pipe
            return target.read_bytes().removeprefix(BOM_UTF8).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    raise AgentFileError(f"{path} cannot be read as text.", "Check what it is, and its permissions.")


def write(path: Path, text: str) -> None:
    """Write a file in one step; an existing one keeps its mode, and the mark of its encoding."""
    target, data = _target(path), text.encode("utf-8")
    if target.exists():
        mark = BOM_UTF8 if target.read_bytes().startswith(BOM_UTF8) else b""
        write_private(target, mark + data, target.stat().st_mode & 0o7777)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, data)


def delete(path: Path, made: Sequence[str]) -> None:
    """Delete a file, and the folders that were made for it if they hold nothing else."""
    _target(path).unlink(missing_ok=True)
    with suppress(OSError):
        for folder in made:
            Path(folder).rmdir()


def missing_folders(path: Path) -> list[str]:
    """The folders of a file that are not there, the innermost first."""
    return [str(folder) for folder in _target(path).parents if not folder.exists()]


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path))
