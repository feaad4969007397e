"""The operations where agents reach them: as tools of the MCP server, and on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from typer.testing import CliRunner, Result

from adk_evidence.text.tokens import estimate_tokens
from adk_evidence_agents.session import AgentSession
from adk_evidence_cli.main import app
from adk_evidence_mcp.server import make_server
from tests.agents.mcp_calls import answer, citations, failure, paths
from tests.agents.operations_place import SHOP, make_place, make_request, validate
from tests.corpora import Workplace, write_files

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """Two indexes; a test that writes has an index of its own."""
    with pytest.MonkeyPatch.context() as patch:
        place = make_place(tmp_path_factory.mktemp("surfaces"))
        patch.setenv("HOME", str(place.root / "nobody"))
        patch.setenv("ADK_EVIDENCE_AGENTS__ROOTS", json.dumps([str(place.root)]))
        yield place


@asynccontextmanager
async def served(place: Workplace) -> AsyncIterator[Client]:
    session = AgentSession(lambda: place.settings)
    async with Client(make_server(session), mode="legacy") as client:
        yield client
    session.close()


@pytest.mark.asyncio
async def test_evidence_of_the_adk_and_a_codebase_says_which_it_is_of(place: Workplace) -> None:
    question = "RetryPlugin and totalPrice"
    async with served(place) as client:
        text = await answer(client, "find_adk_evidence", query=question, codebase="shop")
        assert {"shop", "adk-python"} <= {citation.partition("@")[0] for citation in citations(text)}
        assert "of adk" in text and "of shop" in text
        # Each has the name that the other lacks.
        assert "unknown_name" not in text

        alone = await answer(client, "find_adk_evidence", query=question)
        assert "shop@" not in alone and "of adk" not in alone and "unknown_name: totalPrice" in alone
        assert "no index called" in await failure(client, "find_adk_evidence", query=question, codebase="nowhere")


@pytest.mark.asyncio
async def test_a_codebase_from_indexing_to_deleting(place: Workplace) -> None:
    kiosk = write_files(place.root / "kiosk", SHOP)
    async with served(place) as client:
        text = await answer(client, "index_codebase", name="kiosk", path=str(kiosk))
        assert f"The index kiosk has {len(SHOP)} files" in text
        text = await answer(client, "list_indexes")
        assert {"adk", "kiosk", "shop"} <= set(re.findall(r"^([\w-]+): ", text, re.MULTILINE)) and str(kiosk) in text

        text = await answer(
            client, "search_code_and_docs", query="the discount off the whole basket", index="kiosk", max_results=3
        )
        assert {"src/basket.ts", "docs/discounts.md"} <= set(paths(text))
        docs = await answer(client, "search_code_and_docs", query="discount", index="kiosk", where="docs")
        assert set(paths(docs)) <= {"docs/discounts.md", "docs/hostile.md"}

        snippet = SHOP["jobs/turnover.py"].split("\n\n\n")[1]
        text = await answer(client, "find_similar_code", code=snippet, index="kiosk", max_results=1)
        assert paths(text) == ["jobs/turnover.py"] and "both call `load_receipts`, `sum`" in text

        text = await answer(client, "get_task_context", task="mail the report of a day", index="kiosk", max_tokens=900)
        assert estimate_tokens(text) <= 900 and "[CODE 1] " in text

        (kiosk / "stats/season.R").unlink()
        assert "1 removed" in await answer(client, "index_codebase", name="kiosk")

        await answer(client, "delete_index", name="kiosk")
        assert "kiosk" in await failure(client, "search_code_and_docs", query="basket", index="kiosk")
        assert (kiosk / "src/basket.ts").exists()


def operate(home: Path, request: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["operate", "--home", str(home), *options], input=request)


def test_the_command_answers_json_with_json(place: Workplace) -> None:
    request = make_request("search_code", {"query": "mail the report", "collection_name": "shop", "top_k": 2})
    done = operate(place.home, json.dumps(request))
    assert done.exit_code == 0, done.stderr
    response = json.loads(done.stdout)
    validate("response", response)
    assert response["results"]["search_results"][0]["metadata"]["file_path"] == "jobs/report.py"

    stall = write_files(place.root / "stall", {"a.py": "x = 1\n"})
    index = make_request("index_codebase", {"codebase_path": str(stall), "collection_name": "stall"})
    done = operate(place.home, json.dumps(index))
    assert done.exit_code == 0 and json.loads(done.stdout)["results"]["indexed_items"]["total_files"] == 1
    file = place.root / "request.json"
    file.write_text(json.dumps(make_request("delete", {"collection_name": "stall"})))
    done = operate(place.home, "", str(file))
    assert done.exit_code == 0 and json.loads(done.stdout)["results"] == {"deleted_collection": "stall"}
    assert (stall / "a.py").exists()


def test_a_failed_operation_is_json_too_and_the_exit_code_says_so(place: Workplace) -> None:
    for request in ("{", json.dumps(make_request("search_code", {"query": "x y", "collection_name": "nowhere"}))):
        done = operate(place.home, request)
        assert done.exit_code == 1 and "Traceback" not in done.stderr
        response = json.loads(done.stdout)
        validate("response", response)
        assert response["status"] == "failed" and response["errors"][0]["type"] == "request_error"
    done = operate(place.home, "", str(place.root / "gone.json"))
    assert done.exit_code == 2 and not done.stdout and "gone.json" in done.stderr


def test_the_command_prints_the_published_schema(tmp_path: Path) -> None:
    done = operate(tmp_path, "", "--schema", "request")
    assert done.stdout == (ROOT / "config/schemas/operation-request.schema.json").read_text()
