"""Runs a command and watches the memory of its processes, on Linux; elsewhere that of the largest alone is known."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import peak_rss_mb

_EVERY_SECONDS = 0.2


@dataclass(frozen=True)
class Watched:
    """What a command printed as JSON, and what its processes took together.

    `rss_mb` counts pages that processes share once for each, and mapped files that are in memory; `own_mb` counts
    neither files nor what can be read again from them.
    """

    said: dict[str, Any]
    cpu_seconds: float
    rss_mb: float
    own_mb: float


def watched(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Watched:
    """Run a Python command (arguments of the interpreter) whose last line is JSON; its errors go to ours."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # All processes of a new session have its number.
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
    )
    samples, done = [(0.0, 0.0)], threading.Event()

    def sample() -> None:
        while not done.wait(_EVERY_SECONDS):
            samples.append(_memory_mb(process.pid))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        output, _ = process.communicate()
    finally:
        process.kill()
        done.set()
        sampler.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` ended with {process.returncode}.")
    rss, own = (max(values) for values in zip(*samples, strict=True))
    return Watched(
        said=json.loads(output.splitlines()[-1]),
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        rss_mb=rss or peak_rss_mb(resource.RUSAGE_CHILDREN),
        own_mb=own,
    )


def _memory_mb(session: int) -> tuple[float, float]:
    """Resident memory of the processes of a session, and the part of it that no file holds."""
    rss = own = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
                rss += int(status.get("VmRSS", "0 kB").split()[0])
                own += int(status.get("RssAnon", "0 kB").split()[0])
        except (OSError, ValueError, IndexError):
            # It has ended in the meantime.
            continue
    return rss / 1024, own / 1024


def bytes_on_disk(folder: Path) -> int:
    """What the files below a folder take; holes of sparse files take nothing."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
