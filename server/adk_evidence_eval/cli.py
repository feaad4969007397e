"""`adk-evidence eval`: runs, scores, comparisons and what lies behind them. Heavy imports wait for a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adk_evidence_console import CommandLine, Home, Profile, path_option, say, settings_from, stderr

if TYPE_CHECKING:
    from adk_evidence.search.session import EvidenceService
    from adk_evidence_eval.golden import GoldenQuestion
    from adk_evidence_eval.variants import Bench, Measured, Variant

app = CommandLine("Measure retrieval.")

Golden = Annotated[Path | None, path_option("Questions with the expected spans. [default: our own]")]
Goldens = Annotated[
    list[Path] | None,
    typer.Option("--golden", help="Questions with the expected spans; repeatable. [default: our own]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TopK = Annotated[int, typer.Option(help="Results for each question.", min=1, max=1000)]


@app.command()
def run(
    queries: Annotated[Path, path_option("Questions: in each line a JSON object with id and query.")],
    out: Annotated[Path, path_option("Where the run is written: a JSON object for each question.")],
    top_k: TopK = 60,
    details: Annotated[
        bool, typer.Option("--details", help="Write the order before the reranker, quality and latency, too.")
    ] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Answer every question of a file and write the rankings."""
    from adk_evidence_eval.golden import read_queries, write_file, written
    from adk_evidence_eval.run import run_queries

    questions = read_queries(queries)
    with closing(open_service(profile, home)) as service:
        if details:
            # The time of the first question is not that of loading models and symbols.
            next(run_queries(service, questions[:1], 1, details=True))
        write_file(out, written(run_queries(service, questions, top_k, details=details)))
    say(stderr(), f"{len(questions)} questions answered, written to {out}")


@app.command()
def score(
    run: Annotated[Path, path_option("What `eval run` wrote.")],
    golden: Golden = None,
    as_json: AsJson = False,
) -> None:
    """Score a run: recall, MRR, nDCG, recall within budgets of tokens, with intervals and by category."""
    from adk_evidence_eval.run import read_run
    from adk_evidence_eval.score import score_run
    from adk_evidence_eval.views import scores_view, show

    questions, found = read_set(golden, ask=False), read_run(run)
    scores = score_run(found, questions)
    show(scores_view(scores, questions, sum(name in found for name in scores)), as_json=as_json)


@app.command()
def compare(
    first: Annotated[Path, path_option("A run.")],
    second: Annotated[Path, path_option("Another run over the same questions.")],
    golden: Golden = None,
    as_json: AsJson = False,
) -> None:
    """Say by how much a second run is better than a first, with paired bootstrap intervals."""
    from adk_evidence_eval.run import read_run
    from adk_evidence_eval.score import compare_scores, score_run
    from adk_evidence_eval.views import comparison_view, show

    questions = read_set(golden, ask=False)
    scores = [score_run(read_run(path), questions) for path in (first, second)]
    show(comparison_view(compare_scores(*scores)), as_json=as_json)


@app.command()
def ablation(
    golden: Goldens = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Measure only variants whose names contain this; repeatable.")
    ] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Measure what each part adds, from plain BM25 to the settings as they are."""
    from adk_evidence.errors import InvalidRequestError
    from adk_evidence_eval.ablation import VARIANTS
    from adk_evidence_eval.views import show, variants_view

    variants = [variant for variant in VARIANTS if not only or any(part in variant.name for part in only)]
    if not variants:
        names = "; ".join(variant.name for variant in VARIANTS)
        raise InvalidRequestError("No variant has such a name.", f"The variants are: {names}.")
    show(variants_view(measure(variants, golden, profile, home)), as_json=as_json)


@app.command()
def check(
    golden: Golden = None,
    write: Annotated[Path | None, path_option("Write the set with the lines where its spans are now.")] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say whether each span of a golden set still stands in the indexed corpora, and where it is now."""
    from adk_evidence_eval.check import check_golden, indexed_texts, reanchored
    from adk_evidence_eval.golden import golden_lines, write_file
    from adk_evidence_eval.views import findings_view, show

    questions = list(read_set(golden).values())
    with indexed_texts(settings_from(profile, home)) as text_of:
        findings = check_golden(questions, text_of)
    show(findings_view(findings), as_json=as_json)
    if write is not None:
        write_file(write, golden_lines(reanchored(questions, findings)))
    if any(finding.state not in ("ok", "moved") for finding in findings):
        raise typer.Exit(1)


def read_set(path: Path | None, *, ask: bool = True) -> Mapping[str, GoldenQuestion]:
    from adk_evidence.paths import config_file
    from adk_evidence_eval.golden import read_golden

    return read_golden(path or config_file("golden/adk.jsonl"), ask=ask)


def measure(
    variants: Sequence[Variant], goldens: Sequence[Path] | None, profile: str | None, home: str | None
) -> dict[str, list[Measured]]:
    """Every variant on every golden set, by the sets' names; progress goes to stderr."""
    from adk_evidence.paths import config_file
    from adk_evidence_eval.extra import metrics_library
    from adk_evidence_eval.golden import set_names

    metrics_library()
    paths = list(goldens or [config_file("golden/adk.jsonl")])
    sets = dict(zip(set_names(paths), map(read_set, paths), strict=True))
    measured: dict[str, list[Measured]] = {}
    with closing(open_bench(profile, home)) as bench:
        for name, golden in sets.items():

            def tell(asked: int, name: str = name, count: int = len(golden)) -> None:
                say(stderr(), f"{name}: {asked} of {count} questions, {len(variants)} variants")

            measured[name] = bench.measure(variants, golden, tell)
    return measured


def open_bench(profile: str | None, home: str | None) -> Bench:
    from adk_evidence_eval.variants import Bench

    return Bench(lambda overrides: settings_from(profile, home, **overrides))


def open_service(profile: str | None, home: str | None) -> EvidenceService:
    from adk_evidence.search.session import EvidenceService

    return EvidenceService(settings_from(profile, home, telemetry={"event_log": False}))
