"""`adk/targets` and workspace/symbol, as a client sees them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse

from adk_evidence.targets.target import TargetAnswer
from tests.corpora import Workplace
from tests.lsp.rpc import RawClient


def test_a_name_is_found_first(client: RawClient) -> None:
    answer = TargetAnswer.model_validate(client.result("adk/targets", {"query": "LlmAgent", "limit": 3}))
    assert answer.mode == "lookup" and answer.results[0].symbol == "LlmAgent"
    assert answer.results[0].import_statement == "from google.adk.agents.llm_agent import LlmAgent"


def test_symbols_of_the_workspace_lead_to_their_definition(client: RawClient, indexed: Workplace) -> None:
    first = client.result("workspace/symbol", {"query": "RetryPlugin"})[0]
    assert (first["name"], first["containerName"]) == ("RetryPlugin", "google.adk.plugins")
    file = Path(unquote(urlparse(first["location"]["uri"]).path))
    assert file == indexed.code / "src/google/adk/plugins/retry.py"
    line = first["location"]["range"]["start"]["line"]
    assert file.read_text().splitlines()[line].startswith("class RetryPlugin")
    assert client.result("adk/source", first["data"])["text"] == file.read_text()


def test_no_query_is_no_symbol(client: RawClient) -> None:
    assert client.result("workspace/symbol", {"query": ""}) == []
