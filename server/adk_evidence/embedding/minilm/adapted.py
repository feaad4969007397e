"""The graphs of adapted encoders, kept beside the weights that they were made of."""

from __future__ import annotations

from pathlib import Path

from adk_evidence.embedding.minilm.adapter import OTHER_ADAPTER, Adapter, AdapterError, read_adapter
from adk_evidence.embedding.minilm.bert import INT8_VERSION, Ranges, assemble_bert
from adk_evidence.embedding.minilm.graphs import is_whole, mark_whole
from adk_evidence.embedding.minilm.weights import MINILM_WEIGHTS, WEIGHTS
from adk_evidence.errors import ModelError
from adk_evidence.files import write_atomic


def adapter_of_minilm(path: Path) -> Adapter:
    """Read an adapter that was trained for the weights of all-MiniLM-L6-v2.

    Raises:
        AdapterError: There is no such adapter.
    """
    adapter = read_adapter(path)
    if adapter.about.base_sha256 != MINILM_WEIGHTS.sha256[WEIGHTS]:
        raise AdapterError(
            f"The adapter {path} was trained for other weights than those of {MINILM_WEIGHTS.name}.",
            OTHER_ADAPTER,
        )
    return adapter


def adapted_graph(folder: Path, adapter: Adapter, heads: int, ranges: Ranges | None) -> Path:
    """The graph of an adapter, assembled where it is not there yet or damaged.

    Args:
        folder: A folder with the weights, which gets the graph: 11 MB in 8-bit integers, else 43 MB.
        adapter: The adapter.
        heads: Number of attention heads of the encoder.
        ranges: With those of the encoder's states, linear layers are computed in 8-bit integers; None: in float32.

    Raises:
        AdapterError: The adapter does not fit the weights, or the folder cannot be written.
    """
    from filelock import FileLock

    precision = f"int8-v{INT8_VERSION}" if ranges is not None else "fp32"
    graph = folder / f"adapted-{adapter.sha256[:12]}-{precision}.onnx"
    if is_whole(graph):
        return graph
    try:
        with FileLock(folder / ".adapted.lock"):
            if not is_whole(graph):
                model = assemble_bert(folder / WEIGHTS, heads, ranges=ranges, changes=adapter.changes)
                made = model.SerializeToString()
                write_atomic(graph, made)
                mark_whole(graph, made)
    except OSError as exc:
        raise AdapterError.of_disk(folder, 60, exc) from exc
    except ModelError as exc:
        raise AdapterError(exc.message, exc.hint) from exc
    return graph
