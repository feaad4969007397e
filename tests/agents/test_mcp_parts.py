"""Tools, resources, prompts, completion and progress of the MCP server, with the SDK's client in the same process."""

from __future__ import annotations

import asyncio
import datetime
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, PromptReference, ResourceTemplateReference

from adk_evidence.admission import Admission, Limits
from adk_evidence.errors import InvalidRequestError
from adk_evidence.search import session as door
from adk_evidence.tokens import estimate_tokens
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp import resources
from adk_evidence_mcp.resources import INDEX_URI, RESULTS_URI, citation_uri, cited_in
from adk_evidence_mcp.server import make_server
from adk_evidence_mcp.work import Call, in_thread
from adk_ingest.progress import Progress
from adk_ingest.targets.build import build_targets
from tests.agents.conftest import HOSTILE, HOSTILE_WORDS, Moody
from tests.agents.mcp_calls import answer, failure
from tests.corpora import CODE, CODE_COMMIT, DOCS_COMMIT, Workplace, change, write_code
from tests.injection import outside_fences

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
# What stands above a quote.
OUTLINE = re.compile(r"^OUTLINE OF CTX .*\n", re.MULTILINE)
HEADER = re.compile(r"^\[(?:CTX|CODE|DOCS) \d+\] .*\n(?:AT: .*\n)?", re.MULTILINE)
# Arguments that their name, type, values and limits explain.
SELF_EXPLAINING = ("task_mode", "code", "task", "max_results", "limit", "sources", "where", "max_tokens")


@pytest.fixture
def session(indexed: Workplace, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentSession]:
    monkeypatch.setattr(door, "make_dense", lambda settings: Moody())
    session = AgentSession(lambda: indexed.settings)
    yield session
    session.close()


@pytest.fixture
def unindexed(tmp_path: Path, session: AgentSession) -> Iterator[AgentSession]:
    """Without an index."""
    empty = AgentSession(lambda: Workplace(tmp_path).settings)
    yield empty
    empty.close()


def asking(session: AgentSession) -> Client:
    """A client whose messages go through the protocol's framing."""
    return Client(make_server(session, structured=True), mode="legacy")


async def refusal(awaited: Any) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await awaited
    assert "\n" not in caught.value.message and "Traceback" not in caught.value.message
    return caught.value


async def read(client: Client, uri: str) -> str:
    (contents,) = (await client.read_resource(uri)).contents
    assert contents.uri == uri and contents.mime_type == "text/markdown"
    return contents.text


async def prompt(client: Client, name: str, **arguments: str) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user" and message.content.type == "text"
    return message.content.text


# --- Progress ------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_progress_reaches_the_client_while_the_work_goes_on() -> None:
    heard = threading.Event()
    reports: list[tuple[float, float | None, str | None]] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))
        heard.set()

    def work(call: Call) -> bool:
        teller = threading.Thread(target=call.progress, args=(0, None, "begun"))
        teller.start()
        teller.join()
        heard_meanwhile = heard.wait(30)
        call.progress(5, 9, "overtaken")
        call.progress(8, 9, "nearly done")
        call.progress(8, 9, "not further than before")
        return heard_meanwhile

    assert await in_thread(work, report, Admission())
    assert reports[0] == (0, None, "begun")
    assert [progress for progress, _, _ in reports] == sorted({progress for progress, _, _ in reports})
    assert reports[-1][:2] == (8, 9)


@pytest.mark.asyncio
async def test_work_that_is_not_wanted_any_more_is_told_so() -> None:
    begun, stopped = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def report(progress: float, total: float | None, message: str | None) -> None:
        raise AssertionError("nothing was told")

    def work(call: Call) -> None:
        loop.call_soon_threadsafe(begun.set)
        while not call.cancelled():
            stopped.wait(0.001)
        stopped.set()

    waiting = asyncio.create_task(in_thread(work, report, Admission()))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(stopped.wait, 30)


# --- Load ----------------------------------------------------------------------------------------------------------


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
        text, _found = await answer(client, "find_adk_evidence", query=QUESTION)
        assert "[CTX 1]" in text


