"""Many requests at once through the door of a server, over a small index that this command makes itself.

    python -m tests.benchmarks.load [--requests 1000] [--long 10000] [--pages 200]

The index has made-up pages and the tests' embedder, so that nothing is downloaded and the search itself is measured.
Every request goes the whole way of a server's question: its turn, equal requests, kept answers, retrieval, pack, check
of citations, event log. The first part asks different questions without kept answers, the second asks few questions
again and again, and the last one asks many different questions and tells the memory.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from unittest import mock

from adk_evidence.admission import Admission, Limits
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search import door
from adk_evidence.search.session import EvidenceService
from tests.benchmarks.measure import percentile, rss_mb, show
from tests.corpora import CODE, DOCS, HashEmbedder, Workplace, shared_sparse, write_code, write_docs

THINGS = ("agent", "tool", "runner", "session", "plugin", "callback", "memory", "artifact", "event", "model")
ACTS = ("retry", "stop", "confirm", "stream", "save", "load", "trace", "cancel", "resume", "share")
REPEATED = 20
MEMORY_AT = (0.1, 0.5, 1.0)


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        place = _place(Path(folder), options.pages)
        show("index", f"{len(place.points())} chunks of {options.pages + len(DOCS)} pages and the code of the tests")
        questions = [request_of(number) for number in range(options.requests)]
        with _service(place, cache_ttl_seconds=0) as service:
            service.find(questions[0])
            begin = time.perf_counter()
            serial = [service.find(one).pack_id for one in questions]
            show("one after the other", f"{len(serial) / (time.perf_counter() - begin):.1f} a second")
            _at_once("different, none kept", service, questions, serial)
        drawn = [random.Random(number).randrange(REPEATED) for number in range(options.requests)]
        with _service(place) as service:
            repeated, expected = [questions[number] for number in drawn], [serial[number] for number in drawn]
            _at_once(f"{REPEATED} questions, kept", service, repeated, expected)
            use = service.caches()[0]
            show("", f"{service.door.shared} shared, {use.hits} from the cache, {use.misses} not in the cache")
        with mock.patch.object(door, "MAX_BYTES", options.cache_bytes), _service(place) as service:
            _memory(service, options.long, options.cache_bytes)


def request_of(number: int) -> EvidenceRequest:
    """A question that differs from those of all other numbers."""
    thing, act = THINGS[number % len(THINGS)], ACTS[number // len(THINGS) % len(ACTS)]
    return EvidenceRequest(query=f"how does a {thing} {act} what failed in step {number}?")


def _place(folder: Path, pages: int) -> Workplace:
    place = Workplace(folder)
    made = {f"docs/made/page{number}.md": _page(number) for number in range(pages)}
    write_docs(place.docs, {**DOCS, **made})
    write_code(place.code, CODE)
    place.ingest()
    return place


def _page(number: int) -> str:
    thing, act = THINGS[number % len(THINGS)], ACTS[number // len(THINGS) % len(ACTS)]
    sections = (
        f"## Step {part}\n\nIn step {part} the {thing} may {act} number {number}, and the {THINGS[part]} goes on.\n"
        for part in range(4)
    )
    return f"# How a {thing} can {act} ({number})\n\n" + "\n".join(sections)


@contextmanager
def _service(place: Workplace, **load: int) -> Iterator[EvidenceService]:
    service = EvidenceService(place.settings_with({"load": load}), dense=HashEmbedder(), sparse=shared_sparse())
    with closing(service):
        yield service


def _at_once(name: str, service: EvidenceService, requests: Sequence[EvidenceRequest], serial: Sequence[str]) -> None:
    """Ask all at once, and tell how many got another pack than alone, and how long they took."""
    admission = Admission(Limits(waiting=len(requests)))

    async def ask(request: EvidenceRequest, begin: float) -> tuple[str, float]:
        pack = await admission.run(lambda cancelled: service.ask(request, cancelled))
        return pack.pack_id, (time.perf_counter() - begin) * 1000

    async def all_at_once() -> list[tuple[str, float]]:
        begin = time.perf_counter()
        return await asyncio.gather(*(ask(request, begin) for request in requests))

    begin = time.perf_counter()
    answers = asyncio.run(all_at_once())
    seconds = time.perf_counter() - begin
    other = sum(pack_id != expected for (pack_id, _), expected in zip(answers, serial, strict=True))
    show(f"{len(requests)} at once: {name}", f"{len(answers)} answered, {other} with another pack than alone")
    times = [milliseconds for _, milliseconds in answers]
    shown = "   ".join(f"p{percent} {percentile(times, percent):.0f} ms" for percent in (50, 95, 99))
    show("", f"{len(answers) / seconds:.1f} a second; from arrival to answer {shown}")


def _memory(service: EvidenceService, count: int, cache_bytes: int) -> None:
    """Ask different questions, 50 at a time, and tell the memory on the way."""
    admission = Admission()
    marks = {max(1, round(count * share)) for share in MEMORY_AT}

    async def ask_all() -> None:
        done = 0
        for first in range(0, count, 50):
            batch = [request_of(number) for number in range(first, min(first + 50, count))]
            await asyncio.gather(*(admission.run(lambda stop, one=one: service.ask(one, stop)) for one in batch))
            if any(done < mark <= done + len(batch) for mark in marks):
                use = service.caches()[0]
                show(f"RSS after {done + len(batch)}", f"{rss_mb():.0f} MB; {use.entries} answers are kept")
            done += len(batch)

    show("kept answers, at most", f"{cache_bytes / 1e6:.0f} MB")
    asyncio.run(ask_all())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000, help="how many come at once")
    parser.add_argument("--long", type=int, default=10_000, help="how many are asked while the memory is measured")
    parser.add_argument("--pages", type=int, default=200, help="made-up pages of the index")
    parser.add_argument("--cache-bytes", type=int, default=10_000_000, help="of answers, while the memory is measured")
    return parser.parse_args()


if __name__ == "__main__":
    main()
