"""Whole texts are mended, fix after fix, and every other byte stays; each fix names the release that made it needed."""

from __future__ import annotations

import pytest

from adk_evidence.api.history import History
from adk_evidence.api.table import make_table
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.mend import mend, mend_bytes

SERVICE = {
    "": "m",
    "Service": "c:",
    "Service.get": "a:key",
    "Config": "c: ~pydantic.BaseModel",
    "Config.max_calls": "o:",
}
VERSIONS = {
    "1.0.0": {"google.adk": {"": "m"}, "google.adk.old": {**SERVICE, "Service.get": "f:key"}},
    "1.1.0": {"google.adk": {"": "m"}, "google.adk.old": SERVICE},
    "1.2.0": {"google.adk": {"": "m"}, "google.adk.new": SERVICE},
    "1.3.0": {"google.adk": {"": "m"}, "google.adk.new": SERVICE},
}
CHECKER = DriftChecker(History(make_table("google-adk", VERSIONS)).each[-1])


def test_a_fix_uncovers_another_and_each_says_since_when_it_is_needed() -> None:
    text = (
        "from google.adk.old import Config, Service\nConfig(maxCalls=1)\n"
        "async def f(s: Service):\n    s.get('é')\n    s.get(1)  # keep\n"
    )
    found = mend(CHECKER, text)
    assert found.text == (
        "from google.adk.new import Config\nfrom google.adk.new import Service\nConfig(max_calls=1)\n"
        "async def f(s: Service):\n    await s.get('é')\n    await s.get(1)  # keep\n"
    )
    # Of the names where they are now, the versions before 1.2.0 know nothing.
    assert {(one.remark.kind, one.since) for one in found.mends} == {
        ("import", "1.2.0"),
        ("keyword", None),
        ("await", None),
    }
    assert mend(CHECKER, found.text) == (found.text, ())


def test_only_what_somebody_should_look_at_waits_to_be_asked_for() -> None:
    text = "from google.adk.new import Config\nConfig(max_call=1)\n"
    assert mend(CHECKER, text).text == text
    assert mend(CHECKER, text, likely=True).text == text.replace("max_call", "max_calls")


@pytest.mark.parametrize(
    ("encoding", "end"), [("utf-8", "\n"), ("utf-8", "\r"), ("utf-8-sig", "\r\n"), ("latin-1", "\r\n")]
)
def test_every_other_byte_stays(encoding: str, end: str) -> None:
    head = [f"# -*- coding: {encoding} -*-", "name = 'é'\t# \x0c"]
    before = [*head, "if True:", "    from google.adk.old import Config, other", ""]
    after = [*head, "if True:", "    from google.adk.new import Config", "    from google.adk.old import other", ""]
    found = mend_bytes(CHECKER, end.join(before).encode(encoding))
    assert found is not None and found[0] == end.join(after).encode(encoding)


def test_what_is_no_text_is_left_alone() -> None:
    assert mend_bytes(CHECKER, b"# -*- coding: nonsense -*-\n") is None
    assert mend_bytes(CHECKER, b"\xff\xfe\x00") is None
