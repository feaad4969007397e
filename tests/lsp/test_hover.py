"""Hover: which names of a Python file are resolved, and what it says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.corpora import Workplace
from tests.lsp.conftest import RUNS_COMMANDS, Start
from tests.lsp.rpc import RawClient
from tests.released import released

DOCUMENT = """\
from typing import Optional
import os, google.adk.runners
import google.adk.agents as agents
from google.adk.agents import LlmAgent as A, ToolContext
from google.adk.agents.llm_agent import make_agent
from google.adk.plugins import (
    RetryPlugin,  # retries
)
from .local import LlmAgent as Mine

agent = A(model="x")
runner = google.adk.runners.Runner(agent, plugins=[RetryPlugin()])
made = make_agent("x").hand_over(agent)
text = "LlmAgent ToolContext"  # LlmAgent ToolContext

class Shop(agents.LlmAgent):
    def __init__(self) -> None:
        self.helper = agents.Agent()

    async def open(self, ctx: Optional["ToolContext"], other: int) -> None:
        self.open
        super().run_async
        ctx.session.state
        session = await agent.run_async("hi")
        session.state
        made.model
        other.real
        agent.no_such
"""
LINES = DOCUMENT.splitlines()
MODULE = "google.adk.agents.llm_agent"

# Line, the name on it, which of the names on the line, what it means.
NAMES: list[tuple[str, str, int, str | None]] = [
    ("import os, google", "runners", 0, "google.adk.runners"),
    ("import google.adk.agents as", "agents", 1, "google.adk.agents"),
    ("import LlmAgent as A", "A,", 0, f"{MODULE}.LlmAgent"),
    ("RetryPlugin,", "RetryPlugin", 0, "google.adk.plugins.retry.RetryPlugin"),
    ("from .local", "Mine", 0, None),
    ("agent = A(", "model", 0, f"{MODULE}.LlmAgent.model"),
    ("runner = google", "Runner", 0, "google.adk.runners.Runner"),
    ("made = make_agent", "hand_over", 0, f"{MODULE}.LlmAgent.hand_over"),
    ("text = ", "LlmAgent", 1, None),
    ("class Shop", "LlmAgent", 0, f"{MODULE}.LlmAgent"),
    ("self.helper = ", "helper", 0, f"{MODULE}.LlmAgent"),
    ("async def open", "ctx", 0, f"{MODULE}.ToolContext"),
    ("self.open", "open", 0, None),
    ("super()", "run_async", 0, f"{MODULE}.BaseAgent.run_async"),
    ("ctx.session.state", "state", 0, f"{MODULE}.Session.state"),
    ("        session.state", "state", 0, f"{MODULE}.Session.state"),
    ("made.model", "model", 0, f"{MODULE}.LlmAgent.model"),
    ("other.real", "real", 0, None),
    ("agent.no_such", "no_such", 0, None),
]
URI = "file:///work/table.py"


@pytest.fixture(scope="module")
def table(client: RawClient) -> RawClient:
    client.open(URI, DOCUMENT)
    return client


@pytest.mark.parametrize(("line", "name", "place", "meaning"), NAMES)
def test_names_mean_what_imports_and_assignments_say(
    table: RawClient, line: str, name: str, place: int, meaning: str | None
) -> None:
    number = next(number for number, text in enumerate(LINES) if line in text)
    column = -1
    for _ in range(place + 1):
        column = LINES[number].index(name, column + 1)
    shown = table.hover(URI, number, column)
    assert f"`{meaning}`" in shown if shown and meaning else shown is None and meaning is None, shown


def test_a_hover_says_what_a_reader_wants_first(table: RawClient) -> None:
    line = next(number for number, text in enumerate(LINES) if "    RetryPlugin," in text)
    shown = table.hover(URI, line, 5)
    assert shown is not None
    made = "RetryPlugin(max_retries: int = MAX_RETRIES)"
    assert shown.startswith(f"```python\nclass RetryPlugin\n{made}\n```\n\nRetries a tool that throws.\n\n")
    assert "`google.adk.plugins.retry.RetryPlugin` · v9.9.0\n\n" in shown
    assert len([part for part in shown.splitlines() if part]) <= 10
    (code, cited), (docs, page), (browser, also), (find, request) = links(shown)
    assert code == "`adk-python@c0de00000000` `retry.py:6-18`"
    assert cited["citation"] == f"adk-python@c0de{1:036}:src/google/adk/plugins/retry.py#L6-L18"
    assert cited["textDocument"] == {"uri": URI}
    assert docs == "Retry a tool › Use the RetryPlugin"
    assert (browser, also) == ("page", {**page, "where": "browser"})
    # The title leads to the lines of the page, which open in the editor.
    opened = table.result("adk/source", {"citation": page["citation"]})
    assert opened["text"].splitlines()[opened["lines"]["start"] - 1] == "## Use the RetryPlugin"
    assert (find, request["query"], request["taskMode"]) == ("Find evidence", "RetryPlugin", "explain")
    # The definition is what the link asks for, whatever else is called so.
    first = table.result("adk/evidence", request)["candidates"][0]
    assert (first["symbol"], first["why"]["named"]) == ("RetryPlugin", "defines RetryPlugin")


def links(shown: str) -> list[tuple[str, dict[str, Any]]]:
    """The links of a hover: what each says, and the argument of its command."""
    found = re.findall(r"\[([^\[\]]+)\]\(command:adkEvidence\.\w+\?([^()]+)\)", shown)
    return [(text, json.loads(unquote(argument))[0]) for text, argument in found]


PARAMETERS = """\
from google.adk.agents import LlmAgent
from google.adk.plugins import RetryPlugin
from google.adk.agents.llm_agent import LoudGreeter, make_agent

