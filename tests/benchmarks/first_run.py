"""The first minute of a newcomer: a fresh clone of this checkout, an empty home, and the demo.

    python -m tests.benchmarks.first_run [--turns 3]

Prints when the environment was there, and how long after that the first answer came and the index was complete. The
first answer is by keywords if vectors must be computed. Packages, the model and google-adk come from the registry that
pip is configured to use; the docs from `ADK_EVIDENCE_DOCS`, else from GitHub. What is committed is measured.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.benchmarks.measure import show, spread

ROOT = Path(__file__).parents[2]
_MARKS = {
    "environment": (".venv is ready",),
    "first answer": ("Found ",),
    "complete": ("The index is complete", "The complete answer"),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1, help="how often the first run is repeated")
    turns = parser.parse_args().turns
    flags = Path("/proc/cpuinfo")
    known = flags.read_text(encoding="utf-8") if flags.is_file() else ""
    show("processor", f"{os.cpu_count()} cores, {'with' if 'vnni' in known else 'without'} VNNI as far as it tells")
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(turns):
        with tempfile.TemporaryDirectory(prefix="adk-evidence-first-run-") as folder:
            found = _run(Path(folder))
        environment = found.pop("environment")
        times["environment"].append(environment)
        for name, seconds in found.items():
            times[f"{name}, after that"].append(seconds - environment)
    for name, seconds_of in times.items():
        show(name, spread(seconds_of, "s"))


def _run(folder: Path) -> dict[str, float]:
    """The seconds after which each mark was printed for the first time."""
    clone, home = folder / "clone", folder / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    kept = {name: value for name, value in os.environ.items() if name not in ("ADK_EVIDENCE_HOME", "VIRTUAL_ENV")}
    begin = time.perf_counter()
    demo = subprocess.Popen(
        ["npm", "run", "demo"],
        cwd=clone,
        env={**kept, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    found: dict[str, float] = {}
    last = ""
    for last in demo.stdout or ():
        for name, marks in _MARKS.items():
            if any(mark in last for mark in marks):
                found.setdefault(name, time.perf_counter() - begin)
    if demo.wait():
        raise SystemExit(f"The demo failed: {last.strip()}")
    return found


if __name__ == "__main__":
    main()
