"""Relevance of the search for ranked targets.

    python -m tests.benchmarks.search_relevance [--home HOME]

Every query of search_relevance.jsonl is put to the search by words, by meaning and by both. HOME needs targets with
vectors (`adk-ingest all`). A target counts where its import path or its definition is among the relevant ones. The
labels were read from google-adk 2.13.0; the weights of the fusion were chosen with these queries in view.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from adk_evidence.settings import load_settings
from adk_evidence.symbols.current import CurrentSymbols
from adk_evidence.targets.search import TargetSearch
from adk_evidence.targets.target import AnswerMode
from tests.benchmarks.measure import show

QUERIES = Path(__file__).with_suffix(".jsonl")
MODES: tuple[AnswerMode, ...] = ("lexical", "vector", "hybrid")
DEPTH = 10


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", help="folder of the index; the settings' own without it")
    home = parser.parse_args().home
    search = CurrentSymbols(load_settings({"home": home} if home else {})).targets()
    about = search.set.about
    show("targets", f"{len(search.targets)} of {about.repo}@{about.commit}, {about.model}")
    queries = [json.loads(line) for line in QUERIES.read_text(encoding="utf-8").splitlines()]
    for mode in MODES:
        ranks = defaultdict[str, list[int]](list)
        for query in queries:
            rank = first_relevant(search, mode, query["query"], query["relevant"])
            ranks[query["group"]].append(rank)
            ranks["all"].append(rank)
        for group, found in ranks.items():
            show(f"{mode}, {group}", scores(found))


def first_relevant(search: TargetSearch, mode: AnswerMode, query: str, relevant: Collection[str]) -> int:
    """Rank of the first relevant target, from 1; 0 where none of the first ten is."""
    for rank, item in enumerate(search.rank(query, DEPTH, mode), 1):
        target = search.targets[item.place]
        if {target.import_path, target.fqn} & {*relevant}:
            return rank
    return 0


def scores(ranks: Sequence[int]) -> str:
    """Share of queries with an answer first, among the first five, and mean reciprocal rank (of 10)."""
    first = sum(rank == 1 for rank in ranks) / len(ranks)
    five = sum(0 < rank <= 5 for rank in ranks) / len(ranks)
    mean = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return f"R@1 {first:.3f}   R@5 {five:.3f}   MRR {mean:.3f}   n {len(ranks)}"


if __name__ == "__main__":
    main()
