"""`adk-evidence eval`: runs, scores, comparisons and what lies behind them. Heavy imports wait for a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adk_evidence_console import CommandLine, Home, Profile, path_option, say, settings_from, stderr
from adk_evidence_eval.judging.commands import app as judge_app

if TYPE_CHECKING:
    from adk_evidence.search.session import EvidenceService
    from adk_evidence_eval.golden import GoldenQuestion
    from adk_evidence_eval.variants import Bench, Measured, Variant

app = CommandLine("Measure retrieval.")
app.add_typer(judge_app, name="judge")

Golden = Annotated[Path | None, path_option("Questions with the spans that are expected. Without: our own.")]
Goldens = Annotated[
    list[Path] | None,
    typer.Option("--golden", help="Questions with the spans that are expected; repeatable. Without: our own."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TopK = Annotated[int, typer.Option(help="Results a question.", min=1, max=1000)]


@app.command()
def run(
    queries: Annotated[Path, path_option("Questions, one JSON object a line with id and query.")],
    out: Annotated[Path, path_option("Where the run is written, one JSON object a question.")],
    top_k: TopK = 60,
    details: Annotated[
        bool, typer.Option("--details", help="Write the order before the reranker, quality and latency, too.")
    ] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Answer every question of a file and write the rankings."""
    from adk_evidence_eval.golden import read_queries, write_rows
    from adk_evidence_eval.run import run_queries

    questions = read_queries(queries)
    with closing(_service(profile, home)) as service:
        if details:
            # The time of the first question is not that of loading models and symbols.
            next(run_queries(service, questions[:1], 1, details=True))
        count = write_rows(run_queries(service, questions, top_k, details=details), out)
    say(stderr(), f"{count} questions answered, written to {out}")


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

    questions, found = _golden(golden, ask=False), read_run(run)
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

    questions = _golden(golden, ask=False)
    scores = [score_run(read_run(path), questions) for path in (first, second)]
    show(comparison_view(compare_scores(*scores)), as_json=as_json)


@app.command()
def ablation(
    golden: Goldens = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Measure the variants with this in their names; repeatable.")
    ] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Measure what each part adds, from plain BM25 to the settings as they are, and what the parts cost."""
    from adk_evidence.errors import InvalidRequestError
    from adk_evidence_eval.ablation import VARIANTS
    from adk_evidence_eval.footprint import footprints
    from adk_evidence_eval.views import ablation_view, show

    variants = [variant for variant in VARIANTS if not only or any(part in variant.name for part in only)]
    if not variants:
        names = "; ".join(variant.name for variant in VARIANTS)
        raise InvalidRequestError("No variant has such a name.", f"The variants are: {names}.")
    measured = _measure(variants, golden, profile, home)
    with closing(_service(profile, home)) as service, service.session() as session:
        parts = footprints(session.index)
    show(ablation_view(measured, parts), as_json=as_json)


@app.command()
def sweep(
    vary: Annotated[
        list[str],
        typer.Option(
            "--set", help="A setting and its values, e.g. retrieval.fusion=rrf,dbsf; repeatable: all combine."
        ),
    ],
    golden: Goldens = None,
    out: Annotated[Path | None, path_option("Folder for sweep.png and sweep.html; none are made without.")] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Measure every combination of some settings: fusion, limits, ef, expansion, reranker or any other."""
    from adk_evidence_eval.charts import write_charts
    from adk_evidence_eval.extra import charts_library
    from adk_evidence_eval.variants import grid
    from adk_evidence_eval.views import show, variants_view

    variants = grid(vary)
    if out is not None:
        charts_library()
    measured = _measure(variants, golden, profile, home)
    show(variants_view(measured), as_json=as_json)
    if out is not None:
        for path in write_charts(measured, out):
            say(stderr(), f"written to {path}")


