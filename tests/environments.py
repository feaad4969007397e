"""Environments that have a small google-adk installed, as an installer leaves them; nothing of them can be run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from tests.corpora import CODE, write_files

PLUGIN = "src/google/adk/plugins/retry.py"
# Another name for one function; all other files are the same in both versions.
OLDER: Mapping[str, str] = {**CODE, PLUGIN: CODE[PLUGIN].replace("def back_off(", "def wait_longer(")}


def write_environment(root: Path, version: str, code: Mapping[str, str] = OLDER) -> Path:
    """A virtual environment with google-adk in a version; returns its folder."""
    packages = root / "lib" / "python3.12" / "site-packages"
    info = f"google_adk-{version}.dist-info"
    files = {name.removeprefix("src/"): text for name, text in code.items() if name.startswith("src/")}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: google-adk\nVersion: {version}\nLicense: Apache-2.0\n"
    lines = [f"{name},sha256={_digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    write_files(packages, dict(files))
    write_files(root, {"pyvenv.cfg": "home = /nowhere\n"})
    return root


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
