"""What an answer lacks or a reader should know; `render/wording.py` has the words."""

from __future__ import annotations

from typing import Literal

from adk_evidence.models.base import Frozen

WarningCode = Literal[
    "collection_unavailable",
    "coverage",
    "dense_pending",
    "dense_unavailable",
    "docs_fallback",
    "extra_missing",
    "index_older",
    "index_unavailable",
    "line_spans_unavailable",
    "path_not_indexed",
    "provenance",
    "question_adapter_unavailable",
    "ref_not_indexed",
    "rerank_unavailable",
    "sparse_unavailable",
    "time_budget",
    "traceback_of_other_version",
    "uncommitted",
    "unknown_name",
    "unknown_symbol",
    "version_not_indexed",
    "wordings_unavailable",
]
# What says that a part is missing that another try may bring.
LOST_PARTS: frozenset[WarningCode] = frozenset(
    {
        "dense_unavailable",
        "dense_pending",
        "question_adapter_unavailable",
        "sparse_unavailable",
        "collection_unavailable",
        "rerank_unavailable",
        "time_budget",
        "wordings_unavailable",
    }
)
# Names that the question has and the index lacks.
UNKNOWN_NAMES: frozenset[WarningCode] = frozenset({"unknown_name", "unknown_symbol"})


class Warning(Frozen):
    """A warning of an answer: a code for programs, and a sentence for people and models."""

    code: WarningCode
    text: str

    def __str__(self) -> str:
        """As surfaces show it where no program reads the code."""
        return f"{self.code}: {self.text}"
