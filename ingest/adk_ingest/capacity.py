"""What an index of many chunks takes: workers' time, memory and disk of a cluster, nodes, price of embeddings.

The rates and sizes are measured: on the published index of this home folder, and in the manifest of a run that built
one. What cannot be measured here is assumed, and every assumption is part of the answer. The formulas:

    worker's seconds = all files / files a second
                     + own chunks * (1 / chunks a second + vectors a chunk / vectors a second + 1 / points a second)
    vectors in memory = stored vectors * dimension * bytes of a number * 1.5
    other memory     = chunks * (terms * 12 + values of indexed fields + 64)
    disk             = chunks * (vectors, int8 copies, 8 a term, payload) * 1.5
    nodes            = memory of all replicas / (memory of a node * 0.8), and at least one for each replica

The factor 1.5 is Qdrant's (qdrant.tech/documentation/capacity-planning): for indexes, versions of points, and segments
that exist twice while they are optimised. So is the bound of 80 % (its guide on memory usage).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import IngestError, InvalidRequestError
from adk_evidence.index.encoders import as_kept, for_parts
from adk_evidence.index.registry import size_on_disk
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.settings import Settings
from adk_evidence.store.base import KEYWORD_FIELDS, Record
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence.store.generations import LeasedGeneration
from adk_evidence.store.manifest import MANIFEST
from adk_ingest.manifest import RunFiles, RunManifest

SIZES = (1_000_000, 10_000_000, 100_000_000)
# Qdrant's: for indexes, versions of points and temporary segments.
OVERHEAD = 1.5
# Qdrant's: a node whose resident memory is above this share is in trouble.
MEMORY_SHARE = 0.8
FLOAT_BYTES, INT8_BYTES = 4, 1
# Assumed of Qdrant's in-memory index of sparse vectors: id, weight and greatest weight to come of a posting.
POSTING_BYTES = 12
# A sparse vector as it is stored: index and value of each term.
TERM_BYTES = 8
# Assumed: what a point takes in memory besides its vectors (ids both ways, version).
POINT_BYTES = 64
# Assumed: what one value of an indexed payload field takes besides its characters.
VALUE_BYTES = 16
# Qdrant's default: 16 links of a vector in each layer of its graph, twice as many in the lowest one.
LINK_BYTES = 2 * 16 * 4
# Points are read from both collections; their ids are hashes, so that the first ones are a random sample.
SAMPLE_POINTS = 500
GB = 1e9

# What names the models of a service in its section of the settings.
_MODEL_NAMES = ("model", "docs_model", "code_model", "dimension")

Layout = Literal["float", "int8", "disk"]
LAYOUTS: Mapping[Layout, str] = {
    "float": "store.quantization: none",
    "int8": "store.quantization: scalar, store.vectors_on_disk: true",
    "disk": "store.vectors_on_disk: true",
}


class Rates(BaseModel, frozen=True):
    """How fast one worker is; None takes no time, and `assumed` has a sentence for each such rate."""

    chunks_per_second: float
    vectors_per_second: float
    points_per_second: float
    files_per_second: float | None = None
    verified_per_second: float | None = None
    assumed: tuple[str, ...] = ()


class Shape(BaseModel, frozen=True):
    """What one chunk is on average, measured on a published index.

    `computed` are the vectors that a model computes of it, `stored` those that the store keeps, `indexed` the bytes of
    memory of the payload's indexed values. `tokens` are those of its text, and `manifest` its bytes in the manifest.
    `disk` is what the embedded store takes of it here; None for a server.
    """

    chunks: int
    files: float
    computed: float
    stored: float
    graphs: float
    dimension: int
    terms: float
    payload: float
    indexed: float
    tokens: dict[Kind, float]
    manifest: float
    disk: float | None = None


class Memory(BaseModel, frozen=True):
    """One way to keep the vectors: bytes of memory and disk of all replicas, and how many nodes that takes."""

    layout: Layout
    settings: str
    memory_bytes: float
    disk_bytes: float
    nodes: int


class Forecast(BaseModel, frozen=True):
    """What an index of so many chunks takes.

    `worker_seconds` is the time of each worker, `finish_seconds` that of the last step, and `cache_bytes` what the
    cache of a worker's vectors must hold for a worker that died to go on where it was. `usd` is None for models that
    cost nothing, and where the settings have no price.
    """

    chunks: int
    worker_seconds: float
    finish_seconds: float
    cache_bytes: float
    manifest_bytes: float
    memory: tuple[Memory, ...]
    usd: float | None = None


class Simulation(BaseModel, frozen=True):
    """Forecasts for several sizes, with what they rest on."""

    run_id: str | None
    generation: str
    rates: Rates
    shape: Shape
    workers: int
    replicas: int
    node_bytes: float
    usd_per_million_tokens: dict[Kind, float]
    forecasts: tuple[Forecast, ...]
    assumptions: tuple[str, ...]


class Given(BaseModel, frozen=True):
    """Rates that the user names instead of measured ones; None: measured."""

    chunks_per_second: float | None = None
    vectors_per_second: float | None = None
    points_per_second: float | None = None


def simulate(
    settings: Settings,
    *,
    sizes: Iterable[int] = SIZES,
    workers: int = 1,
    replicas: int | None = None,
    node_gb: float = 64.0,
    given: Given | None = None,
) -> Simulation:
    """What indexes of some sizes would take, by what was measured on the published index and its run.

    Args:
        settings: Of the index that is measured.
        sizes: Numbers of chunks.
        workers: Machines like this one that make the index in parts.
        replicas: Copies of each shard; None: what `store.replication_factor` says, or 1.
        node_gb: Memory of a node of the cluster, in GB of 10^9 bytes.
        given: Rates to use instead of measured ones.

    Raises:
        InvalidRequestError: A number is not positive.
        IngestError: No run that built the published index has its times, and they are not given.
        IndexMissingError: Nothing is published.
        StoreError: The index cannot be read.
    """
    sizes, given = tuple(sizes), given or Given()
    replicas = replicas or settings.store.replication_factor or 1
    if min(*sizes, workers, replicas, node_gb) <= 0:
        raise InvalidRequestError("Numbers of chunks, workers, replicas and GB are positive.", "Name other ones.")
    with open_generations(settings).open_current() as lease:
        shape = measure_shape(lease, settings)
    # As runs write it down: the precision that was used, also where the settings leave it open.
    chosen = for_parts(as_kept(settings, lease.manifest))
    run = _measured_run(RunFiles(settings.paths.runs).runs(), chosen)
    rates = measure_rates(run, given)
    prices, unpriced = _prices(settings, shape)
    return Simulation(
        run_id=run.run_id if run else None,
        generation=lease.id,
        rates=rates,
        shape=shape,
        workers=workers,
        replicas=replicas,
        node_bytes=node_gb * GB,
        usd_per_million_tokens=prices,
        forecasts=tuple(forecast(size, shape, rates, workers, replicas, node_gb * GB, prices) for size in sizes),
        assumptions=tuple(_assumptions(run, given, rates, prices, unpriced)),
    )


def forecast(
    chunks: int,
    shape: Shape,
    rates: Rates,
    workers: int,
    replicas: int,
    node_bytes: float,
    usd_per_million_tokens: Mapping[Kind, float],
) -> Forecast:
    """What an index of so many chunks takes; the module's docstring has the formulas."""
    own = chunks / workers
    computing = 1 / rates.chunks_per_second + shape.computed / rates.vectors_per_second + 1 / rates.points_per_second
    usd = sum(
        chunks * shape.tokens.get(kind, 0.0) * price / 1_000_000 for kind, price in usd_per_million_tokens.items()
    )
    return Forecast(
        chunks=chunks,
        # Every worker looks at all files.
        worker_seconds=_seconds(chunks * shape.files, rates.files_per_second) + own * computing,
        finish_seconds=_seconds(chunks, rates.verified_per_second),
        cache_bytes=own * shape.computed * shape.dimension * FLOAT_BYTES,
        manifest_bytes=chunks * shape.manifest,
        memory=tuple(_memory(layout, chunks, shape, replicas, node_bytes) for layout in LAYOUTS),
        usd=usd if usd_per_million_tokens else None,
    )


