"""The profile `voyage` as it is meant to run: Voyage's models and a Qdrant server, both of them stand-ins here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adk_evidence.services import qdrant as server_client
from adk_evidence.services.resilience import Clock
from adk_evidence.services.voyage import KEY_VARIABLE
from adk_evidence.settings import load_settings
from adk_evidence_cli.main import app as evidence
from adk_ingest.commands.cli import app as ingestion
from adk_ingest.commands.reports import verify_published
from adk_ingest.progress import Progress
from tests.answers import codes
from tests.standins.qdrant import QdrantStandIn
from tests.standins.voyage import CONTEXT, EMBED, KEY, RERANK, VoyageStandIn
from tests.voyage_place import QUESTION, VoyagePlace

pytestmark = pytest.mark.slow

QDRANT_KEY = "secret-key-of-the-cluster-0123456789"
# So that an interruption strikes between two requests, and between two writes.
SMALL_STEPS: dict[str, Any] = {
    "batching": {"voyage_dense_max_items": 4},
    "qdrant_upload": {"batch_points": 4, "parallel": 1},
}


@pytest.fixture(autouse=True)
def _with_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_client, "Clock", lambda sleep: Clock(sleep=lambda seconds: None))
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    monkeypatch.setenv(server_client.KEY_VARIABLES[0], QDRANT_KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def voyage() -> Iterator[VoyageStandIn]:
    with VoyageStandIn() as running:
        yield running


@pytest.fixture
def qdrant() -> Iterator[QdrantStandIn]:
    with QdrantStandIn(key=QDRANT_KEY) as running:
        yield running


@pytest.fixture
def place(voyage: VoyageStandIn, qdrant: QdrantStandIn, tmp_path: Path) -> VoyagePlace:
    store = {"kind": "server", "url": qdrant.url}
    return VoyagePlace(tmp_path, voyage.base_url, overrides={"store": store, "ingestion": SMALL_STEPS})


class Interrupt(Progress):
    """Presses Ctrl-C when a stage has done so many units, once."""

    def __init__(self, stage: str, after: int) -> None:
        self._wanted, self._left = stage, after
        self._stage = ""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        self._stage = name

    def advance(self, count: int = 1) -> None:
        if self._stage == self._wanted:
            self._left -= count
            if self._left <= 0:
                self._wanted = ""
                raise KeyboardInterrupt


def upserts(server: QdrantStandIn) -> int:
    return sum(line.startswith("PUT") and line.endswith("/points") for line in server.lines())


def paid_texts(service: VoyageStandIn) -> list[tuple[str, ...]]:
    """What was sent to be embedded: code texts alone, chunks of docs with their context."""
    code = [(text,) for body in service.sent(EMBED) for text in body["input"]]
    return [*code, *(tuple(texts) for body in service.sent(CONTEXT) for texts in body["inputs"])]


def test_the_profile_is_on_a_server() -> None:
    assert load_settings(profile="voyage").store.kind == "server"


def test_a_run_is_verified_and_answers_with_reranked_exact_citations(
    place: VoyagePlace, voyage: VoyageStandIn, qdrant: QdrantStandIn
) -> None:
    run = place.ingest()
    assert run.status == "complete" and set(qdrant.aliases) == {"adk_docs", "adk_code"}
    assert run.qdrant_counts["total"] == sum(run.points_uploaded.values()) == len(place.workplace.points())
    assert verify_published(place.settings, citations=True).ok
    pack = place.ask()
    assert pack.warnings == () and pack.candidates
    assert pack.retrieval_plan is not None and pack.retrieval_plan.rerank_model == "rerank-2.5"
    assert {candidate.verification.state for candidate in pack.candidates} == {"exact"}
    assert {"docs", "code"} == {candidate.source_type for candidate in pack.candidates}
    assert pack.candidates[0].path in ("docs/tools/retry.md", "src/google/adk/plugins/retry.py")
    branches = {branch.branch for candidate in pack.candidates for branch in candidate.why.branches}
    assert {"dense", "sparse"} <= branches
    assert {body["input_type"] for body in voyage.sent(CONTEXT)} == {"document", "query"}
    assert len(voyage.sent(RERANK)) == 1
    assert pack.debug["voyage"]["rerank-2.5"]["token_counter"] == "estimate"  # noqa: S105 - no password
    # Related terms might match a name that stands nowhere.
    assert "unknown_name" not in codes(place.ask("how does fork_session work?"))


@pytest.mark.parametrize("stage", ["embed", "upsert"])
def test_an_interrupted_run_goes_on_and_pays_nothing_twice(
    place: VoyagePlace, voyage: VoyageStandIn, qdrant: QdrantStandIn, stage: str
) -> None:
    total = place.plan().vectors
    with pytest.raises(KeyboardInterrupt):
        place.ingest(progress=Interrupt(stage, after=5))
    (stopped,) = place.workplace.runs()
    assert stopped.status != "complete" and qdrant.aliases == {}
    paid = len(voyage.requests)
    assert paid > 0 and (upserts(qdrant) > 0) == (stage == "upsert")
    left = place.plan().vectors
    assert 0 < left < total if stage == "embed" else left == 0
    run = place.ingest()
    assert run.status == "complete" and verify_published(place.settings, citations=True).ok
    assert (run.vectors_embedded, run.vectors_from_cache) == (left, total - left)
    texts = paid_texts(voyage)
    assert len(texts) == len(set(texts)), "something was paid for twice"
    # What the interrupted run had begun to fill is gone.
    assert set(qdrant.collections) == set(qdrant.aliases.values())


def test_the_commands_run_and_no_key_is_written_or_printed(
    place: VoyagePlace, voyage: VoyageStandIn, qdrant: QdrantStandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text("")
    for name, value in {
        "HOME": str(place.workplace.home),
        "SETTINGS": str(own),
        "PROFILE": "voyage",
        "STORE__URL": qdrant.url,
        "EMBEDDING__VOYAGE__BASE_URL": voyage.base_url,
        "EMBEDDING__DENSE__MODELS_PATH": str(tmp_path / "models"),
    }.items():
        monkeypatch.setenv(f"ADK_EVIDENCE_{name}", value)
    corpora = ["--docs", str(place.workplace.docs), "--code", str(place.workplace.code), "--offline"]
    printed = ""
    for app, *command in (
        (ingestion, "plan", *corpora),
        (ingestion, "all", *corpora),
        (ingestion, "verify", "--citations"),
        (evidence, "ask", QUESTION),
        (evidence, "ask", QUESTION, "--json"),
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, (command, result.output)
        printed += result.output
    assert "The index is verified." in printed and "rerank-2.5" in printed
    assert "requests with" in printed and "about $0.00" in printed
    assert "voyage-context-3;dimension=2048: 1 requests" in printed
    # As a careless service would, the stand-in repeats the key that it refuses.
    voyage.keys.clear()
    looked = CliRunner().invoke(evidence, ["doctor"])
    failed = CliRunner().invoke(evidence, ["ask", "a question that was not asked before", "--strict"])
    assert "VOYAGE_API_KEY is set" in looked.output and failed.exit_code != 0
    printed += looked.output + failed.output
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    for key in (KEY, QDRANT_KEY):
        assert key not in printed
        assert not [path for path in files if key.encode() in path.read_bytes()]


def test_doctor_without_key_and_address_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    (tmp_path / "mine.yaml").write_text("")
    monkeypatch.setenv("ADK_EVIDENCE_SETTINGS", str(tmp_path / "mine.yaml"))
    looked = CliRunner().invoke(evidence, ["doctor", "--profile", "voyage", "--home", str(tmp_path / "home")])
    assert looked.exit_code == 1 and "Traceback" not in looked.output
    assert "VOYAGE_API_KEY is not set" in looked.output and "ADK_EVIDENCE_STORE__URL" in looked.output
