"""`adk/targets` and workspace/symbol, as a client sees them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from adk_evidence.targets.target import TargetAnswer
from adk_ingest.progress import Progress
from adk_ingest.targets.build import build_targets
from tests.corpora import HashEmbedder, Workplace
from tests.lsp.conftest import command
from tests.lsp.rpc import RawClient


@pytest.fixture(scope="module")
def ranked(indexed: Workplace) -> Workplace:
    build_targets(indexed.settings, Progress(), dense=HashEmbedder())
    return indexed


@pytest.fixture(scope="module")
def client(ranked: Workplace) -> Iterator[RawClient]:
    with RawClient(command(ranked.root), {"home": str(ranked.home)}) as one:
        one.initialize()
        one.notify("test/prepare", {})
        yield one


def test_a_name_is_found_first(client: RawClient) -> None:
    answer = TargetAnswer.model_validate(client.result("adk/targets", {"query": "LlmAgent", "limit": 3}))
    assert answer.mode == "lookup" and answer.results[0].symbol == "LlmAgent"
    assert answer.results[0].import_statement == "from google.adk.agents.llm_agent import LlmAgent"


def test_an_environment_marks_what_it_lacks(client: RawClient, tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (result,) = client.result("adk/targets", {"query": "RetryPlugin", "limit": 1, "python": str(tmp_path)})["results"]
    assert result["available"] == "unknown"


def test_symbols_of_the_workspace_lead_to_their_definition(client: RawClient, ranked: Workplace) -> None:
    first = client.result("workspace/symbol", {"query": "RetryPlugin"})[0]
    assert (first["name"], first["containerName"]) == ("RetryPlugin", "google.adk.plugins")
    file = Path(unquote(urlparse(first["location"]["uri"]).path))
    assert file == ranked.code / "src/google/adk/plugins/retry.py"
    line = first["location"]["range"]["start"]["line"]
    assert file.read_text().splitlines()[line].startswith("class RetryPlugin")
    assert client.result("adk/source", first["data"])["text"] == file.read_text()


def test_no_query_is_no_symbol(client: RawClient) -> None:
    assert client.result("workspace/symbol", {"query": ""}) == []
