"""The schema that the extension's types are made of: what the server answers fits it, and the types are of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from adk_evidence_lsp.protocol import PARAMS
from adk_evidence_lsp.schema import protocol_schema
from tests.corpora import Workplace
from tests.lsp.conftest import Start
from tests.lsp.rpc import ROOT, RawClient

QUESTION = "how do I retry when a tool throws?"
URI = "file:///work/agent.py"
SCHEMA = protocol_schema()


def problems(name: str, value: Any) -> list[str]:
    """What does not fit in a value that should be of a type of the protocol."""
    validator = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def test_the_schema_itself_is_one_and_names_every_request() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert len([name for name in SCHEMA["properties"] if name.endswith("Params")]) == len(PARAMS)


def test_packs_fit(client: RawClient) -> None:
    client.open(URI, "from google.adk.agents import LlmAgent\n\nagent = LlmAgent()\n")
    where = {"line": 2, "character": 10}
    asked: list[dict[str, Any]] = [
        {"query": QUESTION, "taskMode": "debug", "timeBudgetMs": 60_000},
        {"query": "xyzzy quux", "filters": {"path_allowlist": ["no/such/folder/**"]}},
        {"query": QUESTION, "filters": {"source_types": ["code"], "languages": ["py"]}},
        {"textDocument": {"uri": URI}, "position": where},
        {"textDocument": {"uri": URI}, "range": {"start": {"line": 2, "character": 0}, "end": where}},
    ]
    for params in asked:
        assert problems("EvidenceParams", params) == []
        assert problems("EvidenceResult", client.result("adk/evidence", params)) == []


def test_symbols_fit(client: RawClient) -> None:
    for name in ("LlmAgent", "RetryPlugin", "session", "make_agent", "google.adk.runners.Runner"):
        assert problems("SymbolParams", {"name": name}) == []
        assert problems("SymbolResult", client.result("adk/symbol", {"name": name})) == []


def test_sources_fit_and_name_the_site_of_the_docs(client: RawClient) -> None:
    pack = client.result("adk/evidence", {"query": QUESTION, "maxResults": 12})
    for candidate in pack["candidates"]:
        source = client.result("adk/source", {"candidateId": candidate["candidate_id"]})
        assert problems("SourceResult", source) == []
        if candidate["source_type"] == "docs":
            assert source["url"] == candidate["path_or_url"]
            assert source["url"].startswith(source["site_url"])
    assert problems("SourceResult", client.result("adk/source", {"path": "src/google/adk/runners.py"})) == []


def test_the_status_fits_with_and_without_an_index(client: RawClient, start: Start, tmp_path: Path) -> None:
    assert problems("ServerStatus", client.result("adk/status", {})) == []
    assert problems("ServerStatus", start(Workplace(tmp_path)).result("adk/status", {})) == []


def test_the_run_of_an_ingestion_fits(start: Start, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    server = start(workplace)
    params = {"mode": "all", "docs": str(workplace.docs), "code": str(workplace.code), "offline": True}
    assert problems("IngestParams", params) == []
    for status in ("complete", "unchanged"):
        run = server.result("adk/ingest", params)
        assert run["status"] == status
        assert problems("IngestResult", run) == []


def test_rendered_packs_fit(client: RawClient) -> None:
    pack = client.result("adk/evidence", {"query": QUESTION, "maxResults": 2})
    history = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    params = {"pack": pack, "format": "prompt", "candidateIds": None, "maxTokens": None, "system": "s"}
    params |= {"history": history, "maxDocuments": 3, "maxDocumentTokens": 600}
    assert problems("RenderParams", params) == []
    assert problems("RenderResult", client.result("adk/render", params)) == []


def test_the_types_of_the_extension_are_those_of_the_models() -> None:
    node = shutil.which("node")
    if node is None or not (ROOT / "node_modules" / "json-schema-to-typescript").is_dir():
        pytest.skip("The extension's tools are not installed here: run `npm ci`.")
    run = subprocess.run(
        [node, "extension/protocol.mjs", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
