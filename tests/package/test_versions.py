"""The version stands in three files; users see all of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import adk_evidence

ROOT = Path(__file__).resolve().parents[2]


def test_all_manifests_have_the_same_version_and_licence() -> None:
    python = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    node = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert python["version"] == node["version"] == adk_evidence.__version__
    assert python["license"] == node["license"]
