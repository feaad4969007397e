"""The event log: one JSON line for each retrieval, without texts of chunks; enough to reproduce a miss (SPEC 5 §12)."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from adk_evidence.settings import Settings

_LOG = logging.getLogger(__name__)
_LOCK_SECONDS = 0.5
# Then the log is rotated once.
MAX_BYTES = 10_000_000


def log_to_stderr(level: str) -> None:
    """Log to standard error from a level on: `debug`, `info`, `warning` or `error`."""
    logging.basicConfig(
        stream=sys.stderr, level=level.upper(), format="%(levelname)s %(name)s: %(message)s", force=True
    )


class EventLog:
    """Appends events to a file that several processes may share; rotates it once at its size limit.

    A log that cannot be written never fails the request: it is reported once through `logging`.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._reported = False
        # The threads of this process wait here: waiting for the file's lock means polling and ends in a timeout.
        self._turn = threading.Lock()
        self._lock = FileLock(f"{path}.lock", timeout=_LOCK_SECONDS)

    def write(self, event: Mapping[str, Any]) -> None:
        text = json.dumps(event, ensure_ascii=False, separators=(",", ":"), default=str) + "\n"
        line = text.encode("utf-8", "backslashreplace")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._turn, self._lock:
                with suppress(FileNotFoundError):
                    if self._path.stat().st_size + len(line) > self._max_bytes:
                        self._path.replace(self._path.with_suffix(".1.jsonl"))
                with self._path.open("ab", buffering=0) as stream:
                    stream.write(line)
        except (OSError, Timeout) as exc:
            if not self._reported:
                self._reported = True
                _LOG.warning("The event log %s cannot be written: %s", self._path, exc)


def event_log(settings: Settings) -> EventLog | None:
    """The event log of the settings; None where it is switched off."""
    return EventLog(settings.paths.event_log) if settings.telemetry.event_log else None
