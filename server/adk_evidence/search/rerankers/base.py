"""The protocol of rerankers, and the documents that they see (SPEC 5 section 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.request import TaskMode
from adk_evidence.search.question.query import Query
from adk_evidence.text.tokens import truncate_tokens

# Rankings that are kept for the same question and candidates.
KEPT_RANKINGS = 256
INSTRUCTION = """You are ranking evidence to help implement a correct solution using Google ADK.
Prefer: official ADK docs that describe the exact API and constraints, and ADK Python source that demonstrates real patterns.
Prefer: content that directly answers the question and includes concrete parameters, function/class names, and usage patterns.
Deprioritize: tangential mentions, outdated references, or generic LLM commentary.
Question: {user_query}"""  # noqa: E501 - the wording is the specification's

# Each mode's addition to the instruction; the wording above stays as specified.
MODE_HINTS: Mapping[TaskMode, str] = {
    "build": "",
    "debug": "Prefer: causes of the error, validation code and troubleshooting notes.\n",
    "explain": "Prefer: conceptual documentation and docstrings.\n",
    "refactor": "Prefer: definitions, signatures and call sites that a change would touch.\n",
}


@dataclass(frozen=True)
class RerankDocument:
    """A candidate as the reranker sees it: `text` for cross-encoders, `scores` for score-based rerankers.

    `body_tokens` is how much of the chunk's text `text` may hold. `scores` holds the exact scores of the branches
    (`dense`, `mean`, `sparse`) that are known, and `wordings` those for each other wording of the query.
    """

    payload: ChunkPayload
    body_tokens: int
    scores: Mapping[str, float] = field(default_factory=dict)
    wordings: tuple[Mapping[str, float], ...] = ()

    # Made at first use, as not every reranker reads texts.
    @cached_property
    def text(self) -> str:
        """The rerank document of SPEC 5 section 9.2: provenance header, then the chunk's text cut to `body_tokens`."""
        payload = self.payload
        lines = f"REPO: {payload.repo}\nREF: {payload.commit}"
        if payload.kind == "doc":
            lines = f"SOURCE: docs\n{lines}\nLOC: {payload.uri or payload.path}"
        else:
            span = f"{payload.start_line}-{payload.end_line}"
            lines = f"SOURCE: code\n{lines}\nPATH: {payload.path}\nLINES: {span}"
        symbol = f"\nSYMBOL: {payload.symbol}" if payload.symbol else ""
        body = truncate_tokens(payload.searched_text, self.body_tokens)
        return f"{lines}\nCHUNK: {payload.chunk_id}{symbol}\n\n{body}"


class Reranker(Protocol):
    """Orders candidates."""

    @property
    def model(self) -> str:
        """Name and version, for the plan and the event log."""

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """One score for each document, in the order of the documents; higher is better.

        Raises:
            EvidenceError: The reranker cannot answer; the caller falls back to the fused order.
        """


def scores_of_order(order: Sequence[int]) -> list[float]:
    """Scores by position, for rerankers that only make an order: 1 for the best of n, then 1/n less for each place.

    Args:
        order: Every position once, best first.
    """
    scores = [0.0] * len(order)
    for place, position in enumerate(order):
        scores[position] = (len(order) - place) / len(order)
    return scores


def instruction(query: Query, task_mode: TaskMode) -> str:
    """The instruction wrapper of SPEC 5 section 9.3 around a query."""
    wrapped = INSTRUCTION.format(user_query=query.text)
    hint = MODE_HINTS[task_mode]
    return wrapped.replace("Question: ", f"{hint}Question: ", 1) if hint else wrapped
