"""Cold start of the command line: a process of its own for every measurement.

    python -m tests.benchmarks.startup [--home HOME] [--runs 5]

`ask` needs an index in HOME (`adk-ingest all`). What the first run of all reads from the disk is not told apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from tests.benchmarks.measure import show, spread

QUESTION = "how do I retry when a tool throws?"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", help="folder of the index; the settings' own without it")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    home = ["--home", options.home] if options.home else []
    for name, arguments in {
        "python alone": None,
        "--version": ["--version"],
        "ask": ["ask", QUESTION, *home],
        "ask --json": ["ask", QUESTION, "--json", *home],
    }.items():
        show(name, spread([_seconds(arguments) * 1000 for _ in range(options.runs)]))


def _seconds(arguments: list[str] | None) -> float:
    program = "from adk_evidence_cli.main import run; run()" if arguments is not None else "pass"
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", program, *(arguments or [])], check=True, capture_output=True)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
