"""Relevance of the search for ranked targets.

    python -m tests.benchmarks.search_relevance [--home HOME] [--misses]

Every query of queries.jsonl is put to the search by words, by meaning and by both. HOME needs targets with vectors
(`adk-ingest all`). A target counts where its import path or its definition is among the relevant ones. The labels
were read from google-adk 2.13.0; the weights of the fusion were chosen with these queries in view.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adk_evidence.settings import load_settings
from adk_evidence.symbols.current import CurrentSymbols
from adk_evidence.targets.search import TargetSearch
from adk_evidence.targets.target import AnswerMode
from tests.benchmarks.measure import show

QUERIES = Path(__file__).with_name("queries.jsonl")
MODES: tuple[AnswerMode, ...] = ("lexical", "vector", "hybrid")
DEPTH = 10


@dataclass(frozen=True)
class Labelled:
    """A query with the import paths or definitions that answer it."""

    group: str
    query: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Scores:
    """Of a group: share of queries with an answer first, among the first five, and mean reciprocal rank (of 10)."""

    recall_1: float
    recall_5: float
    mrr: float

    @classmethod
    def of(cls, ranks: Sequence[int]) -> Scores:
        """The scores of the first relevant ranks, from 1; 0 where there is none."""
        count = len(ranks)
        return cls(
            sum(rank == 1 for rank in ranks) / count,
            sum(0 < rank <= 5 for rank in ranks) / count,
            sum(1 / rank for rank in ranks if rank) / count,
        )

    def line(self) -> str:
        """The three numbers."""
        return f"{self.recall_1:.3f} {self.recall_5:.3f} {self.mrr:.3f}"


def main() -> None:
    """Measure and print."""
    options = _options()
    search = CurrentSymbols(load_settings({"home": options.home} if options.home else {})).targets()
    queries = read_queries(QUERIES)
    ranks = {mode: [first_relevant(search, mode, query) for query in queries] for mode in MODES}
    show(
        "targets",
        f"{len(search.targets)} of {search.set.about.repo}@{search.set.about.commit}, {search.set.about.model}",
    )
    _table(queries, ranks)
    if options.misses:
        for query, rank in zip(queries, ranks["hybrid"], strict=True):
            if rank != 1:
                show(f"rank {rank or f'> {DEPTH}'}", f"{query.query}  [{query.group}]")


def read_queries(path: Path) -> list[Labelled]:
    """The labelled queries of a file, one JSON object a line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Labelled(row["group"], row["query"], frozenset(row["relevant"])) for row in rows]


def first_relevant(search: TargetSearch, mode: AnswerMode, query: Labelled) -> int:
    """Rank of the first relevant target, from 1; 0 where none of the first ten is."""
    for rank, item in enumerate(search.rank(query.query, DEPTH, mode), 1):
        target = search.targets[item.place]
        if {target.import_path, target.fqn} & query.relevant:
            return rank
    return 0


def _table(queries: Sequence[Labelled], ranks: Mapping[AnswerMode, Sequence[int]]) -> None:
    groups: dict[str, list[int]] = defaultdict(list)
    for number, query in enumerate(queries):
        groups[query.group].append(number)
        groups["all"].append(number)
    groups["all"] = groups.pop("all")
    header = "   ".join(f"{mode:<17}" for mode in MODES)
    print(f"\n{'group':<22} {'n':>3}   {header}\n{'':<26}   " + "   ".join(["R@1   R@5   MRR  "] * len(MODES)))
    for group, numbers in groups.items():
        scores = {mode: Scores.of([ranks[mode][number] for number in numbers]) for mode in MODES}
        below = any(
            getattr(scores[part], name) > getattr(scores["hybrid"], name)
            for part in ("lexical", "vector")
            for name in ("recall_1", "recall_5", "mrr")
        )
        lines = "   ".join(scores[mode].line() for mode in MODES)
        print(f"{group:<22} {len(numbers):>3}   {lines}{'   hybrid is below a part' if below else ''}")
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", help="folder of the index; the settings' own without it")
    parser.add_argument("--misses", action="store_true", help="name the queries that are not answered first")
    return parser.parse_args()


if __name__ == "__main__":
    main()
