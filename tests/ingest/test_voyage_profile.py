"""The profile `voyage` end to end: what a run sends, keeps, costs and says, and the commands themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adk_evidence.embedding.splade import MODEL as SPLADE
from adk_evidence.errors import CostCapError, RequestCancelledError, ServiceError, SettingsError
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from adk_evidence.services.voyage import KEY_VARIABLE
from adk_evidence.settings import load_settings
from adk_ingest.progress import Progress
from adk_ingest.targets.build import build_targets
from tests.answers import codes
from tests.corpora import change, forget_vectors_of_symbols
from tests.standins.json_service import Fault
from tests.standins.voyage import CONTEXT, EMBED, KEY, RERANK, VoyageStandIn
from tests.voyage_place import QUESTION, VoyagePlace

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def standin() -> Iterator[VoyageStandIn]:
    with VoyageStandIn() as running:
        yield running


@pytest.fixture
def place(standin: VoyageStandIn, tmp_path: Path) -> VoyagePlace:
    return VoyagePlace(tmp_path, standin.base_url)


class TestARun:
    def test_what_plan_estimates_is_what_the_service_counts(self, standin: VoyageStandIn, place: VoyagePlace) -> None:
        cost = place.plan().cost
        assert cost is not None and not standin.requests
        run = place.ingest()
        assert run.status == "complete"
        requests = sum(spent.requests for spent in run.spent.values())
        tokens = sum(spent.tokens for spent in run.spent.values())
        assert cost.requests == requests
        assert cost.tokens == pytest.approx(tokens, rel=0.25)
        assert cost.usd == pytest.approx(tokens * 0.18 / 1e6, rel=0.25)
        assert sum(spent.tokens for spent in run.spent.values()) == tokens
        after = place.plan()
        assert after.vectors == 0 and after.cost is not None and after.cost.requests == 0

    def test_docs_are_sent_file_by_file_in_order_and_code_text_by_text(
        self, standin: VoyageStandIn, place: VoyagePlace
    ) -> None:
        place.ingest()
        files = [texts for body in standin.sent(CONTEXT) for texts in body["inputs"]]
        retry = next(texts for texts in files if "[PATH=docs/tools/retry.md]" in texts[0])
        assert all("[PATH=docs/tools/retry.md]" in text for text in retry)
        assert ["Back off" in text for text in retry][-1]
        texts = [text for body in standin.sent(EMBED) for text in body["input"]]
        assert any("[SYMBOL=RetryPlugin" in text and "def on_tool_error" in text for text in texts)
        for text in (*texts, *(text for file in files for text in file)):
            assert "[COMMIT=" not in text and "[LINES=" not in text
            assert text.startswith(("[CORPUS=", "Name: "))
        # A changed page is embedded again with its context, and no other one.
        before = len(standin.requests)
        change(place.workplace.docs / "docs/tools/retry.md", "Waiting longer", "Waiting much longer")
        place.ingest()
        (sent,) = [body for _, body in standin.requests[before:]]
        (file,) = sent["inputs"]
        assert len(file) > 1 and all("[PATH=docs/tools/retry.md]" in text for text in file)

    def test_what_was_paid_for_survives_a_run_that_fails(self, standin: VoyageStandIn, tmp_path: Path) -> None:
        batching = {"voyage_dense_max_items": 4, "voyage_retry_max_attempts": 1}
        place = VoyagePlace(tmp_path, standin.base_url, overrides={"ingestion": {"batching": batching}})
        standin.strike(EMBED, None, Fault(503), Fault(503))
        with pytest.raises(ServiceError, match="overloaded"):
            place.ingest()
        failed = place.workplace.runs()[0]
        assert failed.status == "failed" and failed.vectors_embedded > 0
        assert sum(spent.requests for spent in failed.spent.values()) == len(standin.requests) - 2
        run = place.ingest()
        assert run.vectors_from_cache == failed.vectors_embedded

    def test_a_run_above_the_cap_spends_nothing(self, standin: VoyageStandIn, tmp_path: Path) -> None:
        place = VoyagePlace(tmp_path, standin.base_url, overrides={"embedding": {"max_cost_usd": 0.0001}})
        with pytest.raises(CostCapError, match="nothing was spent"):
            place.ingest()
        assert not standin.requests


class TestTargets:
    def test_vectors_of_symbols_stay_below_the_cap(self, standin: VoyageStandIn, place: VoyagePlace) -> None:
        place.ingest()
        forget_vectors_of_symbols(place)
        before = len(standin.requests)
        capped = VoyagePlace(place.root, standin.base_url, overrides={"embedding": {"max_cost_usd": 1e-9}})
        with pytest.raises(CostCapError, match="nothing was spent"):
            build_targets(capped.settings, Progress(), dense=capped.dense().code)
        assert len(standin.requests) == before

        dense = place.dense().code
        build_targets(place.settings, Progress(), dense=dense)
        assert 0 < dense.spent().requests == len(standin.requests) - before


class TestAnswers:
    def test_a_cancel_ends_the_calls_of_both_models(self, standin: VoyageStandIn, place: VoyagePlace) -> None:
        place.ingest()
        for path in (CONTEXT, EMBED):
            standin.strike_always(path, Fault(mode="slow"))
        gone = threading.Event()
        with closing(place.answers()) as service:
            threading.Timer(0.2, gone.set).start()
            begin = time.monotonic()
            with pytest.raises(RequestCancelledError):
                service.find(EvidenceRequest(query=QUESTION), cancelled=gone.is_set)
            assert time.monotonic() - begin < 1.5

    def test_one_side_that_fails_leaves_the_other(self, standin: VoyageStandIn, place: VoyagePlace) -> None:
        place.ingest()
        folder = place.settings.embedding.dense.folder_of(SPLADE)
        assert folder is not None
        (folder / "model.onnx").rename(folder / "gone.onnx")
        pack = VoyagePlace(place.root, place.base_url).ask()
        assert codes(pack) == ["sparse_unavailable"]
        assert "search by keywords was not available" in pack.quality.note
        standin.strike_always(EMBED, Fault(500))
        pack = place.ask()
        assert codes(pack) == ["dense_unavailable"]
        assert pack.quality.level == "mixed" and "not available for code" in pack.quality.note
        branches = {
            candidate.source_type: {branch.branch for branch in candidate.why.branches} for candidate in pack.candidates
        }
        assert "dense" in branches["docs"] and "dense" not in branches["code"]

    def test_a_rerank_that_failed_is_not_tried_again_for_the_same_question(
        self, standin: VoyageStandIn, tmp_path: Path
    ) -> None:
        place = VoyagePlace(tmp_path, standin.base_url, overrides={"retrieval": {"feedback_passages": 2}})
        place.ingest()
        standin.strike_always(RERANK, Fault(401))
        assert codes(place.ask()) == ["rerank_unavailable"]
        assert len(standin.sent(RERANK)) == 1

    def test_feedback_keeps_the_two_spaces_apart(self, standin: VoyageStandIn, tmp_path: Path) -> None:
        overrides = {"retrieval": {"feedback_passages": 3}, "rerank": {"provider": "local"}}
        place = VoyagePlace(tmp_path, standin.base_url, overrides=overrides)
        place.ingest()
        # Only the local reranker goes by the moved query.
        with closing(EvidenceService(place.settings, dense=place.dense(), sparse=place.sparse)) as service:
            pack = service.find(EvidenceRequest(query=QUESTION))
        assert pack.warnings == () and "feedback" in pack.debug["timings_ms"]


def test_a_key_is_no_setting() -> None:
    with pytest.raises(SettingsError, match="api_key"):
        load_settings({"embedding": {"voyage": {"api_key": "x"}}})
