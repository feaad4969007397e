"""Tools, resources and progress of the MCP server, with the SDK's client in the same process."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from adk_evidence.admission import Limits
from adk_evidence.errors import InvalidRequestError
from adk_evidence.text.tokens import estimate_tokens
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp import resources
from adk_evidence_mcp.resources import INDEX_URI, citation_uri, cited_in
from adk_evidence_mcp.server import make_server
from adk_evidence_mcp.tools import AGENT_TOKENS
from tests.agents.mcp_calls import answer, citations, failure, paths
from tests.corpora import CODE, CODE_COMMIT, Workplace, change, write_code
from tests.injection import outside_fences

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
# What stands above a quote.
OUTLINE = re.compile(r"^OUTLINE OF CTX .*\n", re.MULTILINE)
HEADER = re.compile(r"^\[(?:CTX|CODE|DOCS) \d+\] .*\n(?:AT: .*\n)?", re.MULTILINE)
# Arguments that their name, type, values and limits explain.
SELF_EXPLAINING = ("task_mode", "code", "task", "max_results", "limit", "sources", "where", "max_tokens")


def asking(session: AgentSession) -> Client:
    """A client whose messages go through the protocol's framing."""
    return Client(make_server(session), mode="legacy")


async def refusal(awaited: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await awaited
    assert "\n" not in caught.value.message and "Traceback" not in caught.value.message
    return caught.value


async def read(client: Client, uri: str) -> str:
    (contents,) = (await client.read_resource(uri)).contents
    assert contents.uri == uri and contents.mime_type == "text/markdown"
    return contents.text


@pytest.mark.asyncio
async def test_a_busy_server_says_when_to_call_again_and_still_answers_the_rest(session: AgentSession) -> None:
    _ = session.settings
    session.admission.limits = Limits(running=1, waiting=0)
    async with asking(session) as client:
        with session.admission.turn():
            said = await failure(client, "find_adk_evidence", query=QUESTION)
            assert said.startswith("ADK Evidence is busy: 1 requests run") and re.search(r"Ask again in \d+ s\.$", said)
            # How busy the server is can be read all the same.
            (contents,) = (await client.read_resource(INDEX_URI)).contents
            assert json.loads(contents.text)["load"]["requests"]["running"] == 1
            assert (await client.list_tools()).tools
            # What indexes and deletes has turns of its own.
            assert "no index called" in await failure(client, "delete_index", name="nothing")
        text = await answer(client, "find_adk_evidence", query=QUESTION)
        assert "[CTX 1]" in text


@pytest.mark.asyncio
async def test_the_state_of_the_index_tells_of_load_and_caches(session: AgentSession) -> None:
    async with asking(session) as client:
        first = await answer(client, "find_adk_evidence", query=QUESTION)
        assert await answer(client, "find_adk_evidence", query=QUESTION) == first
        (listed,) = (await client.list_resources()).resources
        (contents,) = (await client.read_resource(listed.uri)).contents
    status = json.loads(contents.text)
    assert status["index"]["corpora"]["adk_python"]["commit"] == CODE_COMMIT
    assert status["profile"] == "local" and status["age_days"] >= 0
    load = status["load"]
    assert load["requests"]["answered"] == 2 and load["requests"]["running"] == 0
    caches = {cache["name"]: cache for cache in load["caches"]}
    assert caches["answers"]["hit_rate"] == 0.5 and caches["answers"]["entries"] == 1
    assert caches["questions"]["misses"] >= 1 and "chunks of doc" in caches


@pytest.mark.asyncio
async def test_a_model_is_given_the_evidence_once_by_every_client(session: AgentSession) -> None:
    async with Client(make_server(session), mode="legacy") as client:
        assert not [tool.name for tool in (await client.list_tools()).tools if tool.output_schema]
        result = await client.call_tool("find_adk_evidence", {"query": QUESTION})
    assert result.structured_content is None and result.meta is None
    (content,) = result.content
    assert "[CTX 1]" in content.text and estimate_tokens(content.text) <= AGENT_TOKENS


@pytest.mark.asyncio
async def test_a_tool_that_there_is_not_is_an_error_of_the_protocol(session: AgentSession) -> None:
    async with asking(session) as client:
        error = await refusal(client.call_tool("delete_everything", {}))
        assert error.code == INVALID_PARAMS and "read_adk_source" in error.message


@pytest.mark.asyncio
async def test_the_tools_say_what_they_are_for_and_what_they_do_to_the_machine(session: AgentSession) -> None:
    async with asking(session) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools)[:3] == ["find_adk_evidence", "find_adk_symbol", "read_adk_source"]
    assert tools["find_adk_evidence"].input_schema["required"] == ["query"]
    for name, tool in tools.items():
        assert tool.description and len(tool.description) > 80
        for argument, field in tool.input_schema["properties"].items():
            assert field["type"] and (field.get("description") or argument in SELF_EXPLAINING), f"{name} {argument}"
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (name not in ("index_codebase", "delete_index"))
        assert bool(tool.annotations.destructive_hint) == (name == "delete_index")


