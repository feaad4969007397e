"""Runs a command and watches the memory of its processes, on Linux; elsewhere that of the largest alone is known."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import peak_rss_mb

_EVERY_SECONDS = 0.2
_MB = 1024 * 1024


@dataclass(frozen=True)
class Watched:
    """What a command printed as JSON, and what its processes took together.

    `rss_mb` counts pages that processes share once for each, and mapped files that are in memory; `own_mb` counts
    neither files nor what can be read again from them.
    """

    said: dict[str, Any]
    seconds: float
    cpu_seconds: float
    rss_mb: float
    own_mb: float


def watched(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Watched:
    """Run a Python command (arguments of the interpreter) whose last line is JSON; its errors go to ours."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, env={**os.environ, **(environment or {})}
    )
    peaks, done = [0.0, 0.0], threading.Event()

    def sample() -> None:
        while not done.wait(_EVERY_SECONDS):
            for place, value in enumerate(_memory_mb(process.pid)):
                peaks[place] = max(peaks[place], value)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    output, _ = process.communicate()
    done.set()
    sampler.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` ended with {process.returncode}.")
    return Watched(
        said=json.loads(output.splitlines()[-1]),
        seconds=time.perf_counter() - begin,
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        rss_mb=peaks[0] or peak_rss_mb(resource.RUSAGE_CHILDREN),
        own_mb=peaks[1],
    )


def _memory_mb(root: int) -> tuple[float, float]:
    """Resident memory of a process and of all that it started, and the part of it that no file holds."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    family, added = {root}, True
    while added:
        more = {process for process, parent in parents.items() if parent in family} - family
        family |= more
        added = bool(more)
    rss = own = 0
    for process in family:
        try:
            fields = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
        except (OSError, ValueError):
            continue
        rss += int(fields.get("VmRSS", "0 kB").split()[0]) * 1024
        own += int(fields.get("RssAnon", "0 kB").split()[0]) * 1024
    return rss / _MB, own / _MB


def bytes_on_disk(folder: Path) -> int:
    """What the files below a folder take; holes of sparse files take nothing."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
