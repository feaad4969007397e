"""What `adk-ingest simulate` prints."""

from __future__ import annotations

from rich.console import Console

from adk_evidence_console import say, table
from adk_ingest.capacity import GB, Forecast, Simulation
from adk_ingest.wording import counted

_NAMES = {"float": "float32 in memory", "int8": "int8 in memory", "disk": "all on disk"}
# A manifest is read whole by each process that opens the index.
_LARGE_MANIFEST_BYTES = 1e9


def show_simulation(simulation: Simulation, console: Console) -> None:
    """Print the forecasts as tables, with what they rest on."""
    rates, shape = simulation.rates, simulation.shape
    source = f"run {simulation.run_id} and " if simulation.run_id else ""
    say(console, f"Measured on {source}generation {simulation.generation} ({shape.chunks:,} chunks):")
    say(
        console,
        f"{rates.chunks_per_second:,.0f} chunks, {rates.vectors_per_second:,.0f} vectors and "
        f"{rates.points_per_second:,.0f} points a second; a chunk is {shape.computed:.1f} computed and "
        f"{shape.stored:.1f} stored vectors of {shape.dimension} numbers, {shape.terms:.0f} terms and "
        f"{shape.payload:,.0f} bytes of payload.",
    )
    if shape.disk is not None:
        say(console, f"The embedded store of this machine takes {shape.disk:,.0f} bytes of disk a chunk.")
    workers = counted(simulation.workers, "worker", "workers")
    work = table("chunks", f"time of {workers}", "finish", "cache of a worker", "manifest", "price")
    for one in simulation.forecasts:
        usd = "-" if one.usd is None else f"${one.usd:,.2f}"
        work.add_row(
            f"{one.chunks:,}",
            duration(one.worker_seconds),
            duration(one.finish_seconds),
            gigabytes(one.cache_bytes),
            gigabytes(one.manifest_bytes),
            usd,
        )
    console.print(work)
    replicas = counted(simulation.replicas, "replica", "replicas")
    node = gigabytes(simulation.node_bytes)
    cluster = table("chunks", "vectors", f"memory, {replicas}", "disk", f"nodes of {node}")
    for one in simulation.forecasts:
        for memory in one.memory:
            sizes = (gigabytes(memory.memory_bytes), gigabytes(memory.disk_bytes), f"{memory.nodes:,}")
            cluster.add_row(f"{one.chunks:,}", _NAMES[memory.layout], *sizes)
    console.print(cluster)
    for memory in simulation.forecasts[0].memory:
        say(console, f"{_NAMES[memory.layout]}: {memory.settings}")
    if large := [one for one in simulation.forecasts if one.manifest_bytes > _LARGE_MANIFEST_BYTES]:
        say(console, _of_the_manifest(large[0]), "yellow")
    for assumption in simulation.assumptions:
        say(console, f"assumed: {assumption}", "dim")


def _of_the_manifest(forecast: Forecast) -> str:
    size = gigabytes(forecast.manifest_bytes)
    return (
        f"The manifest of {forecast.chunks:,} chunks takes {size}, and each process that opens the index reads all of "
        "it: make several indexes of that many."
    )


def gigabytes(count: float) -> str:
    """Bytes as GB of 10^9 bytes."""
    return f"{count / GB:,.1f} GB"


def duration(seconds: float) -> str:
    """Seconds in the unit that people would use."""
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:,.0f} s"
