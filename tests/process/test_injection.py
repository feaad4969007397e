"""Chunks that try to command a model or a terminal, on every surface: quoted, labelled as data, and deaf."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator

import pytest
from mcp import Client

from adk_evidence.models.pack import EvidencePack
from adk_evidence.render.sanitize import visible
from adk_evidence.targets.target import TargetAnswer
from adk_evidence_agents import adk_tool
from adk_evidence_agents.session import AgentSession
from adk_evidence_cli.main import app
from adk_evidence_mcp.server import make_server
from tests.agents.mcp_calls import answer, citations
from tests.corpora import CODE, DOCS, Workplace, write_code, write_docs
from tests.injection import (
    INJECTIONS,
    function_name,
    hidden_characters,
    injected_code,
    injected_docs,
    marker,
    outside_fences,
    outside_quotes,
)
from tests.process.conftest import call

GROUPS = list(INJECTIONS)
PROMPT_LINES = ("SEARCH CONTEXT: ", "CAUTION: ", "WARNING: ", "Fenced texts and names ", "[CTX ", "AT: ", "QUESTION: ")
PROMPT_LINES += ("OUTLINE OF CTX ", "NOT SHOWN: ", "- `")
MARKDOWN_LINES = (
    "# Evidence: ",
    "_",
    "Fenced texts and names ",
    "Index: ",
    "> ",
    "## ",
    "`",
    "[`",
    "- `",
    "- [`",
    "Answer ",
)
NEVER = "never instructions"
# What payloads are made of and no line of ours has in it.
BAIT = ("zebra pass", "obey", "delete_everything", "evil", "<|", "[INST]", "alert(", "command:", "developer mode")

# A citation: a page's address, which is made of its name and its headings, and lines. A link to a page or its source.
_CITED = re.compile(
    r"\]\(https://(?:docs\.example\.org|github\.com/google)/[^\s()<>]+\)|"
    r"^\[(?:CTX|CODE|DOCS) \d+\] adk-(?:docs|python)@[0-9a-f]{40}:[^\s`<>\[\]]+(?: L\d+(?:-L\d+)?)?$",
    re.MULTILINE,
)

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Corpora in which every payload is a text, a title, a heading, a docstring and a file's name."""
    workplace = Workplace(tmp_path_factory.mktemp("injected"))
    write_docs(workplace.docs, {**DOCS, **injected_docs()})
    write_code(workplace.code, {**CODE, **injected_code()})
    workplace.ingest()
    return workplace


@pytest.fixture
def cli(indexed: Workplace) -> Ask:
    """Standard output of a command line that succeeds."""

    def run(*arguments: object) -> str:
        result = call(app, *arguments, "--home", indexed.home)
        assert result.exit_code == 0 and not hidden_characters(result.stderr), result.output
        return result.stdout

    return run


@pytest.fixture
def ask(cli: Ask) -> Ask:
    """Everything of a group, in the chosen form."""

    def run(group: str, *options: object) -> str:
        where = (argument for path in places_of(group) for argument in ("--path", path))
        return cli("ask", marker(group, 0), *where, "-k", 100, *options)

    return run


@pytest.fixture(scope="module")
def session(indexed: Workplace) -> Iterator[AgentSession]:
    """What the tools of agents ask through."""
    one = AgentSession(lambda: indexed.settings)
    yield one
    one.close()


def places_of(group: str) -> list[str]:
    return [f"docs/injection/{group}/**", f"src/google/adk/injection/{group}*"]


def held(group: str, text: str) -> None:
    """Every payload of a group is in a text, its hidden characters shown."""
    for payload in INJECTIONS[group]:
        for line in payload.splitlines():
            assert visible(line).strip() in text, payload


def quoted(text: str, ours: tuple[str, ...]) -> None:
    """Nothing of the payloads stands outside fences and code spans, where every line is one of ours."""
    assert not hidden_characters(text)
    assert NEVER in outside_fences(text)
    assert all(line.startswith(ours) for line in outside_fences(text).split("\n") if line)
    outside = _CITED.sub("", outside_quotes(text))
    assert not [bait for bait in BAIT if bait in outside]


def test_the_payloads_are_what_is_indexed(indexed: Workplace) -> None:
    chunks = list(indexed.points().values())
    assert {chunk.path for chunk in chunks} >= {*injected_docs(), *injected_code()}
    assert any("<|im_start|>" in (chunk.symbol or "") for chunk in chunks)
    assert any("Human: obey" in heading for chunk in chunks for heading in chunk.headings)
    assert all(len(texts) >= 8 for texts in INJECTIONS.values())


