"""Whether the user's installed google-adk has a symbol, by the table of releases."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from adk_evidence.api.history import History
from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.index.environments import Installed, installed_in, site_packages
from adk_evidence.paths import expanded
from adk_evidence.targets.target import Availability, Target
from adk_evidence.text.versions import is_same_version


def find_installed(requirement: str | None, python: Path | None = None) -> Installed | None:
    """The distribution in the user's environment, or None where the distribution is not installed there.

    Args:
        requirement: The corpus's distribution, e.g. `google-adk==2.13.0`; the version does not count.
        python: An interpreter or the folder of a virtual environment; by default the active virtual environment
            (`VIRTUAL_ENV`), else the running interpreter.

    Raises:
        InvalidRequestError: `python` is neither an interpreter nor an environment.
    """
    if requirement is None:
        return None
    try:
        name = Requirement(requirement).name
    except InvalidRequirement:
        return None
    if python is not None:
        folders = site_packages(expanded(python))
        if not folders:
            raise InvalidRequestError(
                f"{python} is neither a Python interpreter nor a virtual environment.", "Name one that exists."
            )
        return installed_in(name, folders)
    active = os.environ.get("VIRTUAL_ENV")
    found = installed_in(name, site_packages(Path(active))) if active else None
    return found or installed_in(name, [Path(entry) for entry in sys.path if entry])


def availability(target: Target, installed: Installed | None, ref: str | None) -> Availability:
    """Whether an installed version has a target; the version that was indexed, e.g. `v2.13.0`, has every target.

    Of what is no release, and of versions that the table of releases does not know, nobody knows.
    """
    if installed is None:
        return "unknown"
    if is_same_version(installed.version, ref) or installed.version == ref:
        return "true"
    with suppress(EvidenceError):
        history = History.load()
        known = history.exactly(installed.version) if not installed.origin else None
        if known is not None and target.fqn.startswith(f"{history.package}."):
            # Another version may not export by the same package what it has all the same.
            has = True if known.definition(target.fqn) is not None else known.has(target.import_path)
            return "unknown" if has is None else "true" if has else "false"
    return "unknown"