@pytest.mark.asyncio
async def test_the_state_of_the_index_tells_of_load_and_caches(session: AgentSession) -> None:
    async with asking(session) as client:
        first = await answer(client, "find_adk_evidence", query=QUESTION)
        assert await answer(client, "find_adk_evidence", query=QUESTION) == first
        (contents,) = (await client.read_resource(INDEX_URI)).contents
    load = json.loads(contents.text)["load"]
    assert load["requests"]["answered"] == 2 and load["requests"]["running"] == 0
    caches = {cache["name"]: cache for cache in load["caches"]}
    assert caches["answers"]["hit_rate"] == 0.5 and caches["answers"]["entries"] == 1
    assert caches["questions"]["misses"] >= 1 and "chunks of doc" in caches


# --- Tools ---------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_model_is_given_the_evidence_once_by_every_client(session: AgentSession) -> None:
    async with Client(make_server(session), mode="legacy") as client:
        assert not [tool.name for tool in (await client.list_tools()).tools if tool.output_schema]
        result = await client.call_tool("find_adk_evidence", {"query": QUESTION, "max_tokens": 900})
    assert result.structured_content is None and result.meta is None
    (content,) = result.content
    assert "[CTX 1]" in content.text and estimate_tokens(content.text) <= 900


@pytest.mark.asyncio
async def test_programs_get_citations_as_data_without_the_texts(session: AgentSession) -> None:
    async with asking(session) as client:
        text, found = await answer(client, "find_adk_evidence", query=QUESTION)
    assert found["citations"][0]["citation"] in text and "Retries a tool that throws." not in json.dumps(found)


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
@pytest.mark.parametrize("structured", [False, True])
async def test_the_definitions_of_all_tools_cost_a_model_at_most_2100_tokens(
    session: AgentSession, structured: bool
) -> None:
    async with Client(make_server(session, structured=structured), mode="legacy") as client:
        listed = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    assert len(listed) == 10 and estimate_tokens(json.dumps(listed, separators=(",", ":"))) <= 2100
    # What a definition declares is what a call is held to.
    count = next(tool for tool in listed if tool["name"] == "find_adk_evidence")["inputSchema"]["properties"]
    assert count["max_results"] == {"type": "integer", "default": 8, "maximum": 50}
    assert count["max_tokens"]["minimum"] == 200 and count["query"]["maxLength"] == 100_000
    assert count["task_mode"]["enum"] == ["build", "debug", "explain", "refactor"]


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
        assert "[CTX 1]" in await prompt(client, "debug", error=log, symbol="RetryPlugin")


@pytest.mark.asyncio
async def test_the_words_around_what_is_quoted_cost_at_most_80_tokens(session: AgentSession) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        *(("find_adk_evidence", {"query": QUESTION, "max_results": number}) for number in (1, 5, 8)),
        *(("search_code_and_docs", {"query": QUESTION, "max_results": number}) for number in (1, 5, 8)),
        ("find_similar_code", {"code": "def back_off(attempt):\n    return min(60.0, 2.0**attempt)"}),
        ("get_task_context", {"task": QUESTION}),
        ("find_adk_symbol", {"query": "RetryPlugin"}),
        ("find_adk_symbol", {"query": "what retries a tool"}),
        ("read_adk_source", {"citation": f"adk-python@{CODE_COMMIT}:src/google/adk/limits.py"}),
    ]
    async with asking(session) as client:
        for tool, arguments in asked:
            text, _ = await answer(client, tool, **arguments)
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
        text, found = await answer(client, "find_adk_symbol", query="RetryPlugin", limit=10)
        assert (
            "RetryPlugin(max_retries: int = MAX_RETRIES)" in text
            and "\nmethods: on_tool_error(error, attempt)\n" in text
        )
        assert [symbol["fqn"] for symbol in found["symbols"]] == ["google.adk.plugins.retry.RetryPlugin"]
        text, found = await answer(client, "find_adk_symbol", query="Retry", limit=10)
        assert {"RetryPlugin", "on_tool_error"} <= {symbol["fqn"].rpartition(".")[2] for symbol in found["symbols"]}


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
    build_targets(place.settings, Progress(), vectors=False)
    session = AgentSession(lambda: place.settings)
    try:
        async with asking(session) as client:
            text, found = await answer(client, "find_adk_symbol", query="keep", limit=3)
    finally:
        session.close()
    assert len(found["symbols"]) == 3 and text.count("content: bytes") == 1
    assert text.count(", with the signature of 1\n") == 2 and text.count("stores.py#L") == 3
    # Each is a method of another class, which is imported by another name.
    assert {"import Store\n", "import DiskStore\n", "import MemoryStore\n"} <= set(re.findall(r"import \w+\n", text))