@app.command()
def exact(golden: Golden = None, as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Compare the dense branch as configured with a full scan: what does approximate search miss?"""
    from adk_evidence_eval.misses import DENSE_ALONE, ann_misses
    from adk_evidence_eval.views import ann_misses_view, show

    questions = list(_golden(golden).values())
    with (
        closing(_bench(profile, home)) as bench,
        closing(bench.service(DENSE_ALONE)) as configured,
        closing(bench.service({**DENSE_ALONE, "retrieval.exact": True})) as full,
    ):
        show(ann_misses_view(ann_misses(configured, full, questions)), as_json=as_json)


@app.command()
def report(golden: Golden = None, as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Say of every expected span that was missed where it was lost."""
    from adk_evidence_eval.chunks import indexed_chunks
    from adk_evidence_eval.misses import PROBE, explain_misses
    from adk_evidence_eval.views import fates_view, show

    questions = list(_golden(golden).values())
    with (
        closing(_bench(profile, home)) as bench,
        closing(bench.service({})) as service,
        closing(bench.service(PROBE)) as probe,
        indexed_chunks(settings_from(profile, home)) as chunks_of,
    ):
        show(fates_view(explain_misses(service, probe, questions, chunks_of)), as_json=as_json)


@app.command()
def abstention(
    golden: Goldens = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Print the weights of `retrieval.support` that fit one half of the questions.")
    ] = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say how well `quality` tells questions without an answer from those that have one."""
    from adk_evidence.settings import config_file
    from adk_evidence_eval.abstention import fit_support, judge
    from adk_evidence_eval.golden import read_golden
    from adk_evidence_eval.views import abstention_view, show

    paths = golden or [config_file("golden/adk.jsonl"), config_file("golden/abstention.jsonl")]
    questions = {name: one for path in paths for name, one in read_golden(path, ask=True, spans=False).items()}
    with closing(_service(profile, home)) as service:
        judged = list(judge(service, questions.values()))
        used = service.settings.retrieval.support
    weights = fit_support(judged, used.nearest if used else 0.0) if fit else None
    show(abstention_view(judged, weights), as_json=as_json)


@app.command()
def check(
    golden: Golden = None,
    write: Annotated[Path | None, path_option("Write the set with the lines where its spans are now.")] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Look up every span of a golden set in the indexed corpora: does it stand there, and where has it gone?"""
    from adk_evidence_eval.check import check_golden, reanchored
    from adk_evidence_eval.chunks import indexed_texts
    from adk_evidence_eval.golden import golden_lines
    from adk_evidence_eval.views import findings_view, show

    questions = list(_golden(golden).values())
    with indexed_texts(settings_from(profile, home)) as text_of:
        findings = check_golden(questions, text_of)
    show(findings_view(findings), as_json=as_json)
    if write is not None:
        _write(write, golden_lines(reanchored(questions, findings)))
    if any(finding.state not in ("ok", "moved") for finding in findings):
        raise typer.Exit(1)


@app.command()
def selfsupervised(
    out: Annotated[Path, path_option("Where the questions are written, in the form of a golden set.")],
    per_kind: Annotated[int, typer.Option(help="Questions of each kind, at most.", min=1)] = 100,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Make questions that the indexed corpora answer themselves, for training and as a second opinion."""
    import json

    from adk_evidence_eval.chunks import indexed_files
    from adk_evidence_eval.golden import golden_lines
    from adk_evidence_eval.selfsupervised import SOURCES, Corpora, describe, make_questions

    indexed = indexed_files(settings_from(profile, home))
    files = {name: indexed[name] for name in SOURCES if name in indexed}
    corpora = Corpora(*(files[name].texts if name in files else {} for name in SOURCES))
    questions = make_questions(corpora, per_kind)
    about = describe(questions, files)
    _write(out, golden_lines(questions))
    _write(out.with_suffix(".manifest.json"), json.dumps(about, indent=2) + "\n")
    kinds = ", ".join(f"{count} {kind}" for kind, count in about["questions"].items())
    say(stderr(), f"{kinds}; sha256 {about['sha256']}, written to {out}")


def _golden(path: Path | None, *, ask: bool = True) -> Mapping[str, GoldenQuestion]:
    from adk_evidence.settings import config_file
    from adk_evidence_eval.golden import read_golden

    return read_golden(path or config_file("golden/adk.jsonl"), ask=ask)


def _measure(
    variants: Sequence[Variant], goldens: Sequence[Path] | None, profile: str | None, home: str | None
) -> dict[str, list[Measured]]:
    """Every variant on every golden set, by the sets' names; progress goes to stderr."""
    from adk_evidence.settings import config_file
    from adk_evidence_eval.extra import metrics_library
    from adk_evidence_eval.golden import set_names

    metrics_library()
    paths = list(goldens or [config_file("golden/adk.jsonl")])
    sets = dict(zip(set_names(paths), map(_golden, paths), strict=True))
    measured: dict[str, list[Measured]] = {}
    with closing(_bench(profile, home)) as bench:
        for name, golden in sets.items():

            def tell(asked: int, name: str = name, count: int = len(golden)) -> None:
                say(stderr(), f"{name}: {asked} of {count} questions, {len(variants)} variants")

            measured[name] = bench.measure(variants, golden, tell)
    return measured


def _bench(profile: str | None, home: str | None) -> Bench:
    from adk_evidence_eval.variants import Bench

    return Bench(lambda overrides: settings_from(profile, home, **overrides))


def _service(profile: str | None, home: str | None) -> EvidenceService:
    from adk_evidence.search.session import EvidenceService

    return EvidenceService(settings_from(profile, home, telemetry={"event_log": False}))


def _write(path: Path, text: str) -> None:
    from adk_evidence.errors import InvalidRequestError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as exc:
        raise InvalidRequestError(f"{path} cannot be written: {exc.strerror or exc}.", "Name another file.") from exc
