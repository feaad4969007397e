"""Real agents of the ADK with a scripted model: the tool itself, and the MCP server through McpToolset."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="NO google-adk HERE: `npm test` runs this in .venv-adk, as a part of its own")

from google.adk.agents import LlmAgent
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import StdioServerParameters

from adk_evidence_agents.adk_tool import make_function_tool
from adk_evidence_agents.session import AgentSession
from tests.agents.adk.scripted import run, strings
from tests.agents.conftest import HOSTILE, HOSTILE_WORDS
from tests.agents.servers import DRIVER, ROOT, serving_http
from tests.corpora import Workplace
from tests.injection import outside_fences

pytestmark = pytest.mark.asyncio

QUESTION = "how do I retry when a tool throws?"


def agent_with(tool: Any) -> LlmAgent:
    return LlmAgent(name="helper", tools=[tool])


def stdio_toolset(home: Path) -> McpToolset:
    # The toolset passes on nothing but what it is told to.
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", DRIVER, "serve", "mcp"], cwd=ROOT, env={"ADK_EVIDENCE_HOME": str(home)}
    )
    return McpToolset(connection_params=StdioConnectionParams(server_params=parameters, timeout=60))


@asynccontextmanager
async def over_stdio(home: Path) -> AsyncIterator[McpToolset]:
    yield stdio_toolset(home)


@asynccontextmanager
async def over_http(home: Path) -> AsyncIterator[McpToolset]:
    async with serving_http(home) as served:
        parameters = StreamableHTTPConnectionParams(url=served.url, headers=served.headers, timeout=60)
        yield McpToolset(connection_params=parameters)


def text_of(answer: dict[str, Any]) -> str:
    (content,) = answer["content"]
    return content["text"]


def citations_of(answer: dict[str, Any]) -> list[str]:
    return re.findall(r"^\[CTX \d+\] (\S+)$", text_of(answer), re.MULTILINE)


def nothing_hostile_is_loose(answer: dict[str, Any]) -> None:
    texts = list(strings(answer))
    assert any(HOSTILE_WORDS in text for text in texts)
    for text in texts:
        outside = outside_fences(text)
        assert "\u202e" not in text and not [hostile for hostile in HOSTILE if hostile in outside]


async def test_an_agent_calls_the_tool_and_gets_citations_back(session: AgentSession) -> None:
    done = await run(agent_with(make_function_tool()), ("retrieve_adk_evidence", {"query": QUESTION}))

    declaration = done.offered["retrieve_adk_evidence"]
    schema = declaration.parameters_json_schema
    assert schema["required"] == ["query"] and "evidence" in declaration.description
    assert all(parameter["description"] for parameter in schema["properties"].values())
    assert schema["properties"]["task_mode"]["enum"] == ["build", "debug", "explain", "refactor"]
    assert schema["properties"]["max_results_final"]["maximum"] == 100
    (answer,) = done.answers
    candidates = answer["evidence_pack"]["candidates"]
    assert answer["status"] == "success" and len(done.requests) == 2 and done.ended_well
    assert candidates and all(one["citation"].startswith(("adk-docs@", "adk-python@")) for one in candidates)
    json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize("over", [over_stdio, over_http])
async def test_an_agent_uses_the_server_through_a_toolset(indexed: Workplace, over: Any) -> None:
    async with over(indexed.home) as toolset:
        done = await run(
            agent_with(toolset),
            ("find_adk_evidence", {"query": QUESTION}),
            ("read_adk_source", lambda answers: {"citation": citations_of(answers[0])[0]}),
            ("find_adk_symbol", {"query": "RetryPlugin"}),
            ("find_adk_evidence", {"query": ""}),
            ("find_adk_evidence", {"query": "BREAK it"}),
            ("read_adk_source", {"citation": "/etc/passwd"}),
            ("find_adk_evidence", {"query": "zebra password"}),
        )

    assert {"find_adk_evidence", "find_adk_symbol", "read_adk_source"} <= set(done.offered)
    assert done.offered["find_adk_evidence"].parameters_json_schema["required"] == ["query"]
    found, source, symbols, empty, broken, outside, hostile = done.answers
    assert done.ended_well and len(done.requests) == 8
    assert citations_of(found) and text_of(source).startswith("SOURCE: adk-")
    # The model pays for the text alone.
    assert set(found) == {"content", "isError"}
    assert "from google.adk.plugins import RetryPlugin" in text_of(symbols)
    for answer, named in [(empty, "query"), (broken, "RuntimeError"), (outside, "not a citation")]:
        assert answer["isError"] and named in text_of(answer)
    assert "sk-secret" not in json.dumps(done.answers)
    nothing_hostile_is_loose(hostile)