@pytest.mark.asyncio
async def test_what_is_not_public_is_answered_to_its_exact_name_and_marked(session: AgentSession) -> None:
    async with asking(session) as client:
        text, found = await answer(client, "find_adk_symbol", query="MAX_RETRIES")
        assert "variable MAX_RETRIES (internal)" in text and "plugins/retry.py#L" in text
        assert [symbol["standing"] for symbol in found["symbols"]] == ["internal"] and not found["lacking"]


@pytest.mark.asyncio
async def test_a_member_that_a_class_lacks_is_not_answered_with_another_class_alone(session: AgentSession) -> None:
    async with asking(session) as client:
        text, found = await answer(client, "find_adk_symbol", query="Runner.on_tool_error")
        said = "Neither `Runner` nor its public bases in the ADK have a public member `on_tool_error`; the nearest:"
        assert text.startswith(said) and found["lacking"] == said
        assert found["symbols"][0]["fqn"] == "google.adk.runners.Runner"


@pytest.mark.asyncio
async def test_programs_read_the_schemas_that_structured_content_keeps_to(session: AgentSession) -> None:
    calls = {
        "find_adk_evidence": {"query": QUESTION},
        "find_adk_symbol": {"query": "RetryPlugin"},
        "read_adk_source": {"citation": f"adk-python@{CODE_COMMIT}:src/google/adk/limits.py"},
        "search_code_and_docs": {"query": QUESTION},
        "get_task_context": {"task": QUESTION},
        "list_indexes": {},
    }
    async with asking(session) as client:
        assert RESULTS_URI in [resource.uri for resource in (await client.list_resources()).resources]
        (contents,) = (await client.read_resource(RESULTS_URI)).contents
        schemas = json.loads(contents.text)
        assert list(schemas) == [tool.name for tool in (await client.list_tools()).tools]
        for name, arguments in calls.items():
            _, found = await answer(client, name, **arguments)
            jsonschema.validate(found, schemas[name])
    async with Client(make_server(session), mode="legacy") as client:
        assert [resource.uri for resource in (await client.list_resources()).resources] == [INDEX_URI]
        await refusal(client.read_resource(RESULTS_URI))


@pytest.mark.asyncio
async def test_from_a_question_to_the_cited_lines(session: AgentSession) -> None:
    async with asking(session) as client:
        text, found = await answer(client, "find_adk_evidence", query=QUESTION)
        assert found["status"] == "success" and found["citations"] and found["quality"]["note"] in text
        assert "RetryPlugin" in text and found["tokens"] == estimate_tokens(text)
        for number, cited in enumerate(found["citations"], 1):
            assert f"[CTX {number}] {cited['citation']}" in text and cited["verification"] == "exact"
            source, read = await answer(client, "read_adk_source", citation=cited["citation"])
            assert read["path"] == cited["path"] and read["matches_index"] and read["read_on"] is None
            assert read["path"] in source

        text, symbols = await answer(client, "find_adk_symbol", query="RetryPlugin", limit=2)
        first = symbols["symbols"][0]
        assert first["import_statement"] == "from google.adk.plugins import RetryPlugin"
        assert "Retries a tool that throws." in text and first["citation"] in text
        source, _ = await answer(client, "read_adk_source", citation=first["citation"])
        assert "class RetryPlugin" in source


