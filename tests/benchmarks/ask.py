"""Latency of evidence requests, warm in one process, and what they cost beside what cannot be left out.

    python -m tests.benchmarks.ask [--home HOME] [--queries QUESTIONS.jsonl] [--repeat 3]

Every request goes the whole way: retrieval, pack, check of citations, event log. HOME needs an index (`adk-ingest
all`). QUESTIONS has one JSON object a line with `query` and, if it likes, `task_mode`.

One encoding of the question and one search of both collections cannot be left out. What a request takes in these units,
`request / (encode + search)`, can be compared between machines.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import load_settings
from tests.benchmarks.measure import peak_rss_mb, show, spread

QUESTIONS = (
    "how do I retry when a tool throws?",
    "LlmAgent output_key",
    "where is the session state kept between two turns",
    "ValueError: Runner requires a session service",
    "before_tool_callback example",
    "what does ToolContext give me",
    "how can one agent hand over to another agent",
    "stream partial responses to a client",
    "load_memory tool",
    "InMemoryRunner.run_async signature",
)


def main() -> None:
    """Measure and print."""
    options = _options()
    requests = requests_of(options.queries)
    settings = load_settings({"home": options.home} if options.home else {})
    service = EvidenceService(settings, keep_queries=0)
    try:
        begin = time.perf_counter()
        service.find(requests[0])
        show("first request", f"{(time.perf_counter() - begin) * 1000:.0f} ms (loads the model, opens the index)")
        _one_by_one(service, requests, options.repeat)
    finally:
        service.close()
    show("peak RSS", f"{peak_rss_mb():.0f} MB")


def _one_by_one(service: EvidenceService, requests: Sequence[EvidenceRequest], repeat: int) -> None:
    wall: list[float] = []
    processor: list[float] = []
    ratios: list[float] = []
    stages: dict[str, list[float]] = defaultdict(list)
    for request in [*requests] * repeat:
        begin, begin_processor = time.perf_counter(), time.process_time()
        pack = service.find(request)
        wall.append((time.perf_counter() - begin) * 1000)
        processor.append((time.process_time() - begin_processor) * 1000)
        timings: dict[str, float] = pack.debug["timings_ms"]
        ratios.append(wall[-1] / (timings["encode"] + timings["search"]))
        for name, value in timings.items():
            stages[name].append(value)
        stages["between the stages"].append(wall[-1] - sum(timings.values()))
    show("request, wall", spread(wall))
    show("request, CPU of all threads", spread(processor))
    show("request / (encode + search)", spread(ratios, "  "))
    for name, values in stages.items():
        share = sum(values) / sum(wall)
        show(f"  {name}", f"{spread(values)}   {share:6.1%} of all")


def requests_of(path: Path | None) -> list[EvidenceRequest]:
    """The questions of a file, the ten built-in ones without it."""
    if path is None:
        return [EvidenceRequest(query=question) for question in QUESTIONS]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [EvidenceRequest(query=row["query"], task_mode=row.get("task_mode", "build")) for row in rows]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", help="folder of the index; the settings' own without it")
    parser.add_argument("--queries", type=Path, help="questions; ten built-in ones without it")
    parser.add_argument("--repeat", type=int, default=3, help="how often each question is asked in a row of all")
    return parser.parse_args()


if __name__ == "__main__":
    main()
