"""Whether the user's installed google-adk has a symbol, by the table of releases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from adk_evidence.api.history import History
from adk_evidence.errors import EvidenceError
from adk_evidence.index.project import ProjectAdk, find_adk
from adk_evidence.targets.target import Availability, Target
from adk_evidence.text.versions import is_same_version


def find_installed(python: Path | None = None) -> ProjectAdk | None:
    """The google-adk in the user's environment, or None where there is none.

    Args:
        python: An interpreter or the folder of a virtual environment; by default the active environment, else the
            running interpreter.

    Raises:
        InvalidRequestError: `python` is neither an interpreter nor an environment.
    """
    if python is not None:
        return find_adk(python=python)
    return find_adk(active=True) or find_adk(python=Path(sys.executable))


def availability(
    target: Target, installed: ProjectAdk | None, ref: str | None, names: Sequence[str] = ()
) -> Availability:
    """Whether an installed version has a target; the version that was indexed, e.g. `v2.13.0`, has every target.

    Of what is no release, and of versions that the table of releases does not know, nobody knows. `names` are others
    that the target goes by: what another class of the installed version defined may stand in this one now.
    """
    if installed is None:
        return "unknown"
    if is_same_version(installed.version, ref):
        return "true"
    with suppress(EvidenceError):
        history = History.load()
        known = history.exactly(installed.version) if installed.exact else None
        if known is not None and target.fqn.startswith(f"{history.package}."):
            # Another version may not export by the same package what it has all the same.
            is_there = known.definition(target.fqn) is not None or any(map(known.has, names))
            has = True if is_there else known.has(target.import_path)
            return "unknown" if has is None else "true" if has else "false"
    return "unknown"
