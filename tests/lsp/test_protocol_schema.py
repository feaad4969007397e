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


def test_what_is_asked_and_answered_fits(client: RawClient, start: Start, tmp_path: Path) -> None:
    client.open(URI, "from google.adk.agents import LlmAgent\n\nagent = LlmAgent()\n")
    where = {"line": 2, "character": 10}
    pack = client.result("adk/evidence", {"query": QUESTION, "maxResults": 12})
    history = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    prompt = {"format": "prompt", "candidateIds": None, "system": "s", "history": history, "maxDocumentTokens": 600}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("Evidence", {"query": QUESTION, "taskMode": "debug", "timeBudgetMs": 60_000}),
        ("Evidence", {"query": "xyzzy quux", "filters": {"path_allowlist": ["no/such/folder/**"]}}),
        ("Evidence", {"textDocument": {"uri": URI}, "position": where}),
        ("Evidence", {"textDocument": {"uri": URI}, "range": {"start": {"line": 2, "character": 0}, "end": where}}),
        *(("Symbol", {"name": name}) for name in ("LlmAgent", "RetryPlugin", "session", "make_agent")),
        *(("Source", {"candidateId": candidate["candidate_id"]}) for candidate in pack["candidates"]),
        ("Source", {"path": "src/google/adk/runners.py"}),
        ("Render", {"pack": pack, **prompt}),
    ]
    for name, params in asked:
        assert problems(f"{name}Params", params) == []
        assert problems(f"{name}Result", client.result(f"adk/{name.lower()}", params)) == []
    for server in (client, start(Workplace(tmp_path))):
        assert problems("ServerStatus", server.result("adk/status", {})) == []


def test_the_types_of_the_extension_are_those_of_the_models() -> None:
    node = shutil.which("node")
    if node is None or not (ROOT / "node_modules" / "json-schema-to-typescript").is_dir():
        pytest.skip("The extension's tools are not installed here: run `npm ci`.")
    run = subprocess.run(
        [node, "extension/protocol.mjs", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
