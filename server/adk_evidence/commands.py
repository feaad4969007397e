"""The commands that sentences tell a user to run, with the options under which this process itself was started.

Commands stand in sentences between backticks, e.g. "Run `adk-ingest all`.". A user who copies a command must reach the
home folder and the profile that the sentence is about. Environment variables still hold then; options do not.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

# Options of this process, not of a call: a process serves one home and one profile.
_given: tuple[str, ...] = ()
_COMMAND = re.compile(r"`(adk-(?:ingest|evidence) [^`]+)`")
# Commands that have the options already, or take none.
_AS_THEY_ARE = re.compile(r" --(?:home|profile|help)\b|^adk-evidence serve\b")


def remember_options(home: str | None, profile: str | None) -> None:
    """Keep the options `--home` and `--profile` of this process; None or empty where an option was not given."""
    global _given
    # Whoever reads the sentence may have another working folder. A `~user` without a home folder stays: the settings
    # refuse it.
    folder = str(Path(os.path.expanduser(home)).absolute()) if home else None  # noqa: PTH111
    _given = (*(("--home", folder) if folder else ()), *(("--profile", profile) if profile else ()))


def spelled(*words: str) -> str:
    """A command as a user types it into a shell of this platform."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def with_options(sentence: str) -> str:
    """A sentence whose commands have the options of this process; texts of corpora must not come here."""
    return _COMMAND.sub(lambda found: f"`{_completed(found[1])}`", sentence) if _given else sentence


def _completed(command: str) -> str:
    return command if _AS_THEY_ARE.search(command) else f"{command} {spelled(*_given)}"
