"""The library of the extra `eval`, imported when an evaluation needs it."""

from __future__ import annotations

import importlib
from types import ModuleType

from adk_evidence.errors import EvidenceError


class EvaluationMissingError(EvidenceError):
    """The library of the extra `eval` is not installed."""

    code = "evaluation_missing"
    exit_code = 2


def metrics_library() -> ModuleType:
    """ir-measures.

    Raises:
        EvaluationMissingError: The library is not installed.
    """
    # ir-measures is maintained at Glasgow, computes with trec_eval and has wheels for all our platforms; ranx would
    # bring numba and pandas.
    try:
        return importlib.import_module("ir_measures")
    except ImportError as exc:
        message = "ir-measures, which evaluation needs, is not installed."
        raise EvaluationMissingError(message, 'Run `pip install "adk-evidence[eval]"`.') from exc
