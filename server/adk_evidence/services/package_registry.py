"""Fetches a distribution from the package registry by the user's own installer, with its configuration."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from adk_evidence.errors import EvidenceError

INSTALLER_SECONDS = 900
_WHEELS_ALONE = ("--no-deps", "--only-binary=:all:")


class RegistryError(EvidenceError):
    """A distribution could not be fetched."""

    code = "registry_unavailable"


def fetch_distribution(requirement: str, folder: Path) -> Path:
    """Fetch a distribution, e.g. `google-adk==2.13.0`, without its requirements; nothing of it is built or run.

    Before the call, `folder` must be empty.

    Returns:
        The wheel inside `folder`, or `folder` itself where the installer unpacked the distribution into it.

    Raises:
        RegistryError: There is no installer, or the installer fails.
    """
    try:
        # Run in the folder: `python -m` would import a pip.py of the current one.
        done = subprocess.run(
            _command(requirement, folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALLER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise RegistryError(f"Fetching {requirement} did not end within {INSTALLER_SECONDS // 60} minutes.") from None
    except OSError as exc:
        raise RegistryError(f"The package installer cannot be run: {exc.strerror or exc}.") from exc
    if done.returncode != 0:
        why = _last_line(done.stderr) or f"the installer ended with {done.returncode}"
        raise RegistryError(f"{requirement} could not be fetched from the package registry ({why}).")
    return next(folder.glob("*.whl"), folder)


def _command(requirement: str, folder: Path) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        options = ["--no-input", "--disable-pip-version-check", "--retries=2", "--dest", str(folder)]
        return [sys.executable, "-m", "pip", "download", *_WHEELS_ALONE, *options, requirement]
    if uv := os.environ.get("UV") or shutil.which("uv"):
        options = ["--no-progress", "--python", sys.executable, "--target", str(folder)]
        return [uv, "pip", "install", *_WHEELS_ALONE, *options, requirement]
    raise RegistryError("This environment has neither pip nor uv.", "Install one of them, or name a wheel by its path.")


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    # A registry's address may carry a password.
    return re.sub(r"//[^/@\s]+@", "//", lines[-1])[:300] if lines else ""
