"""The libraries of the extras `eval` and `train`, imported when an evaluation or a training needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from adk_evidence.errors import EvidenceError


class EvaluationMissingError(EvidenceError):
    """A library of the extra `eval` or `train` is not installed."""

    code = "evaluation_missing"
    exit_code = 2


def metrics_library() -> ModuleType:
    """ir-measures.

    Raises:
        EvaluationMissingError: The library is not installed.
    """
    # ir-measures is maintained at Glasgow, computes with trec_eval and has wheels for all our platforms; ranx would
    # bring numba and pandas.
    return _imported("ir_measures", "ir-measures")


def charts_library() -> ModuleType:
    """matplotlib's figures. Not pyplot: that looks for a display, and keeps every figure.

    Raises:
        EvaluationMissingError: The library is not installed.
    """
    return _imported("matplotlib.figure", "matplotlib")


def _imported(module: str, distribution: str, purpose: str = "evaluation", extra: str = "eval") -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        hint = f'Run `pip install "adk-evidence[{extra}]"`.'
        raise EvaluationMissingError(f"{distribution}, which {purpose} needs, is not installed.", hint) from exc
