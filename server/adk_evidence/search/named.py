"""Results that a request names outright: the definitions of the symbols that it carries as data.

What is named is no matter of likeness. Such results need no score, and stand before everything that the search ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.run import Hit, Run
from adk_evidence.store.base import Filter, Match

# How many chunks of one collection are read to find what a request names.
MAX_READ = 400
DEFINITION = "defines {name}"


def find_named(run: Run) -> list[Hit]:
    """The hits that the request names, best first, each chunk once. A collection that cannot answer is a warning."""
    found: dict[str, Hit] = {}
    if "code" in run.kinds and "code" not in run.collections_failed:
        try:
            for hit in _definitions(run):
                found.setdefault(hit.point_id, hit)
        except CollectionUnavailableError as exc:
            run.without_collection("code", exc)
    return list(found.values())


def lead(named: Iterable[Hit], ranked: Iterable[Hit]) -> list[Hit]:
    """The named hits before the ranked ones. A named hit that was ranked, too, keeps what the search knows of it."""
    by_point = {hit.point_id: hit for hit in ranked}
    first = {hit.point_id: by_point.get(hit.point_id, hit)._replace(named=hit.named) for hit in named}
    return [*first.values(), *(hit for point, hit in by_point.items() if point not in first)]


def _definitions(run: Run) -> Iterator[Hit]:
    """The chunk in which the definition of each symbol of the request begins."""
    wanted = run.request.symbols
    names = tuple(dict.fromkeys(symbol.rpartition(".")[2] for symbol in wanted))
    if not names:
        return
    by_symbol: dict[str, Hit] = {}
    for hit in read_hits(run, "code", Match("names", names)):
        module = (hit.payload.fqn or "").removesuffix(f".{hit.payload.symbol}")
        for symbol in hit.payload.symbols:
            by_symbol.setdefault(f"{module}.{symbol}", hit)
    for symbol in wanted:
        if (defined := by_symbol.get(symbol)) is not None:
            yield defined._replace(named=DEFINITION.format(name=symbol))


def read_hits(run: Run, kind: Kind, *conditions: Match) -> list[Hit]:
    """The chunks of a kind with some payload, as hits that no branch returned, by file and line.

    Raises:
        CollectionUnavailableError: The collection cannot answer.
    """
    collection = run.settings.store.collection(kind)
    within = run.scope.of_versions(kind)
    records, _ = run.index.store.scroll(
        collection, filter=Filter(must=(*within.must, *conditions), must_not=within.must_not), limit=MAX_READ
    )
    hits = [
        Hit(
            point_id=record.id,
            collection=collection,
            payload=ChunkPayload.model_validate(record.payload),
            fused_rank=0,
            fused_score=0.0,
            branches=(),
            similarity=None,
        )
        for record in records
    ]
    return sorted(hits, key=lambda hit: (hit.payload.path, hit.payload.start_line, hit.point_id))
