"""An entry in a configuration file: all else stays, and taking it out gives the bytes from before."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence_cli.setup import jsonc
from adk_evidence_cli.setup.entries import AgentFileError, Entry, Written

VALUE = {"command": "/opt/tools/adk-evidence", "args": ["serve", "mcp"]}
JSON = Entry("Agent", Path("settings.json"), "servers", VALUE)
TOML = Entry("Agent", Path("config.toml"), "servers", VALUE)

_SPACE = st.sampled_from(
    ["", " ", "\n", "\n  ", "\t", "\r\n", ' // a {remark}, "quoted\n', " /* one */ ", "/* two\n */"]
)
_KEYS = st.text(max_size=5) | st.sampled_from(["servers", "other", "adk-evidence "])
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3))
_SERVERS = st.dictionaries(_KEYS, st.dictionaries(_KEYS, _VALUES, max_size=2), max_size=3)


@st.composite
def _spelled(draw: st.DrawFn, value: Any) -> str:
    """A value with spaces, comments and last commas anywhere."""

    def gap() -> str:
        return draw(_SPACE)

    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}{gap()}:{gap()}{draw(_spelled(inner))}" for key, inner in value.items()]
    elif isinstance(value, list):
        parts = [draw(_spelled(inner)) for inner in value]
    else:
        return json.dumps(value)
    inside = ",".join(f"{gap()}{part}{gap()}" for part in parts) + ("," if parts and draw(st.booleans()) else "")
    return ("{%s%s}" if isinstance(value, dict) else "[%s%s]") % (inside, gap())


@st.composite
def _texts(draw: st.DrawFn) -> str:
    values = draw(st.dictionaries(_KEYS, _VALUES, max_size=3))
    values.pop("servers", None)
    if draw(st.booleans()):
        values["servers"] = draw(_SERVERS)
    return draw(_SPACE) + draw(_spelled(values)) + draw(_SPACE)


@given(_texts())
def test_whatever_an_editor_reads_gets_the_entry_and_loses_it_to_the_byte(text: str) -> None:
    put = JSON.put(text, None)
    assert put is not None
    after, written = put
    assert jsonc.parse(after)["servers"]["adk-evidence"] == VALUE
    assert JSON.put(after, written) is None
    assert JSON.taken(after, written) == text
    # Without the record, what is left says the same.
    assert JSON.taken(after, None) is not None


COMMENTED = """\
// Settings
{
    "servers": {
        /* ours */
        "git": {"command": "git-mcp"} // the team's
        // end of servers
    },
    "theme": "One",
}
"""


def test_an_entry_stands_behind_the_last_one_and_its_comment() -> None:
    put = JSON.put(COMMENTED, None)
    assert put is not None
    added = """\
"git-mcp"}, // the team's
        "adk-evidence": {
            "command": "/opt/tools/adk-evidence",
            "args": [
                "serve",
                "mcp"
            ]
        }
        // end of servers
"""
    assert put[0] == COMMENTED.replace('"git-mcp"} // the team\'s\n        // end of servers\n', added)


def test_line_ends_stay_those_of_the_file() -> None:
    for entry, text in ((JSON, COMMENTED), (TOML, 'model = "m" # best\n\n[servers.git]\ncommand = "git-mcp"\n')):
        put = entry.put(text.replace("\n", "\r\n"), None)
        assert put is not None
        assert put[0].count("\n") == put[0].count("\r\n") > text.count("\n")


@pytest.mark.parametrize("text", ["", "# only a remark", 'model = "m"', '[servers.git]\nargs = ["[a]"]  # x\n\n\n'])
def test_a_table_of_toml_comes_and_goes(text: str) -> None:
    put = TOML.put(text, None)
    assert put is not None
    assert tomllib.loads(put[0])["servers"]["adk-evidence"] == VALUE
    assert TOML.taken(*put) == text


def test_an_entry_that_was_written_by_hand_is_taken_out_and_comments_stay() -> None:
    own = '[servers."adk-evidence"]\ncommand = "x"\n[servers.adk-evidence.env]\nA = "b"\n\n'
    text = f'[servers.git]\n{own}# about the next\n[servers.next]\ncommand = "n"\n'
    assert TOML.taken(text, None) == text.replace(own, "")
    beside = COMMENTED.replace("/* ours */\n", '/* ours */\n        "adk-evidence": {"command": "x"},\n')
    assert JSON.taken(beside, None) == COMMENTED


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (JSON, '{"servers": {'),
        (JSON, '{"servers": []}'),
        (JSON, "[1]"),
        (JSON, '{"a": 1 2}'),
        (JSON, '{"a": [1,,]}'),
        (JSON, "{" + '"a":{' * 100_000),
        (TOML, "[servers"),
        (TOML, "servers = 1"),
        (TOML, "servers = {git = {command = 'x'}}"),
    ],
)
def test_a_broken_file_is_refused(entry: Entry, text: str) -> None:
    with pytest.raises(AgentFileError, match="stays as it is"):
        entry.put(text, None)


def test_an_entry_of_somebody_else_is_refused_and_an_earlier_one_of_ours_is_replaced() -> None:
    with pytest.raises(AgentFileError, match="another entry"):
        JSON.put('{"servers": {"adk-evidence": {"command": "mine"}}}', None)
    put = JSON.put(COMMENTED, None)
    assert put is not None
    moved = JSON._replace(value={**VALUE, "command": "/elsewhere/adk-evidence"}).put(*put)
    assert moved is not None and moved[0] == put[0].replace("/opt/tools", "/elsewhere")
    assert JSON.taken(*moved) == COMMENTED


def test_what_a_user_adds_to_an_entry_stays() -> None:
    text = json.dumps({"servers": {"adk-evidence": {**VALUE, "env": {"VOYAGE_API_KEY": "${VOYAGE_API_KEY}"}}}})
    assert JSON.put(text, Written("", "something else")) is None
