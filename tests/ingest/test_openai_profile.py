"""The profile `openai` end to end: what a run sends, keeps, costs and says, and the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adk_evidence.errors import IndexMismatchError, ServiceError, SettingsError
from adk_evidence.services.embeddings import KEY_VARIABLES
from adk_evidence_cli.main import app as evidence
from adk_ingest.commands.cli import app as ingestion
from tests.answers import told
from tests.openai_place import HOSTED, QUESTION, OpenAiPlace
from tests.standins.embeddings import KEY, OWN, EmbeddingsStandIn

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLES[0], KEY)
    monkeypatch.delenv(KEY_VARIABLES[1], raising=False)


@pytest.fixture
def standin() -> Iterator[EmbeddingsStandIn]:
    with EmbeddingsStandIn() as running:
        yield running


@pytest.fixture
def place(standin: EmbeddingsStandIn, tmp_path: Path) -> OpenAiPlace:
    return OpenAiPlace(tmp_path, standin)


class TestARun:
    def test_what_plan_estimates_is_what_the_service_counts(
        self, standin: EmbeddingsStandIn, place: OpenAiPlace
    ) -> None:
        cost = place.plan().cost
        assert cost is not None and cost.usd is not None and not standin.requests
        run = place.ingest()
        (spent,) = run.spent.values()
        assert run.status == "complete" and cost.requests == spent.requests
        assert cost.tokens == pytest.approx(spent.tokens, rel=0.25)
        assert spent.usd == pytest.approx(spent.tokens * 100 / 1e6, abs=1e-4)
        after = place.plan()
        assert after.vectors == 0 and after.cost is not None and after.cost.requests == 0

    def test_a_run_at_an_unknown_price_spends_nothing(self, standin: EmbeddingsStandIn, tmp_path: Path) -> None:
        place = OpenAiPlace(tmp_path, standin, usd_per_million_tokens={})
        cost = place.plan().cost
        assert cost is not None and cost.tokens > 0 and cost.usd is None
        with pytest.raises(SettingsError, match="no price") as refused:
            place.ingest()
        assert "embedding.usd_per_million_tokens" in refused.value.hint and not standin.requests


class TestAnswers:
    def test_both_sides_answer_and_keywords_alone_when_the_service_is_down(
        self, standin: EmbeddingsStandIn, place: OpenAiPlace
    ) -> None:
        place.ingest()
        pack = place.ask()
        branches = {branch.branch for candidate in pack.candidates for branch in candidate.why.branches}
        assert pack.warnings == () and {"dense", "sparse"} <= branches
        standin.has_money = False
        pack = place.ask()
        assert told(pack)[0].startswith("dense_unavailable: ") and "quota is used up" in told(pack)[0]
        assert pack.quality.level == "keyword_only" and pack.candidates
        with pytest.raises(ServiceError):
            place.ask(strict=True)

    def test_an_index_of_another_model_is_refused_and_one_of_another_address_is_not(
        self, standin: EmbeddingsStandIn, place: OpenAiPlace
    ) -> None:
        place.ingest()
        assert OpenAiPlace(place.root, standin, {"base_url": "https://elsewhere.invalid/v1"}).ask().warnings == ()
        with pytest.raises(IndexMismatchError, match=f"openai/{OWN}"):
            OpenAiPlace(place.root, standin, {"document_prefix": "passage: "}).ask()


class TestCommands:
    @pytest.fixture(autouse=True)
    def _settings(self, standin: EmbeddingsStandIn, place: OpenAiPlace, monkeypatch: pytest.MonkeyPatch) -> None:
        (place.root / "mine.yaml").write_text("")
        for name, value in {
            "HOME": str(place.workplace.home),
            "SETTINGS": str(place.root / "mine.yaml"),
            "PROFILE": "openai",
            "EMBEDDING__OPENAI__BASE_URL": standin.base_url,
            "EMBEDDING__OPENAI__MODEL": OWN,
            "EMBEDDING__OPENAI__DIMENSION": "64",
        }.items():
            monkeypatch.setenv(f"ADK_EVIDENCE_{name}", value)
        monkeypatch.setenv("COLUMNS", "300")

    def run(self, app: Any, *command: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, command)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    def test_a_server_of_ones_own_needs_no_price_and_no_key_is_written_or_printed(
        self, standin: EmbeddingsStandIn, place: OpenAiPlace
    ) -> None:
        corpora = ["--docs", str(place.workplace.docs), "--code", str(place.workplace.code), "--offline"]
        printed = ""
        for app, *command in (
            (ingestion, "plan", *corpora),
            (ingestion, "all", *corpora),
            (evidence, "ask", QUESTION),
        ):
            code, output = self.run(app, *command)
            assert code == 0, output
            printed += output
        assert "no cost" in printed
        _, looked = self.run(evidence, "doctor")
        assert f"{OWN} at {standin.base_url}, vectors of length 64; it answers." in looked
        standin.keys = {"sk-another"}
        code, failed = self.run(evidence, "ask", "a question that was not asked before", "--strict")
        assert code != 0 and "does not accept the key in ADK_EVIDENCE_EMBEDDINGS_API_KEY" in failed
        _, broken = self.run(evidence, "doctor")
        assert "does not accept the key" in broken
        files = [path for path in place.root.rglob("*") if path.is_file()]
        assert KEY not in printed + looked + failed + broken
        assert not [path for path in files if KEY.encode() in path.read_bytes()]

    @pytest.mark.parametrize(
        ("model", "said"),
        [
            (OWN, "at a price that the settings do not name (embedding.usd_per_million_tokens)"),
            ("text-embedding-3-small", "about $0.00"),
        ],
    )
    def test_the_plan_of_a_hosted_service_says_tokens_and_price_without_asking(
        self, place: OpenAiPlace, standin: EmbeddingsStandIn, monkeypatch: pytest.MonkeyPatch, model: str, said: str
    ) -> None:
        monkeypatch.setenv("ADK_EVIDENCE_EMBEDDING__OPENAI__BASE_URL", HOSTED)
        monkeypatch.setenv("ADK_EVIDENCE_EMBEDDING__OPENAI__MODEL", model)
        monkeypatch.setenv("ADK_EVIDENCE_EMBEDDING__OPENAI__DIMENSION", "64" if model == OWN else "null")
        corpora = ["--docs", str(place.workplace.docs), "--code", str(place.workplace.code), "--offline"]
        code, output = self.run(ingestion, "plan", *corpora)
        assert code == 0 and "requests with" in output and said in output

    @pytest.mark.parametrize(
        ("address", "key", "said"),
        [
            ("https://api.openai.com/v1", "", "no key is set. Set ADK_EVIDENCE_EMBEDDINGS_API_KEY"),
            (HOSTED, "", "No key is set. Set ADK_EVIDENCE_EMBEDDINGS_API_KEY if it wants one"),
            (HOSTED, KEY, "a key is set in the environment; it was not asked"),
        ],
    )
    def test_doctor_says_what_is_missing_and_asks_no_paid_service(
        self, monkeypatch: pytest.MonkeyPatch, address: str, key: str, said: str
    ) -> None:
        monkeypatch.setenv(KEY_VARIABLES[0], key)
        monkeypatch.setenv("ADK_EVIDENCE_EMBEDDING__OPENAI__BASE_URL", address)
        assert said in " ".join(self.run(evidence, "doctor")[1].split())