def _seconds(units: float, rate: float | None) -> float:
    return 0.0 if rate is None else units / rate


def _memory(layout: Layout, chunks: int, shape: Shape, replicas: int, node_bytes: float) -> Memory:
    floats = shape.stored * shape.dimension * FLOAT_BYTES
    copies = shape.stored * shape.dimension * INT8_BYTES if layout == "int8" else 0.0
    graph = shape.graphs * LINK_BYTES
    in_memory = {"float": floats * OVERHEAD, "int8": copies * OVERHEAD, "disk": graph * OVERHEAD}[layout]
    other = shape.terms * POSTING_BYTES + shape.indexed + POINT_BYTES
    memory = chunks * replicas * (in_memory + other)
    disk = chunks * replicas * (floats + copies + shape.terms * TERM_BYTES + shape.payload) * OVERHEAD
    nodes = max(replicas, math.ceil(memory / (node_bytes * MEMORY_SHARE)))
    return Memory(layout=layout, settings=LAYOUTS[layout], memory_bytes=memory, disk_bytes=disk, nodes=nodes)


def measure_shape(lease: LeasedGeneration, settings: Settings) -> Shape:
    """What the chunks of a published index are on average; vectors and payloads are those of a sample.

    Raises:
        IngestError: The index has no chunks, or lacks its dense vectors yet.
        StoreError: The index cannot be read.
    """
    manifest = lease.manifest
    chunks = sum(corpus.chunks for corpus in manifest.corpora.values())
    if not chunks or manifest.dense != "complete":
        raise IngestError("The published index has nothing to measure yet.", f"Run `{settings.ingest_command}`.")
    records: list[Record] = []
    with closing(open_reader(lease.folder, settings)) as store:
        for kind in KINDS:
            # As many of each kind as the index has.
            share = sum(corpus.chunks for corpus in manifest.corpora.values() if corpus.kind == kind) / chunks
            limit = math.ceil(SAMPLE_POINTS * share)
            if limit:
                records += store.scroll(settings.store.collection(kind), limit=limit, with_vectors=True)[0]
    dense = [vector for record in records for vector in record.vectors.values() if not isinstance(vector, SparseVector)]
    sparse = [vector for record in records for vector in record.vectors.values() if isinstance(vector, SparseVector)]
    tokens = {kind: _tokens(records, kind) / len(records) for kind in KINDS}
    files = sum(len(corpus.files) for corpus in manifest.corpora.values())
    return Shape(
        chunks=chunks,
        files=files / chunks,
        computed=manifest.dense_vectors() / chunks,
        stored=sum(len(vector) if _is_several(vector) else 1 for vector in dense) / len(records),
        graphs=len(dense) / len(records),
        dimension=max(size for entry in manifest.collections.values() for size in entry.dense.values()),
        terms=sum(len(vector.indices) for vector in sparse) / len(records),
        payload=sum(len(json.dumps(record.payload, ensure_ascii=False).encode()) for record in records) / len(records),
        indexed=sum(map(_indexed_bytes, records)) / len(records),
        tokens=tokens,
        manifest=(lease.folder / MANIFEST).stat().st_size / chunks,
        disk=_disk(lease.folder, manifest.collections) / chunks if manifest.store == "edge" else None,
    )