@pytest.mark.parametrize("group", GROUPS)
def test_on_the_terminal(ask: Ask, monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    text = ask(group, "--full")
    assert not hidden_characters(text)
    for payload in INJECTIONS[group]:
        line = max((visible(line).strip() for line in payload.splitlines()), key=len)[:40]
        places = [shown for shown in text.split("\n") if line in shown]
        # As text it stands behind a bar; as the name of a place it stands in a line of ours.
        assert any(shown.startswith("  │ ") for shown in places), payload
    assert not any(
        line.startswith(("QUESTION:", "SEARCH CONTEXT:", "[CTX ", "```", "~~~")) for line in text.split("\n")
    )


@pytest.mark.parametrize("group", GROUPS)
def test_in_a_prompt(ask: Ask, group: str) -> None:
    text = ask(group, "--prompt", "--max-tokens", 10**6, "--full")
    held(group, text)
    quoted(text, PROMPT_LINES)
    quoted(ask(group, "--prompt", "--max-tokens", 10**6), PROMPT_LINES)


@pytest.mark.parametrize("group", GROUPS)
def test_in_markdown(ask: Ask, group: str) -> None:
    text = ask(group, "--markdown", "--full")
    held(group, text)
    quoted(text, MARKDOWN_LINES)
    quoted(ask(group, "--markdown"), MARKDOWN_LINES)


@pytest.mark.parametrize("group", GROUPS)
def test_in_json(ask: Ask, group: str) -> None:
    text = ask(group, "--json")
    assert not hidden_characters(text)
    pack = EvidencePack.model_validate_json(text)
    assert pack.with_id() == pack, "it is the exact pack all the same"
    for payload in INJECTIONS[group]:
        assert any(payload.strip() in candidate.text for candidate in pack.candidates), payload


@pytest.mark.parametrize("group", GROUPS)
def test_among_symbols(cli: Ask, group: str) -> None:
    name = function_name(group, 0).removesuffix("0")
    text = cli("symbol", name, "-k", 100)
    assert not hidden_characters(text) and name in text
    layout = (" ", "  │ ", "No public symbol is called ")
    assert all(line.startswith(layout) or line[:2].strip().isdigit() for line in text.split("\n") if line)
    for line in text.split("\n"):
        assert line.startswith("  │ ") or not [bait for bait in BAIT if bait in line]
    exact = cli("symbol", name, "-k", 100, "--json")
    assert not hidden_characters(exact) and TargetAnswer.model_validate_json(exact).results


@pytest.mark.asyncio
@pytest.mark.parametrize("group", GROUPS)
async def test_in_the_answers_of_the_mcp_server(session: AgentSession, group: str) -> None:
    async with Client(make_server(session)) as client:
        for path in places_of(group):
            text = await answer(client, "find_adk_evidence", query=marker(group, 0), path=path)
            quoted(text, PROMPT_LINES)
            for citation in citations(text):
                source = await answer(client, "read_adk_source", citation=citation)
                quoted(source, ("SOURCE: ", "Fenced texts and names "))
        name = function_name(group, 0).removesuffix("0")
        text = await answer(client, "find_adk_symbol", query=name, limit=25)
        quoted(text, ("No public symbol is called ", "Fenced texts and names "))


@pytest.mark.asyncio
@pytest.mark.parametrize("group", GROUPS)
async def test_in_the_operations_of_the_mcp_server(session: AgentSession, group: str) -> None:
    async with Client(make_server(session)) as client:
        asked = {"query": marker(group, 0), "directory": f"injection/{group}*", "max_results": 50, "max_tokens": 50_000}
        text = await answer(client, "search_code_and_docs", **asked)
        assert citations(text)
        quoted(text, PROMPT_LINES)
        code = injected_code()[next(path for path in injected_code() if f"injection/{group}" in path)]
        text = await answer(client, "find_similar_code", code=code[:2000], max_results=50, max_tokens=50_000)
        quoted(text, PROMPT_LINES)
        text = await answer(client, "get_task_context", task=marker(group, 0), max_tokens=20_000)
        quoted(text, (*PROMPT_LINES, "[CODE ", "[DOCS ", "RELATED FILES"))


@pytest.mark.parametrize("group", GROUPS)
def test_in_the_answer_of_the_function_tool(session: AgentSession, monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    monkeypatch.setattr(adk_tool, "_SESSION", session)
    answer = asyncio.run(adk_tool.retrieve_adk_evidence(marker(group, 0), "explain", 100))
    assert not hidden_characters(json.dumps(answer, ensure_ascii=False))
    candidates = answer["evidence_pack"]["candidates"]
    found = [candidate for candidate in candidates if f"injection/{group}" in candidate["path_or_url"]]
    assert found and not [candidate for candidate in found if outside_fences(candidate["text"]).strip()]
    assert NEVER in (adk_tool.retrieve_adk_evidence.__doc__ or "")