@pytest.mark.asyncio
async def test_the_definitions_of_all_tools_cost_a_model_at_most_2100_tokens(session: AgentSession) -> None:
    async with asking(session) as client:
        listed = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    assert len(listed) == 10 and estimate_tokens(json.dumps(listed, separators=(",", ":"))) <= 2100
    # What a definition declares is what a call is held to.
    fields = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed}
    count = fields["search_code_and_docs"]
    assert count["max_results"] == {"type": "integer", "default": 8, "maximum": 50}
    assert count["max_tokens"]["minimum"] == 200
    asked = fields["find_adk_evidence"]
    assert asked["query"]["maxLength"] == 100_000
    assert asked["task_mode"]["enum"] == ["build", "debug", "explain", "refactor"]


@pytest.mark.asyncio
async def test_a_long_traceback_is_taken_by_every_tool_that_takes_a_question(session: AgentSession) -> None:
    log = (
        "why?\n"
        + "INFO waiting\n" * 3000
        + "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'"
    )
    async with asking(session) as client:
        for tool, name in (
            ("find_adk_evidence", "query"),
            ("search_code_and_docs", "query"),
            ("get_task_context", "task"),
        ):
            await answer(client, tool, **{name: log})
            sentence = await failure(client, tool, **{name: "word " * 2000})
            assert "no traceback" in sentence


@pytest.mark.asyncio
async def test_the_words_around_what_is_quoted_cost_at_most_80_tokens(session: AgentSession) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("find_adk_evidence", {"query": QUESTION}),
        *(("search_code_and_docs", {"query": QUESTION, "max_results": number}) for number in (1, 5, 8)),
        ("find_similar_code", {"code": "def back_off(attempt):\n    return min(60.0, 2.0**attempt)"}),
        ("get_task_context", {"task": QUESTION}),
        ("find_adk_symbol", {"query": "RetryPlugin"}),
        ("find_adk_symbol", {"query": "what retries a tool"}),
        ("read_adk_source", {"citation": f"adk-python@{CODE_COMMIT}:src/google/adk/limits.py"}),
    ]
    async with asking(session) as client:
        for tool, arguments in asked:
            text = await answer(client, tool, **arguments)
            # What a page holds besides is a part of the answer.
            around = OUTLINE.sub("", HEADER.sub("", outside_fences(text)))
            assert "```" in text and estimate_tokens(around.strip()) <= 80, around
            # Whoever asked knows the question, and nothing is said of citations that hold.
            assert "QUESTION" not in around and "verified" not in outside_fences(text)


@pytest.mark.asyncio
async def test_a_name_is_answered_with_what_it_takes_and_nothing_that_merely_begins_so(
    session: AgentSession,
) -> None:
    async with asking(session) as client:
        text = await answer(client, "find_adk_symbol", query="RetryPlugin", limit=10)
        assert (
            "RetryPlugin(max_retries: int = MAX_RETRIES)" in text
            and "\nmethods: on_tool_error(error, attempt)\n" in text
        )
        assert re.findall(r"^\d+\. (.*)$", text, re.MULTILINE) == ["class RetryPlugin"]
        text = await answer(client, "find_adk_symbol", query="Retry", limit=10)
        found = re.findall(r"^\d+\. \w+ ([\w.]+)", text, re.MULTILINE)
        assert {"RetryPlugin", "RetryPlugin.on_tool_error"} <= set(found)
        # What is not public is marked, and what a class lacks is said.
        text = await answer(client, "find_adk_symbol", query="MAX_RETRIES")
        assert "variable MAX_RETRIES (internal)" in text and "plugins/retry.py#L" in text
        text = await answer(client, "find_adk_symbol", query="Runner.on_tool_error")
        said = "Neither `Runner` nor its public bases in the ADK have a public member `on_tool_error`; the nearest:"
        assert text.startswith(said) and "\n1. class Runner\n" in text


@pytest.mark.asyncio
async def test_methods_with_the_same_signature_are_told_once_with_each_place(tmp_path: Path) -> None:
    method = "    def keep(self, name: str, content: bytes, *, user: str | None = None) -> int:\n        {}\n"
    stores = "\n\n".join(
        f"class {name}({base}):\n{method.format(body)}"
        for name, base, body in (
            ("Store", "object", '"""Keeps a file."""'),
            ("MemoryStore", "Store", "return 1"),
            ("DiskStore", "Store", "return 2"),
        )
    )
    place = Workplace(tmp_path)
    write_code(place.code, {**CODE, "src/google/adk/stores.py": f'"""Stores."""\n\n\n{stores}'})
    place.ingest()
    session = AgentSession(lambda: place.settings)
    try:
        async with asking(session) as client:
            text = await answer(client, "find_adk_symbol", query="keep", limit=3)
    finally:
        session.close()
    assert text.count("content: bytes") == 1
    assert text.count(", with the signature of 1\n") == 2 and text.count("stores.py#L") == 3
    # Each is a method of another class, which is imported by another name.
    assert {"import Store\n", "import DiskStore\n", "import MemoryStore\n"} <= set(re.findall(r"import \w+\n", text))


