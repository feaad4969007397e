"""The event log: one JSON line a request, no chunk text, and never the reason that a request fails."""

from __future__ import annotations

import json
import logging
import multiprocessing
from contextlib import closing
from pathlib import Path

import pytest

from adk_evidence.errors import ModelError
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.context import Context
from adk_evidence.telemetry import EventLog
from tests.corpora import HashEmbedder, Workplace

pytestmark = pytest.mark.slow

BIG = 10_000_000


class Down(HashEmbedder):
    def embed_query(self, text: str) -> list[float]:
        raise ModelError("The model is down.")


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_many(path: Path, writer: int) -> None:
    log = EventLog(path, BIG)
    for number in range(40):
        log.write({"writer": writer, "number": number, "text": "x" * 5000})


def test_a_request_is_one_line_with_what_reproduces_it_and_no_chunk_text(workplace: Workplace):
    workplace.ingest()
    workplace.overrides["telemetry"] = {"event_log": False}
    workplace.ask("switched off, nothing is written")
    workplace.overrides.clear()
    service = workplace.service()
    packs = [service.find(EvidenceRequest(query=query)) for query in ("retry a tool", "keep a\nsession")]
    # Evaluation asks thousands of questions: those are no events.
    with service.session(Context(logged=False)) as session:
        session.rank(EvidenceRequest(query="not logged"))
    service.close()
    path = workplace.settings.paths.event_log
    events = read(path)
    assert [event["query_id"] for event in events] == [pack.query_id for pack in packs]
    event = events[0]
    assert {"symbols", "own_names", "rerank_instruction_hash", "coverage", "warnings"} <= set(event)
    assert event["query_text"] == "retry a tool"
    asked = event["qdrant_request_params"]
    assert asked["branches"] == ["dense", "sparse", "symbol", "asked"] and asked["fusion"] == "rrf"
    assert asked["limits"] == {"adk_docs": 60, "adk_code": 60} and asked.keys() >= {"rrf_k", "hnsw_ef", "filters"}
    shown = [candidate.candidate_id for candidate in packs[0].candidates]
    assert [item["candidate_id"] for item in event["final_top_k"]] == shown
    assert set(shown) <= {item["candidate_id"] for item in event["qdrant_result_ids"]}
    logged = path.read_text(encoding="utf-8")
    lines = {line for pack in packs for candidate in pack.candidates for line in candidate.text.splitlines()}
    assert not [line for line in lines if len(line) > 30 and line in logged]


def test_the_names_of_a_request_are_logged_with_its_question_alone(workplace: Workplace):
    workplace.ingest()
    request = EvidenceRequest(query="my_pot = Runner()", symbols=("google.adk.runners.Runner",), own_names=("my_pot",))
    for logged in (True, False):
        with closing(workplace.service()) as service, service.session(Context(question_logged=logged)) as session:
            session.find(request)
    with_question, without = read(workplace.settings.paths.event_log)
    assert (with_question["symbols"], with_question["own_names"]) == (["google.adk.runners.Runner"], ["my_pot"])
    assert without["symbols"] is without["own_names"] is None
    # What only the request names was not reranked.
    pool = with_question["rerank_batching"]
    assert 0 < pool["documents"] <= pool["pool_size"]


def test_a_ranking_and_a_failure_are_events_too(workplace: Workplace):
    workplace.ingest()
    with closing(workplace.service()) as service, service.session() as session:
        outcome = session.rank(EvidenceRequest(query="retry a tool", max_results_final=3, time_budget_ms=60_000))
    with closing(workplace.service(dense=Down())) as service, pytest.raises(ModelError):
        service.find(EvidenceRequest(query="retry a tool again", strict=True))
    ranked, failed = read(workplace.settings.paths.event_log)
    assert [item["candidate_id"] for item in ranked["final_top_k"]] == [
        hit.payload.candidate_id for hit in outcome.final
    ]
    assert ranked["pack_id"] is None and ranked["error"] is None and ranked["quality"] == outcome.quality.level
    assert (ranked["max_results"], ranked["strict"], ranked["time_budget_ms"]) == (3, False, 60_000)
    assert failed["query_text"] == "retry a tool again" and failed["strict"]
    assert failed["error"] == "model_unavailable" and failed["final_top_k"] == []


def test_it_is_rotated_once_at_its_size(tmp_path: Path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path, 100)
    for number in range(9):
        log.write({"n": number, "text": "ä" * 10})
        assert path.stat().st_size <= 100
    kept = [event["n"] for event in (*read(tmp_path / "events.1.jsonl"), *read(path))]
    assert kept == list(range(9 - len(kept), 9))
    assert {file.name for file in tmp_path.glob("*.jsonl")} == {"events.jsonl", "events.1.jsonl"}


def test_a_log_that_cannot_be_written_is_reported_once_and_fails_nothing(tmp_path: Path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("")
    log = EventLog(blocked / "events.jsonl", BIG)
    with caplog.at_level(logging.WARNING):
        log.write({"n": 1})
        log.write({"n": 2})
    assert len(caplog.records) == 1 and "cannot be written" in caplog.text


def test_any_text_can_be_logged(tmp_path: Path):
    path = tmp_path / "events.jsonl"
    EventLog(path, BIG).write({"text": "line\nbreak \u2028 \ud800 漢字", "path": Path("x")})
    assert len(path.read_bytes().splitlines()) == 1
    assert json.loads(path.read_bytes())["text"] == "line\nbreak \u2028 \ud800 漢字"


def test_processes_share_it_without_tearing_lines(tmp_path: Path):
    path = tmp_path / "logs" / "events.jsonl"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=write_many, args=(path, writer)) for writer in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert sorted((e["writer"], e["number"]) for e in read(path)) == [(w, n) for w in range(3) for n in range(40)]
