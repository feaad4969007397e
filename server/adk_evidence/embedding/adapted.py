"""The graphs of adapted encoders, kept beside the weights that they were made of."""

from __future__ import annotations

import hashlib
from pathlib import Path

from adk_evidence.embedding.adapter import Adapter, Format, other_adapter, read_adapter
from adk_evidence.embedding.bert import INT8_VERSION, assemble_bert
from adk_evidence.embedding.weights import MINILM_WEIGHTS, WEIGHTS
from adk_evidence.errors import ModelError
from adk_evidence.files import write_atomic


def adapter_of_minilm(path: Path, wanted: Format) -> Adapter:
    """Read an adapter of a kind that was trained for the weights of all-MiniLM-L6-v2.

    Raises:
        ModelError: There is no such adapter.
    """
    adapter = read_adapter(path, wanted)
    if adapter.about.base_sha256 != MINILM_WEIGHTS.sha256[WEIGHTS]:
        raise ModelError(
            f"The adapter {path} was trained for other weights than those of {MINILM_WEIGHTS.name}.",
            other_adapter(wanted),
        )
    return adapter


def adapted_graph(folder: Path, adapter: Adapter, heads: int) -> Path:
    """The graph of an adapter in 8-bit integers (11 MB), assembled where it is not there yet or damaged.

    Args:
        folder: A folder with the weights, which gets the graph.
        adapter: The adapter.
        heads: Number of attention heads of the encoder.

    Raises:
        ModelError: The adapter does not fit the weights, or the folder cannot be written.
    """
    from filelock import FileLock

    graph = folder / f"adapted-{adapter.sha256[:12]}-int8-v{INT8_VERSION}.onnx"
    digest = graph.with_name(f"{graph.name}.sha256")
    if _is_whole(graph, digest):
        return graph
    try:
        with FileLock(folder / ".adapted.lock"):
            if not _is_whole(graph, digest):
                made = assemble_bert(folder / WEIGHTS, heads, int8=True, changes=adapter.changes).SerializeToString()
                write_atomic(graph, made)
                # Written last: this file says that the graph is whole.
                write_atomic(digest, hashlib.sha256(made).hexdigest().encode())
    except OSError as exc:
        raise ModelError.of_disk(folder, 30, exc) from exc
    return graph


def does_not_load(graph: Path, why: Exception) -> ModelError:
    """The error of a graph that ONNX Runtime cannot open."""
    return ModelError(
        f"The prepared model {graph} does not load ({type(why).__name__}).",
        "Remove that file; it is prepared anew at the next use.",
    )


def _is_whole(graph: Path, digest: Path) -> bool:
    try:
        return hashlib.sha256(graph.read_bytes()).hexdigest().encode() == digest.read_bytes()
    except OSError:
        return False