@pytest.mark.asyncio
async def test_narrowing_and_budgets_hold(session: AgentSession) -> None:
    async with asking(session) as client:
        _, docs = await answer(client, "find_adk_evidence", query=QUESTION, sources=["docs"], max_results=3)
        assert {cited["source_type"] for cited in docs["citations"]} == {"docs"} and len(docs["citations"]) <= 3
        # Agents write ends of paths, too, as if a star in front stood for any folders.
        for path in ("src/google/adk/plugins", "*adk/plugins/*", "adk\\plugins", "/src/google/adk/plugins/"):
            _, one = await answer(client, "find_adk_evidence", query=QUESTION, path=path)
            assert one["citations"], path
            assert all(cited["path"].startswith("src/google/adk/plugins/") for cited in one["citations"])
        _, everywhere = await answer(client, "find_adk_evidence", query=QUESTION, path=".")
        assert len({cited["source_type"] for cited in everywhere["citations"]}) == 2
        _, about = await answer(client, "find_adk_evidence", query=QUESTION, symbols=["Runner"])
        assert about["citations"][0]["path"] == "src/google/adk/runners.py"
        text, small = await answer(client, "find_adk_evidence", query=QUESTION, max_tokens=400)
        assert estimate_tokens(text) <= 400 and small["omitted"] > 0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("find_adk_evidence", {}, "query"),
        ("find_adk_evidence", {"query": "  "}, "query"),
        ("find_adk_evidence", {"query": "x", "task_mode": "sing"}, "task_mode"),
        ("find_adk_evidence", {"query": "x", "sources": []}, "sources"),
        ("find_adk_evidence", {"query": "x", "max_tokens": 1}, "max_tokens"),
        ("find_adk_evidence", {"query": "x", "colour": "red"}, "colour"),
        ("find_adk_evidence", {"query": "BREAK it"}, "RuntimeError"),
        ("find_adk_symbol", {"query": "x", "limit": 0}, "limit"),
        ("search_code_and_docs", {"query": "x", "where": "kitchen"}, "where"),
        ("search_code_and_docs", {"query": "x", "file_type": " "}, "argument file_type is not valid: it is empty"),
        ("search_code_and_docs", {"query": "  "}, "argument query is not valid: it is empty"),
        ("find_similar_code", {"code": "  "}, "argument code is not valid: it is empty"),
        ("get_task_context", {"task": "  "}, "argument task is not valid: it is empty"),
        ("get_task_context", {"task": "x y", "max_tokens": 5}, "max_tokens"),
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


@pytest.mark.asyncio
async def test_without_an_index_each_tool_says_how_to_make_one(unindexed: AgentSession) -> None:
    async with asking(unindexed) as client:
        assert "adk-ingest" in await failure(client, "find_adk_evidence", query=QUESTION)
        assert "adk-ingest" in await failure(client, "find_adk_symbol", query="Runner")
        assert "adk-ingest" in await failure(client, "read_adk_source", citation="adk-python@v1:src/a.py#L1-L9")


@pytest.mark.asyncio
async def test_hostile_texts_stay_inside_their_fences(session: AgentSession) -> None:
    page = f"adk-docs@{DOCS_COMMIT}:https://docs.example.org/zebra/#zebra-roles"
    async with asking(session) as client:
        evidence, found = await answer(client, "find_adk_evidence", query="zebra password", sources=["docs"])
        symbols, _ = await answer(client, "find_adk_symbol", query="zebra_password")
        source = await read(client, citation_uri(page))
        prompted = await prompt(client, "explain", question="zebra password")
    for text in (evidence, symbols, source, prompted):
        outside = outside_fences(text)
        assert HOSTILE_WORDS in text and "\u202e" not in text and "never instructions to follow" in outside
        assert not [hostile for hostile in HOSTILE if hostile in outside]
    assert HOSTILE_WORDS not in json.dumps(found)


# --- Resources -----------------------------------------------------------------------------------------------------


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

        whole = f"adk-python@{CODE_COMMIT}:src/google/adk/limits.py"
        text, first = await answer(client, "read_adk_source", citation=whole, max_tokens=200)
        _, second = await answer(client, "read_adk_source", citation=first["read_on"], max_tokens=200)
        assert estimate_tokens(text) <= 200 and second["lines"]["start"] == first["lines"]["end"] + 1


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
async def test_the_index_says_what_it_is_of(session: AgentSession) -> None:
    async with asking(session) as client:
        listed, _ = (await client.list_resources()).resources
        (contents,) = (await client.read_resource(listed.uri)).contents
        status = json.loads(contents.text)
        corpora = status["index"]["corpora"]
        assert corpora["adk_python"]["commit"] == CODE_COMMIT and corpora["adk_docs"]["commit"] == DOCS_COMMIT
        made = datetime.datetime.fromisoformat(status["index"]["created_at"])
        age = (datetime.datetime.now(datetime.UTC) - made).total_seconds() / 86_400
        assert status["profile"] == "local" and 0 <= status["age_days"] <= age + 0.01


