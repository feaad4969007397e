"""Writes adapters for questions."""

from __future__ import annotations

from pathlib import Path

from adk_evidence.embedding.minilm.adapter import Adapter
from adk_evidence.errors import ModelError
from adk_evidence.files import write_atomic

LICENSE = "Apache-2.0"  # that of the weights, from which an adapter is made


def write_adapter(adapter: Adapter, path: Path) -> None:
    """Write an adapter in one step.

    Raises:
        ModelError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, adapter.to_bytes())
    except OSError as exc:
        raise ModelError(f"{path} cannot be written: {exc.strerror or exc}.", "Name another file.") from exc
