"""Search of any codebase, on questions whose answers are files.

    python -m tests.benchmarks.code_search ANNOTATIONS CHECKOUTS [--home HOME]

ANNOTATIONS is a folder as in the benchmark of MinishLab/semble: `repos.json` names each repository with its language,
its searched folder and perhaps the published figures of other systems, and a file for each repository has its questions
with the files that answer. CHECKOUTS has each repository, at the pinned revision, in a folder of its name. HOME keeps
the indexes; an index that is there is used again.

Prints ingestion times; nDCG@10 by repository, language and category with 95 % bootstrap intervals, for code alone and
for code with docs; the time of a question; and the questions that are answered worst. A file counts at its first place
among the first ten results, as in that benchmark.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adk_evidence.desk import Indexes
from adk_evidence.index.registry import names_of_all
from adk_evidence.models.chunk import SourceType
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.search.session import Session
from adk_evidence.settings import Settings, load_settings
from adk_evidence_eval.bootstrap import mean_interval
from adk_ingest.commands.codebase import codebase_from
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from tests.benchmarks.measure import show, spread

DEPTH = 10
WORST = 20
SIDES: dict[str, tuple[SourceType, ...]] = {"code": ("code",), "with docs": ("docs", "code")}


class Answer(NamedTuple):
    """A question, its nDCG@10 with what was searched, what was wanted, and which files were shown."""

    repository: str
    language: str
    side: str
    question: dict[str, Any]
    ndcg: float
    wanted: Sequence[str]
    shown: Sequence[str]
    seconds: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotations", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--home", type=Path, help="folder of the indexes; a temporary one without it")
    parser.add_argument("--only", nargs="*", help="names of repositories")
    options = parser.parse_args()
    repositories = json.loads((options.annotations / "repos.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="adk-evidence-code-search-") as folder:
        settings = load_settings({"home": str(options.home or folder)})
        answers = [
            answer
            for repository in repositories
            if not options.only or repository["name"] in options.only
            for answer in answers_of(settings, repository, options.annotations, options.checkouts)
        ]
    report(answers, {each["name"]: each.get("published_ndcg10", {}) for each in repositories})


def answers_of(settings: Settings, repository: dict[str, Any], annotations: Path, checkouts: Path) -> Iterator[Answer]:
    """Index a repository, unless its index is there, and put its questions to the index."""
    name, below = repository["name"], repository.get("benchmark_root") or ""
    if name not in names_of_all(settings):
        begin = time.perf_counter()
        done = CodebaseIndexer(settings).build(codebase_from(settings, checkouts / name / below, name, {}), Progress())
        show(f"{name}, ingestion", f"{time.perf_counter() - begin:.1f} s, {done.files} files, {done.chunks} chunks")
    indexes = Indexes(settings)
    questions = json.loads((annotations / f"{name}.json").read_text(encoding="utf-8"))
    with indexes.service(indexes.named(name).settings).session() as session:
        session.rank(EvidenceRequest(query="what loads the models"))
        for question in questions:
            places = [*question["relevant"], *question["secondary"]]
            # A place is a file, or lines of a file.
            wanted = [place if isinstance(place, str) else place["path"] for place in places]
            for side, sources in SIDES.items():
                begin = time.perf_counter()
                shown = files_shown(session, question["query"], sources)
                seconds = time.perf_counter() - begin
                yield Answer(name, repository["language"], side, question, ndcg(shown, wanted), wanted, shown, seconds)


def files_shown(session: Session, query: str, sources: tuple[SourceType, ...]) -> list[str]:
    """The file of each of the first results."""
    filters = EvidenceFilters(source_types=sources)
    request = EvidenceRequest(query=query, max_results_final=DEPTH, task_mode="explain", filters=filters)
    return [hit.payload.path for hit in session.rank(request).final]


def ndcg(shown: Sequence[str], wanted: Sequence[str]) -> float:
    """nDCG@10 of files, all wanted ones equally; a file that is shown several times counts at its first place."""
    places = [shown.index(path) for path in wanted if path in shown]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(len(wanted), DEPTH)))
    return sum(1 / math.log2(place + 2) for place in places) / ideal


def report(answers: Sequence[Answer], published: dict[str, dict[str, float]]) -> None:
    """Print the tables, the times and the worst questions."""
    by: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        for group in (answer.repository, answer.language, answer.question["category"], "all questions"):
            by[group][answer.side].append(answer.ndcg)
    for group, sides in by.items():
        mean = "   ".join(f"{side} {_interval(values)}" for side, values in sides.items())
        others = "  ".join(f"{name} {value:.3f}" for name, value in published.get(group, {}).items())
        show(group, f"{mean}   n {len(sides['code'])}   {others}")
    means = {
        side: [sum(by[name][side]) / len(by[name][side]) for name in {answer.repository for answer in answers}]
        for side in SIDES
    }
    for side, values in means.items():
        show(f"mean of repositories, {side}", f"{sum(values) / len(values):.3f}")
    show("a question", spread([answer.seconds * 1000 for answer in answers]))
    for answer in sorted((one for one in answers if one.side == "code"), key=lambda one: one.ndcg)[:WORST]:
        print(f"{answer.ndcg:.2f} {answer.repository}: {answer.question['query']}")
        print(f"     wanted {', '.join(answer.wanted)}; shown {', '.join(answer.shown[:5])}")


def _interval(values: Sequence[float]) -> str:
    found = mean_interval(values)
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"


if __name__ == "__main__":
    main()