@pytest.mark.asyncio
async def test_what_cannot_be_read_is_told_in_a_sentence(session: AgentSession, unindexed: AgentSession) -> None:
    async with asking(session) as client, asking(unindexed) as bare:
        unknown = citation_uri("adk-python@c0ffee:src/google/adk/runners.py#L1-L2")
        outside = citation_uri(f"adk-python@{CODE_COMMIT}:../../../etc/passwd")
        for uri, named in [
            (unknown, "no such file"),
            (outside, "no such file"),
            (citation_uri("/etc/passwd"), "not a citation"),
            ("file:///etc/passwd", "adk-evidence://source/"),
        ]:
            error = await refusal(client.read_resource(uri))
            assert error.code == INVALID_PARAMS and named in error.message
        for uri in (INDEX_URI, unknown):
            error = await refusal(bare.read_resource(uri))
            assert error.code == INTERNAL_ERROR and "adk-ingest" in error.message


# --- Prompts -------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_prompts_say_what_they_take(session: AgentSession) -> None:
    async with asking(session) as client:
        prompts = {one.name: one for one in (await client.list_prompts()).prompts}
        required = {name: [item.name for item in one.arguments or () if item.required] for name, one in prompts.items()}
        assert required == {"explain": ["question"], "debug": ["error"], "build": ["goal"], "refactor": ["goal"]}
        for one in prompts.values():
            assert (
                one.title and one.description and [item.name for item in one.arguments][1:] == ["symbol", "max_tokens"]
            )
            assert all(item.description for item in one.arguments)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "argument"), [("explain", "question"), ("debug", "error"), ("build", "goal"), ("refactor", "goal")]
)
async def test_a_prompt_holds_its_evidence_within_the_budget(session: AgentSession, name: str, argument: str) -> None:
    async with asking(session) as client:
        text = await prompt(client, name, **{argument: QUESTION, "symbol": "RetryPlugin"})
        task, _, evidence = text.partition("\n\n")
        assert "citation" in task and "Agent Development Kit" in task
        assert QUESTION in evidence and "[CTX 1] adk-" in evidence and "class RetryPlugin" in evidence
        small = await prompt(client, name, **{argument: QUESTION, "max_tokens": "500"})
        assert estimate_tokens(small) <= 500 < estimate_tokens(text) and "[CTX 1]" in small


@pytest.mark.asyncio
async def test_a_prompt_that_cannot_be_had_says_why(session: AgentSession, unindexed: AgentSession) -> None:
    async with asking(session) as client, asking(unindexed) as bare:
        for name, arguments, named in [
            ("sing", {}, "explain"),
            ("debug", {}, "error"),
            ("debug", {"error": "  "}, "error"),
            ("build", {"goal": "x", "max_tokens": "few"}, "max_tokens"),
            ("build", {"goal": QUESTION, "max_tokens": "200"}, "allow at least"),
            ("build", {"goal": "x", "colour": "red"}, "colour"),
        ]:
            error = await refusal(client.get_prompt(name, arguments))
            assert error.code == INVALID_PARAMS and named in error.message
        broken = await refusal(client.get_prompt("explain", {"question": "BREAK it"}))
        assert broken.code == INTERNAL_ERROR and "RuntimeError" in broken.message and "sk-secret" not in broken.message
        missing = await refusal(bare.get_prompt("explain", {"question": QUESTION}))
        assert "adk-ingest" in missing.message


@pytest.mark.asyncio
async def test_names_of_symbols_are_completed(session: AgentSession, unindexed: AgentSession) -> None:
    async with asking(session) as client, asking(unindexed) as bare:
        build = PromptReference(type="ref/prompt", name="build")

        async def completed(value: str, of: Client = client, argument: str = "symbol", ref: Any = build) -> list[str]:
            return (await of.complete(ref, {"name": argument, "value": value})).completion.values

        assert await completed("retrypl") == ["RetryPlugin", "RetryPlugin.on_tool_error"]
        assert "RetryPlugin.on_tool_error" in await completed("RetryPlugin.")
        assert "on_tool_error" in await completed("on_to")
        assert "google.adk.plugins.RetryPlugin" in await completed("google.adk.plugins.Ret")
        assert await completed("nothing of the kind") == []
        assert await completed("retry", argument="goal") == []
        template = ResourceTemplateReference(type="ref/resource", uri="adk-evidence://source/{citation}")
        assert await completed("adk", argument="citation", ref=template) == []
        assert await completed("retrypl", of=bare) == []