def _is_several(vector: object) -> bool:
    return isinstance(vector, list) and bool(vector) and isinstance(vector[0], list)


def _tokens(records: Iterable[Record], kind: Kind) -> int:
    return sum(record.payload["text_tokens"] for record in records if record.payload["kind"] == kind)


def _indexed_bytes(record: Record) -> int:
    """What the indexed values of a payload take in memory."""
    total = 0
    for field in KEYWORD_FIELDS:
        value = record.payload.get(field)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            total += len(str(one).encode()) + VALUE_BYTES
    return total


def _disk(folder: Path, collections: Iterable[str]) -> int:
    return sum(size_on_disk(folder / name) for name in collections)


def _measured_run(runs: Iterable[RunManifest], settings: Settings) -> RunManifest | None:
    """The newest run that wrote a whole index, in the settings' store and with their dense model.

    One that computed most of its vectors comes first. A run that changes a few files also copies and checks the points
    of all others, so that its times say nothing about a new index. The settings leave no precision open.
    """
    wanted = _dense(settings.model_dump(mode="json", include={"embedding"}))
    finished = [
        run
        for run in runs
        if run.status in ("complete", "incomplete")
        and run.seconds.get("chunk")
        and sum(run.points_uploaded.values()) == run.qdrant_counts.get("total")
        and _store(run) == settings.store.kind
        and _dense(run.config) == wanted
    ]
    computed = [run for run in finished if run.vectors_embedded > run.vectors_from_cache]
    return next(iter(computed or finished), None)


def _store(run: RunManifest) -> str | None:
    kind: str | None = run.config.get("store", {}).get("kind")
    return kind


def _dense(config: Mapping[str, Any]) -> dict[str, Any]:
    """The model and the number of dense vectors that a configuration asks for: they decide how long these take."""
    embedding = config.get("embedding", {})
    dense = embedding.get("dense", {})
    service = embedding.get(dense.get("provider"), {})
    own = {name: dense.get(name) for name in ("provider", "text", "precision", "model_path", "fastembed")}
    return {**own, **{name: value for name, value in service.items() if name in _MODEL_NAMES}}