RetryPlugin(max_retries=3)
make_agent(name="x")
LlmAgent(name="x", mood=1)
RetryPlugin().on_tool_error(error=None, attempt=1)
LoudGreeter(tone=2).greet(name="x")
"""


@pytest.mark.parametrize(
    ("line", "character", "beginning", "place"),
    [
        (
            4,
            14,
            "(parameter) max_retries: int = MAX_RETRIES\n```\n\nHow often a tool may fail.",
            "parameter of `google.adk.plugins.retry.RetryPlugin.__init__`",
        ),
        (5, 12, "(parameter) name: str\n```\n\nparameter of", "`google.adk.agents.llm_agent.make_agent`"),
        (8, 13, "tone: int = 1\n```\n\nHow loud the greeting is.", "`google.adk.agents.llm_agent.Greeter.tone`"),
        (8, 27, "(parameter) name: str\n```\n\nWho is greeted.", "parameter of `google.adk.agents.llm_agent.LoudG"),
    ],
    ids=["of a class", "of a function", "told by the class", "told by the base"],
)
def test_a_keyword_is_told_as_it_is_declared_with_what_the_docstring_says(
    client: RawClient, line: int, character: int, beginning: str, place: str
) -> None:
    uri = "file:///work/parameters.py"
    client.open(uri, PARAMETERS)
    shown = client.hover(uri, line, character)
    assert shown is not None and shown.startswith(f"```python\n{beginning}") and place in shown, shown
    assert client.hover(uri, 6, 20) is None


def test_what_became_of_the_cited_lines_is_told_where_they_are_no_longer_there(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    workplace.ingest()
    server, file = start(workplace, capabilities=RUNS_COMMANDS), workplace.code / "src/google/adk/plugins/retry.py"
    uri = "file:///work/state.py"
    server.open(uri, "from google.adk.plugins.retry import RetryPlugin\n")
    assert "(now" not in (server.hover(uri, 0, 40) or "(now") and "verified" not in (server.hover(uri, 0, 40) or "")
    whole = file.read_text(encoding="utf-8")
    file.write_text(f"# One more line.\n{whole}", encoding="utf-8")
    assert "(moved, now lines 7-19)" in (server.hover(uri, 0, 40) or "")
    file.write_text("# Nothing is left.\n", encoding="utf-8")
    assert " (gone)" in (server.hover(uri, 0, 40) or "")


def test_other_languages_and_closed_documents_have_no_hover(client: RawClient) -> None:
    client.open("file:///work/notes.md", DOCUMENT, language="markdown")
    assert client.hover("file:///work/notes.md", 3, 33) is None
    where = {"textDocument": {"uri": "file:///work/closed.py"}, "position": {"line": 0, "character": 0}}
    assert client.request("textDocument/hover", where)["error"]["code"] == -32602


@pytest.fixture
def known(indexed: Workplace) -> Iterator[None]:
    """A table of released versions that knows the indexed version."""
    both = {
        "google.adk": {"": "m"},
        "google.adk.agents": {"": "m", "LlmAgent": "c:", "LlmAgent.close": "f:", "make": "f:name"},
    }
    gone = {"google.adk.agents": {"": "m", "LlmAgent": "c:", "make": "f:name, old="}, "google.adk.old": {"": "m"}}
    with released(indexed.root, {"9.8.0": {**both, **gone}, "9.9.0": both}):
        yield


@pytest.mark.usefixtures("known")
def test_a_name_that_the_version_lacks_is_told_with_the_versions_that_have_it(client: RawClient) -> None:
    uri = "file:///work/lacking.py"
    text = "from google.adk.old import nothing\nfrom google.adk.agents import make\nmake(old=1)\nmake.other\nunknown\n"
    client.open(uri, text)
    assert (
        client.hover(uri, 0, 17) == "google-adk 9.9.0 has no `google.adk.old`: the last version that has it is 9.8.0."
    )
    assert client.hover(uri, 0, 29) == "google-adk 9.9.0 has no `google.adk.old.nothing`: no version has it."
    said = "google-adk 9.9.0 has no `make(old=)`: the last version that has it is 9.8.0."
    assert client.hover(uri, 2, 6) == said
    assert [client.hover(uri, *place) for place in ((3, 7), (4, 2))] == [None, None]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("comment", "is_told"),
    [("", True), ("  # adk: ignore[missing-await]", True), ("  # adk: ignore[unknown-keyword]", False)],
)
def test_what_a_comment_in_the_line_silences_is_not_told(client: RawClient, comment: str, is_told: bool) -> None:
    uri = "file:///work/silenced.py"
    client.open(uri, f"from google.adk.agents import make\nmake(old=1){comment}\n")
    assert ("has no `make(old=)`" in (client.hover(uri, 1, 6) or "")) is is_told


@pytest.mark.usefixtures("known")
def test_what_a_diagnostic_says_is_not_said_again(start: Start) -> None:
    pulls = {"textDocument": {"diagnostic": {}}}
    text = "from google.adk.agents import make\nmake(old=1)\n"
    for wanted, said in ((True, False), (False, True)):
        server = start(capabilities=pulls, diagnostics={"enabled": wanted})
        server.open(URI, text)
        assert ("has no `make(old=)`" in (server.hover(URI, 1, 6) or "")) is said


def test_a_member_is_as_old_as_the_class_that_the_document_names(client: RawClient, indexed: Workplace) -> None:
    module = "google.adk.agents.llm_agent"
    old = {"google.adk": {"": "m"}, module: {"": "m", "LlmAgent": "c:", "LlmAgent.name": "o:", "Agent": "c:"}}
    moved = {"BaseAgent": "c:", "BaseAgent.name": "o:", "LlmAgent": f"c:{module}.BaseAgent"}
    new = {**old, module: {"": "m", **moved, "Agent": f"={module}.LlmAgent"}}
    text = f"""\
