"""The examples of server/README.md, as they stand: with the index in the default place and a scripted model."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason="NO google-adk HERE: `npm test` runs this in .venv-adk, as a part of its own")

from google.adk.agents import LlmAgent

from adk_evidence_agents import adk_tool
from adk_evidence_agents.session import AgentSession
from tests.agents.adk.scripted import run
from tests.agents.servers import ROOT, http_client, serving_http
from tests.corpora import Workplace

pytestmark = pytest.mark.asyncio

QUESTION = {"query": "how do I retry when a tool throws?"}
HTTP_URL = "http://127.0.0.1:8848/mcp"
CHOSEN = "a-token-of-my-own-choice"


def examples(language: str) -> list[str]:
    """The code in the section for agents."""
    readme = (ROOT / "server" / "README.md").read_text(encoding="utf-8")
    section = readme.partition("\n## For agents\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def agent_of(source: str, folder: Path) -> LlmAgent:
    """The agent that an example defines, as a file."""
    file = folder / "agent.py"
    file.write_text(source, encoding="utf-8")
    return runpy.run_path(str(file))["root_agent"]


@pytest.fixture
def user(indexed: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with an index in the default place, who wants keywords alone: no model is needed."""
    (tmp_path / ".config/adk-evidence").mkdir(parents=True)
    (tmp_path / ".config/adk-evidence/settings.yaml").write_text("retrieval: {branches: [sparse]}\n")
    (tmp_path / ".local/share").mkdir(parents=True)
    (tmp_path / ".local/share/adk-evidence").symlink_to(indexed.home)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ADK_EVIDENCE_HOME", "ADK_EVIDENCE_SETTINGS"):
        monkeypatch.delenv(name, raising=False)
    # Where the command is, if the environment is not an activated one.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.setattr(adk_tool, "_SESSION", AgentSession())


async def test_the_agents_find_evidence(
    user: None, indexed: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_tool, over_stdio, over_http = examples("python")

    done = await run(agent_of(with_tool, tmp_path), ("retrieve_adk_evidence", QUESTION))
    schema = done.offered["retrieve_adk_evidence"].parameters_json_schema
    assert schema["required"] == ["query"]
    assert all(parameter["description"] for parameter in schema["properties"].values())
    assert schema["properties"]["task_mode"]["enum"] == ["build", "debug", "explain", "refactor"]
    assert schema["properties"]["max_results_final"]["maximum"] == 100
    assert done.ended_well and done.answers[0]["status"] == "success"
    found = done.answers[0]["evidence_pack"]["candidates"]
    assert found and all(one["citation"].startswith(("adk-docs@", "adk-python@")) for one in found)

    done = await run(
        agent_of(over_stdio, tmp_path),
        ("find_adk_evidence", QUESTION),
        ("read_adk_source", {"citation": found[0]["citation"]}),
        ("find_adk_evidence", {"query": ""}),
        ("read_adk_source", {"citation": "/etc/passwd"}),
    )
    assert done.offered["find_adk_evidence"].parameters_json_schema["required"] == ["query"]
    evidence, source, *wrong = done.answers
    # The model pays for the text alone.
    assert set(evidence) == {"content", "isError"} and "[CTX 1]" in evidence["content"][0]["text"]
    assert source["content"][0]["text"].startswith("SOURCE: adk-") and done.ended_well
    for answer, named in zip(wrong, ("query", "not a citation"), strict=True):
        assert answer["isError"] and named in answer["content"][0]["text"]

    assert HTTP_URL in over_http
    monkeypatch.setenv("ADK_EVIDENCE_MCP_TOKEN", CHOSEN)
    async with serving_http(indexed.home, ADK_EVIDENCE_MCP_TOKEN=CHOSEN) as served:
        done = await run(agent_of(over_http.replace(HTTP_URL, served.url), tmp_path), ("find_adk_evidence", QUESTION))
    assert done.ended_well and "[CTX 1]" in done.answers[0]["content"][0]["text"]


async def test_the_configuration_of_a_client_reaches_a_server_over_http(user: None, indexed: Workplace) -> None:
    (running,) = (json.loads(text)["mcpServers"]["adk-evidence"] for text in examples("json"))
    assert running["url"] == HTTP_URL
    async with serving_http(indexed.home, ADK_EVIDENCE_MCP_TOKEN=CHOSEN) as served:
        header = running["headers"]["Authorization"].replace("${ADK_EVIDENCE_MCP_TOKEN}", CHOSEN)
        async with http_client(served, headers={"Authorization": header}) as client:
            result = await client.call_tool("find_adk_evidence", QUESTION)
            assert not result.is_error and "[CTX 1]" in result.content[0].text
