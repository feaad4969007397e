"""Prepared graphs on disk: whether one is whole, and what is said of one that ONNX Runtime cannot open."""

from __future__ import annotations

import hashlib
from pathlib import Path

from adk_evidence.errors import ModelError
from adk_evidence.files import write_atomic


def is_whole(graph: Path) -> bool:
    """Whether a graph is there as it was when `mark_whole` was called."""
    try:
        return _digest(graph.read_bytes()) == _mark(graph).read_bytes()
    except OSError:
        return False


def mark_whole(graph: Path, content: bytes) -> None:
    """Note the content of a graph that was written; to be called last, as the note says that the graph is whole."""
    write_atomic(_mark(graph), _digest(content))


def does_not_load(prepared: Path, why: Exception) -> ModelError:
    """The error of a prepared graph, or of a folder with one, that ONNX Runtime cannot open."""
    kind = "folder" if prepared.is_dir() else "file"
    return ModelError(
        f"The prepared model {prepared} does not load ({type(why).__name__}).",
        f"Remove that {kind}; it is prepared anew at the next use.",
    )


def _mark(graph: Path) -> Path:
    return graph.with_name(f"{graph.name}.sha256")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
