"""`retrieve_adk_evidence` as an agent's run meets it, without the ADK; `adk/` has real agents."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from adk_evidence.admission import Limits
from adk_evidence.models.pack import Availability, Drift, LineSpan, SupportedLanguage
from adk_evidence.text.tokens import estimate_tokens
from adk_evidence_agents import adk_tool
from adk_evidence_agents.adk_tool import AdkMissingError, make_function_tool, retrieve_adk_evidence
from adk_evidence_agents.session import AgentSession
from tests.core import factories
from tests.corpora import Workplace, change

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

QUESTION = "how do I retry when a tool throws?"
KEYS = {"status", "evidence_pack", "warnings", "debug"}
CANDIDATE = {
    "rank",
    "rerank_score",
    "collection",
    "source_type",
    "repo",
    "ref",
    "path_or_url",
    "chunk_id",
    "text",
    "citation",
}


async def test_its_contract_is_that_of_the_specification() -> None:
    parameters = inspect.signature(retrieve_adk_evidence).parameters
    assert {name: item.default for name, item in parameters.items()} == {
        "query": inspect.Parameter.empty,
        "task_mode": "build",
        "max_results_final": 12,
    }
    assert inspect.iscoroutinefunction(retrieve_adk_evidence)


async def test_a_busy_process_tells_the_model_when_to_ask_again(session: AgentSession) -> None:
    _ = session.settings
    session.admission.limits = Limits(running=1, waiting=0)
    with session.admission.turn():
        answer = await retrieve_adk_evidence(QUESTION)
    assert answer["status"] == "error" and answer["debug"]["error"]["code"] == "busy"
    assert "Ask again in" in answer["warnings"][0]
    assert (await retrieve_adk_evidence(QUESTION))["status"] == "success"


async def test_an_answer_is_a_pack_with_checked_citations(session: AgentSession) -> None:
    answer = await retrieve_adk_evidence(QUESTION, task_mode="explain", max_results_final=4)
    assert set(answer) == KEYS and answer["status"] == "success"
    json.dumps(answer, allow_nan=False)
    pack = answer["evidence_pack"]
    assert set(pack) == {"query", "quality", "retrieval_plan", "candidates", "coverage"}
    assert 1 <= len(pack["candidates"]) <= 4
    for candidate in pack["candidates"]:
        assert set(candidate) - {"import_statement", "needs", "signature", "same_as", "passed_to"} == CANDIDATE
        assert candidate["citation"].startswith(("adk-docs@", "adk-python@"))
    assert sum(pack["coverage"].values()) == len(pack["candidates"])
    assert answer["warnings"] == [] and list(answer["debug"]) == ["query_id"]


async def test_models_are_told_for_whom_a_feature_is_what_takes_a_class_and_what_a_version_lacks() -> None:
    pack = factories.pack(factories.payload())
    languages = (SupportedLanguage(language="go", since="2.1.0"),)
    lacking = Drift(kind="name", symbol="App", version="1.4.2", lines=LineSpan(start=1, end=1), since="1.14.0", text="")
    told = {
        "availability": Availability(languages=languages, lacks="language"),
        "taken_by": ("App(plugins=)",),
        "drift": (lacking,),
    }
    (plain,) = adk_tool._for_model(pack)["candidates"]
    changed = pack.model_copy(update={"candidates": (pack.candidates[0].model_copy(update=told),)})
    (only,) = adk_tool._for_model(changed)["candidates"]
    assert only["availability"] == "the docs say: supported only in Go" and only["passed_to"] == ["App(plugins=)"]
    assert only["drift"] == "not in google-adk 1.4.2: App (since 1.14.0)"
    assert not {"availability", "passed_to", "drift"} & set(plain)


async def test_what_surrounds_the_evidence_costs_little(session: AgentSession) -> None:
    answer = await retrieve_adk_evidence(QUESTION)
    candidates = answer["evidence_pack"].pop("candidates")
    around = [{**candidate, "text": ""} for candidate in candidates]
    assert candidates and estimate_tokens(json.dumps(answer)) < 220
    assert all(estimate_tokens(json.dumps(candidate)) < 220 for candidate in around)


async def test_a_citation_that_no_longer_holds_says_so(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace.ingest()
    session = AgentSession(lambda: workplace.settings)
    monkeypatch.setattr(adk_tool, "_SESSION", session)
    change(workplace.code / "src/google/adk/runners.py", '"""Runs agents."""', '"""Runs agents."""\n\nimport abc')
    answer = await retrieve_adk_evidence("class Runner runs an agent and keeps its session")
    session.close()
    states = {(one["path_or_url"], one.get("verification")) for one in answer["evidence_pack"]["candidates"]}
    assert ("src/google/adk/runners.py", "moved, now lines 8-22") in states
    assert ("src/google/adk/plugins/retry.py", None) in states


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": "x", "max_results_final": "many"}, "max_results_final"),
        ({"query": "BREAK it"}, "RuntimeError"),
    ],
)
async def test_nothing_that_goes_wrong_ends_the_run(session: AgentSession, arguments: Any, named: str) -> None:
    answer = await retrieve_adk_evidence(**arguments)
    assert set(answer) == KEYS and answer["status"] == "error" and answer["evidence_pack"] == {}
    (warning,) = answer["warnings"]
    assert named in warning and "sk-secret" not in json.dumps(answer)


async def test_the_core_never_imports_the_adk() -> None:
    code = "import sys, adk_evidence_agents.adk_tool; print(any(name.startswith('google.adk') for name in sys.modules))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "False"


async def test_without_the_adk_the_helper_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.adk.tools", None)
    with pytest.raises(AdkMissingError, match=r"adk-evidence\[adk\]"):
        make_function_tool()
