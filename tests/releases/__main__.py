"""Makes the table of what each released google-adk has: `python -m tests.releases [--only VERSION ...] [--out FILE]`.

Released versions that the table lacks are downloaded, read and added, in the table that ships by default.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from adk_evidence.api.history import SHIPPED
from adk_evidence.errors import EvidenceError
from adk_evidence.paths import config_file
from adk_evidence.settings import load_settings
from adk_evidence_console import stderr
from adk_ingest.commands.progress import make_progress
from tests.releases.history import build_history


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=__doc__)
    parser.add_argument("--from", dest="first", help="oldest version to add; all by default")
    parser.add_argument("--only", action="append", default=[], help="add this version alone; repeatable")
    parser.add_argument("--out", type=Path, default=config_file(SHIPPED), help="file of the table")
    given = parser.parse_args(arguments)
    try:
        with make_progress(stderr(), as_json=False) as progress:
            report = build_history(load_settings(), given.out, progress, first=given.first, only=given.only)
    except EvidenceError as exc:
        parser.exit(exc.exit_code, f"error: {exc.message} {exc.hint}\n")
    print(f"Added {len(report.added)} of {report.distribution} to {given.out}.")
    for version in report.left_out:
        print(f"{version} could not be read and is left out.")


if __name__ == "__main__":
    main()
