"""What each part of the pipeline adds, from plain BM25 to the settings as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from adk_evidence.search.rerankers.local import LocalReranker, Weights
from adk_evidence.search.stages import Hit, Ranking
from adk_evidence.settings import Named
from adk_evidence_eval.variants import Variant

# Only what is searched and how the results are ordered: without second passes and without a quota for docs and code.
# What a request names, which stands before all that is searched, is left out as well.
_BARE: Mapping[str, Any] = {
    "rerank.provider": "none",
    "retrieval.expansion": "never",
    "retrieval.feedback_passages": 0,
    "pack.min_docs": 0,
    "pack.min_code": 0,
    "retrieval.named": [],
}
_BM25 = {**_BARE, "retrieval.branches": ["sparse"]}
_DENSE = {**_BARE, "retrieval.branches": ["dense"]}
_RRF = {**_BARE, "retrieval.branches": ["dense", "sparse"], "retrieval.fusion": "rrf"}
_DBSF = {**_RRF, "retrieval.fusion": "dbsf"}
_RERANK = {"rerank.provider": "local"}
_DEFINITIONS = {"retrieval.branches": ["dense", "sparse", "symbol"]}
_SUB_QUERIES = {"retrieval.expansion": "always"}
# As many as the default profile takes.
_FEEDBACK = {"retrieval.feedback_passages": 3}
_QUOTA = {"pack.min_docs": 3, "pack.min_code": 3}


def by_raw_score(outcome: Ranking) -> list[Hit]:
    """All hits in the order of the only branch's scores, as a single index of docs and code would give them.

    The pipeline itself joins the two collections by rank.
    """
    return sorted(outcome.candidates.merged, key=lambda hit: -hit.branches[0].score)


# Each idea stands alone on the fused order and after the reranker.
_STAGES: tuple[Variant, ...] = (
    Variant("BM25", _BM25, by_raw_score),
    Variant("dense", _DENSE, by_raw_score),
    Variant("BM25, docs and code by rank", _BM25),
    Variant("dense, docs and code by rank", _DENSE),
    Variant("RRF", _RRF),
    Variant("DBSF", _DBSF),
    Variant("RRF + definitions", _RRF | _DEFINITIONS),
    Variant("RRF + sub-queries", _RRF | _SUB_QUERIES),
    Variant("RRF + rerank", _RRF | _RERANK),
    Variant("DBSF + rerank", _DBSF | _RERANK),
    Variant("RRF + rerank, languages of all readers", _RRF | _RERANK | {"retrieval.language": None}),
    Variant("RRF + rerank + definitions", _RRF | _RERANK | _DEFINITIONS),
    Variant("RRF + rerank + feedback", _RRF | _RERANK | _FEEDBACK),
    Variant("RRF + rerank + sub-queries", _RRF | _RERANK | _SUB_QUERIES),
    Variant("RRF + rerank + docs and code quota", _RRF | _RERANK | _QUOTA),
)
AS_CONFIGURED = Variant("as configured")


def _named_without(*names: Named) -> Mapping[str, Any]:
    return {"retrieval.named": [name for name in get_args(Named) if name not in names]}


# The settings that switch one part off, by the part's name. A new part adds a line.
WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "frames": _named_without("frames"),
    "frames and quoted texts": _named_without("frames", "quoted"),
    "feedback": {"retrieval.feedback_passages": 0},
    "definitions of symbols": _named_without("definitions"),
    "reader's language": {"retrieval.language": None},
    "quoted texts": _named_without("quoted"),
    "defined names": _named_without("names"),
    "quoted texts and defined names": _named_without("quoted", "names"),
    "adapted questions": {"embedding.dense.question_adapter": "none"},
    "definitions": {"retrieval.branches": ["dense", "sparse", "asked"]},
    "questions as a branch": {"retrieval.branches": ["dense", "sparse", "symbol"]},
    "sub-queries": {"retrieval.expansion": "never"},
    "rerank": {"rerank.provider": "none"},
    "docs and code quota": {"pack.min_docs": 0, "pack.min_code": 0},
}

# The signals of the local reranker, by their names in `Weights`.
SIGNALS: Mapping[str, str] = {
    "task": "tasks",
    "asked": "questions as a signal",
    "example": "docs that show code before others",
    "mean": "whole chunks",
    "linked": "code that docs link to",
    "definition": "definitions before other uses",
}

# The first one is what the stages are compared with.
VARIANTS: tuple[Variant, ...] = (
    *_STAGES,
    AS_CONFIGURED,
    *(
        Variant(f"{AS_CONFIGURED.name}, without {name}", overrides, base=AS_CONFIGURED.name)
        for name, overrides in WITHOUT.items()
    ),
    *(
        Variant(
            f"{AS_CONFIGURED.name}, without {name}",
            reranker=LocalReranker(Weights(**{signal: 0.0})),
            base=AS_CONFIGURED.name,
        )
        for signal, name in SIGNALS.items()
    ),
)
