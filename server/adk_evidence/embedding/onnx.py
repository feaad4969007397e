"""Keeps ONNX Runtime, which computes the local models, from reporting to its maker."""

from __future__ import annotations

import os


def without_telemetry() -> None:
    """Have ONNX Runtime report nothing from this process; call it before anything imports `onnxruntime`.

    Unasked, ONNX Runtime 1.29 and later keep an identifier of the machine and a file of events in the user's cache
    folder, and send the events to Microsoft. The library looks at this variable once, when it is imported; its function
    `disable_telemetry_events` comes too late for the identifier and the first event.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
