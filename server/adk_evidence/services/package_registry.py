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
from adk_evidence.services.proxies import through_proxy, unreachable

INSTALLER_SECONDS = 900
# What pip and uv say where an index does not answer; in its last line, pip says only that nothing matches.
_UNREACHED = re.compile(
    r"connection broken by|Could not fetch URL|error sending request|ConnectionError|ConnectTimeout"
)
_CAUSE = re.compile(
    r"(?:\[(?:Errno -?\d+|SSL: \w+)\]|(?:tcp connect|dns) error:?(?:\s+(?:Caused by|cause):)?"
    r"|Tunnel connection failed:) ([^'\")(\n]{1,100})"
)
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
        if _UNREACHED.search(done.stdout + done.stderr):
            raise _unreachable(requirement, done.stdout + done.stderr)
        why = _last_line(done.stderr) or f"the installer ended with {done.returncode}"
        raise RegistryError(f"{requirement} could not be fetched from the package registry ({why}).")
    return next(folder.glob("*.whl"), folder)


def _unreachable(requirement: str, output: str) -> RegistryError:
    # pip names its indexes where they are not the usual one alone, uv the address that it asked.
    named = re.search(r"https?://(?:[^/@\s]*@)?[^/@\s,]+", output)
    url = named[0] if named else "https://pypi.org"
    cause = _CAUSE.search(output)
    why = f" ({cause[1].strip()})" if cause else ""
    first = "Mend the proxy, which HTTPS_PROXY or the system names" if through_proxy(url) else "Get online once"
    return RegistryError(
        f"{requirement} could not be fetched: {unreachable(url)}{why}.",
        f"{first}, or name a wheel or a checkout by its path.",
    )


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