def measure_rates(run: RunManifest | None, given: Given) -> Rates:
    """How fast a run was; what the user gives comes first.

    Raises:
        IngestError: A rate is neither given nor measured.
    """
    seconds = run.seconds if run else {}
    points = sum(run.points_uploaded.values()) if run else 0
    files = sum(corpus.files for corpus in run.corpora.values()) if run else 0
    # A first run publishes an index for keywords before the one with vectors: it writes and checks each point twice.
    rounds = 2 if run is not None and run.lexical_generation else 1
    assumed: list[str] = []

    def measured(units: float, *stages: str) -> float | None:
        took = sum(seconds.get(stage, 0.0) for stage in stages)
        return units / took if units and took else None

    def rate(name: str, given: float | None, found: float | None) -> float:
        wanted = given if given is not None else found
        if wanted is None or wanted <= 0:
            raise IngestError(
                f"No finished run of this home folder says how many {name} a second this machine makes.",
                f"Build a whole index in a new home folder, in one run without --part and with the store and the model "
                f"of today's settings; or give a positive number with --{name}-per-second.",
            )
        return wanted

    found, verified = measured(files, "discover"), measured(rounds * points, "verify", "publish")
    if found is None:
        assumed.append("Finding files is assumed to take no time, since no run measured that.")
    if verified is None:
        assumed.append("Verifying is assumed to take no time, since no run measured that.")
    embedded = run.vectors_embedded if run else 0
    return Rates(
        chunks_per_second=rate("chunks", given.chunks_per_second, measured(points, "chunk")),
        vectors_per_second=rate("vectors", given.vectors_per_second, measured(embedded, "embed")),
        points_per_second=rate("points", given.points_per_second, measured(rounds * points, "sparse", "upsert")),
        files_per_second=found,
        verified_per_second=verified,
        assumed=tuple(assumed),
    )


def _prices(settings: Settings, shape: Shape) -> tuple[dict[Kind, float], list[str]]:
    """US dollars for a million tokens of docs and of code, where a service embeds them.

    Where the settings lack the price of a model that the index needs, there are none, and the models without one.
    """
    embedding = settings.embedding
    if embedding.dense.provider == "voyage":
        models: dict[Kind, str] = {"doc": embedding.voyage.docs_model, "code": embedding.voyage.code_model}
        prices = embedding.voyage.usd_per_million_tokens
    elif embedding.dense.provider == "openai":
        models = dict.fromkeys(KINDS, embedding.openai.model)
        prices = embedding.openai.usd_per_million_tokens
    else:
        return {}, []
    needed = {kind: model for kind, model in models.items() if shape.tokens.get(kind)}
    unpriced = sorted({model for model in needed.values() if model not in prices})
    return ({}, unpriced) if unpriced else ({kind: prices[model] for kind, model in needed.items()}, [])


def _writing(run: RunManifest | None, given: Given) -> str:
    if run is None or given.points_per_second is not None:
        return "The server takes points from all workers as fast as the given rate says of one."
    if _store(run) == "server":
        return "The server takes points from all workers as fast as it took those of the measured run from one."
    return "The server takes points as fast as this machine's embedded store did; no server was measured."


def _assumptions(
    run: RunManifest | None, given: Given, rates: Rates, prices: Mapping[Kind, float], unpriced: Sequence[str]
) -> list[str]:
    said = [
        "The chunks are like those of the measured index, and every worker is a machine like the measured one.",
        _writing(run, given),
        *rates.assumed,
        "Half of a vector's size comes on top for indexes and for segments that are being optimised, as Qdrant "
        "estimates; the same is assumed of int8 copies, of graphs and of the disk.",
        f"In memory, {POSTING_BYTES} bytes for each term of a chunk, {VALUE_BYTES} beside each indexed value and "
        f"{POINT_BYTES} for each point are assumed; where all vectors are on disk, {LINK_BYTES} for the links of each.",
        f"A node's memory is filled to {MEMORY_SHARE:.0%}, the bound that Qdrant names; the rest caches files.",
    ]
    if prices:
        said.append("A service counts tokens as the index estimates them; its rate limits are left out.")
    elif unpriced:
        said.append(f"The settings name no price for {' and '.join(unpriced)}, so none is computed.")
    return [*said, "Searches, backups and the traffic between nodes are left out."]