@pytest.mark.asyncio
async def test_narrowing_and_budgets_hold(session: AgentSession) -> None:
    async with asking(session) as client:
        docs = citations(await answer(client, "find_adk_evidence", query=QUESTION, sources=["docs"]))
        assert docs and not any("#L" in cited for cited in docs)
        # Agents write ends of paths, too, as if a star in front stood for any folders.
        for path in ("src/google/adk/plugins", "*adk/plugins/*", "adk\\plugins", "/src/google/adk/plugins/"):
            found = paths(await answer(client, "find_adk_evidence", query=QUESTION, path=path))
            assert found, path
            assert all(one.startswith("src/google/adk/plugins/") for one in found)
        everywhere = citations(await answer(client, "find_adk_evidence", query=QUESTION, path="."))
        assert {"#L" in cited for cited in everywhere} == {True, False}
        about = paths(await answer(client, "find_adk_evidence", query=QUESTION, symbols=["Runner"]))
        assert about[0] == "src/google/adk/runners.py"
        text = await answer(client, "search_code_and_docs", query=QUESTION, max_tokens=400)
        assert estimate_tokens(text) <= 400 and citations(text)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("find_adk_evidence", {}, "query"),
        ("search_code_and_docs", {"query": "x", "max_tokens": 1}, "max_tokens"),
        ("find_adk_evidence", {"query": "x", "colour": "red"}, "colour"),
        ("find_adk_evidence", {"query": "BREAK it"}, "RuntimeError"),
        ("search_code_and_docs", {"query": "x", "file_type": " "}, "argument file_type is not valid: it is empty"),
        ("find_similar_code", {"code": "  "}, "argument code is not valid: it is empty"),
        ("get_task_context", {"task": "x y", "index": "nowhere"}, "nowhere"),
        ("index_codebase", {"name": "shop", "exclude_patterns": ["*.R"]}, "path"),
        ("index_codebase", {"name": "all", "path": "/"}, "home folder"),
        ("delete_index", {"name": "adk"}, "adk-ingest all"),
    ],
)
async def test_what_goes_wrong_is_a_sentence_that_names_it(
    session: AgentSession, tool: str, arguments: dict[str, Any], named: str
) -> None:
    async with asking(session) as client:
        said = await failure(client, tool, **arguments)
        assert named in said and "sk-secret" not in said


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_citation_comes_back_from_its_uri(citation: str) -> None:
    uri = citation_uri(citation)
    assert cited_in(uri) == citation
    # Nothing is left that a URI's reader could take for a part of its own.
    assert re.fullmatch(r"adk-evidence://source/[A-Za-z0-9_.~%-]+", uri)


def test_a_uri_that_a_client_wrote_anew_is_understood() -> None:
    page = "adk-docs@d0c5:https://docs.example.org/tools/retry/?tab=python#back-off"
    assert cited_in("adk-evidence://source/" + page) == page
    assert cited_in("adk-evidence://source/" + page.replace("#", "%23").replace("@", "%40")) == page
    for wrong in (
        "adk-evidence://source/",
        "adk-evidence://other/x",
        "file:///etc/passwd",
        "adk-evidence://source/%FF",
    ):
        with pytest.raises(InvalidRequestError):
            cited_in(wrong)


@pytest.mark.asyncio
async def test_a_long_file_is_read_piece_by_piece(session: AgentSession, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking(session) as client:
        monkeypatch.setattr(resources, "DEFAULT_MAX_TOKENS", 300)
        uri: str | None = citation_uri(f"adk-python@{CODE_COMMIT}:src/google/adk/limits.py")
        limits: list[str] = []
        pieces = 0
        while uri is not None:
            text = await read(client, uri)
            assert estimate_tokens(text) <= 300
            limits += re.findall(r"^LIMIT_\d+ = ", text, re.MULTILINE)
            further = re.search(r"Read on at (\S+)$", text)
            uri, pieces = further[1] if further else None, pieces + 1
        assert pieces > 1 and limits == [f"LIMIT_{number} = " for number in range(120)]


@pytest.mark.asyncio
async def test_a_source_that_changed_says_what_became_of_the_lines(workplace: Workplace) -> None:
    workplace.ingest()
    change(workplace.code / "src/google/adk/runners.py", '"""Runs agents."""', '"""Runs agents."""\n\nimport abc')
    session = AgentSession(lambda: workplace.settings)
    async with asking(session) as client:
        text = await read(client, citation_uri(f"adk-python@{CODE_COMMIT}:src/google/adk/runners.py#L6-L20"))
    session.close()
    first, *_ = text.split("\n")
    assert "(the file has changed since it was indexed) (the cited lines: moved, now lines 8-22)" in first
    assert "class Runner" in text and "import abc" not in text


@pytest.mark.asyncio
async def test_what_cannot_be_read_is_told_in_a_sentence(workplace: Workplace) -> None:
    async with asking(AgentSession(lambda: workplace.settings)) as client:
        error = await refusal(client.read_resource("file:///etc/passwd"))
        assert error.code == INVALID_PARAMS and "adk-evidence://source/" in error.message
        error = await refusal(client.read_resource(INDEX_URI))
        assert error.code == INTERNAL_ERROR and "adk-ingest" in error.message
