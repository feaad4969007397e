"""Since when and until when the ADK has a name, seen from one of its versions."""

from __future__ import annotations

import pytest

from adk_evidence.api.history import History
from adk_evidence.api.lacks import Lifetime, lifetime
from adk_evidence.api.table import make_table

A, B = "google.adk.a.Thing", "google.adk.b.Thing"
NONE: dict[str, dict[str, str]] = {"google.adk": {"": "m"}}
IN_A = {**NONE, "google.adk.a": {"": "m", "Thing": "c:"}}
IN_B = {**NONE, "google.adk.b": {"": "m", "Thing": "c:"}}
VERSIONS = {"1.0.0": NONE, "1.1.0": IN_A, "1.2.0": IN_A, "1.3.0": IN_B, "1.4.0": NONE, "1.5.0": IN_B}


@pytest.fixture(scope="module")
def history() -> History:
    return History(make_table("google-adk", VERSIONS))


@pytest.mark.parametrize(
    ("version", "names", "found"),
    [
        ("1.1.0", (A,), Lifetime("1.1.0", "1.2.0")),
        # By either of its paths, it was there in the version between, too.
        ("1.1.0", (A, B), Lifetime("1.1.0", "1.3.0")),
        ("1.3.0", (B, A), Lifetime("1.1.0", "1.3.0")),
        ("1.5.0", (B,), Lifetime("1.5.0", None)),
        ("1.4.0", (A, B), None),
        ("1.0.0", ("google.adk",), Lifetime(None, None)),
        ("no version", (A,), None),
    ],
)
def test_a_name_is_there_from_one_version_to_another(
    history: History, version: str, names: tuple[str, ...], found: Lifetime | None
) -> None:
    assert lifetime(history, version, names) == found
