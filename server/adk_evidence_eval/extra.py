"""The libraries of the extra `eval`, imported when an evaluation needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from adk_evidence.errors import EvidenceError


class EvaluationMissingError(EvidenceError):
    """A library of the `eval` extra is not installed."""

    code = "evaluation_missing"
    exit_code = 2


def eval_library(module: str, distribution: str) -> ModuleType:
    """Import a module of the `eval` extra.

    Raises:
        EvaluationMissingError: Its distribution is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        hint = 'Run `pip install "adk-evidence[eval]"`.'
        raise EvaluationMissingError(f"{distribution}, which evaluation needs, is not installed.", hint) from exc