from {module} import Agent, BaseAgent, LlmAgent
agent = LlmAgent(name="x")
agent.name
class Shop(LlmAgent):
    def open(self):
        self.name
BaseAgent().name
Agent
"""
    uri = "file:///work/moved.py"
    client.open(uri, text)
    with released(indexed.root, {"9.8.0": old, "9.9.0": new}):
        hovers = [client.hover(uri, *place) or "" for place in ((1, 18), (2, 7), (5, 14), (7, 2))]
        base = client.hover(uri, 6, 13) or ""
    assert all("v9.9.0" in shown and "new in" not in shown for shown in hovers), hovers
    assert "new in 9.9.0" in base


def test_a_name_says_since_and_until_when_the_adk_has_it_and_what_to_use_instead(
    client: RawClient, indexed: Workplace
) -> None:
    module = "google.adk.agents.llm_agent"
    old = {"google.adk": {"": "m"}, module: {"": "m", "LlmAgent": "c:"}}
    new = {**old, module: {**old[module], "make_agent": "f:name", "make_agent!": "google.adk.agents.LlmAgent|Old."}}
    table = {"1.0.0": old, "9.8.0": new, "9.9.0": new, "10.0.0": old}
    uri = "file:///work/since.py"
    client.open(uri, f"from {module} import LlmAgent, make_agent\nmake_agent(name=1)\n")
    with released(indexed.root, table):
        hovers = [client.hover(uri, *place) or "" for place in ((0, 45), (0, 56), (1, 13))]
    assert hovers[0] and "new in" not in hovers[0]
    told = " · v9.9.0 · new in 9.8.0 · until 9.9.0 · deprecated: use `google.adk.agents.LlmAgent`"
    assert told in hovers[1]
    assert "new in 9.8.0 · until 9.9.0" in hovers[2]
