"""What the commands print: plans, runs, status and verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

from pydantic import BaseModel, Field
from rich.console import Console

from adk_evidence.commands import with_options
from adk_evidence.services.metering import CAP, PRICES
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence_console import say, table
from adk_ingest.pipeline import DryRun
from adk_ingest.publishing.manifest import CorpusRun, RunManifest, left_out, recorded_runs
from adk_ingest.publishing.verify import VerificationReport, verify_citations, verify_index
from adk_ingest.vectors.caches import CacheStatus

# Measured on two shared cores with passages in int8; an estimate, not a promise.
VECTORS_PER_SECOND = 150.0
STATIC_PER_SECOND = 5000.0
CHUNKS_PER_SECOND = 700.0
# A guess: requests of 60,000 tokens to a hosted model, one after the other.
SECONDS_PER_REQUEST = 3.0
STATUS_RUNS = 5


class Plan(BaseModel):
    """A dry run. Local models cost nothing, so they have no price; nor have models whose price the settings lack."""

    profile: str
    corpora: dict[str, CorpusRun]
    vectors_to_compute: int
    estimated_seconds: float
    requests: int | None = None
    tokens_to_embed: int | None = None
    price_usd: float | None = None
    above_cap: bool = False


class Status(BaseModel):
    """What is published and what ran."""

    home: str
    command: str = Field(default="", exclude=True, description="Builds the index.")
    generation: str | None = None
    created_at: str | None = None
    dense: str | None = None
    fingerprint: dict[str, str | int] = {}
    content: str | None = None
    corpora: dict[str, dict[str, Any]] = {}
    older_generations: list[str] = []
    runs: list[dict[str, Any]] = []
    cache: CacheStatus


def make_plan(settings: Settings, dry: DryRun) -> Plan:
    # The chunks of the files that changed: these would be made.
    corpora = {
        change.corpus.name: change.said.model_copy(update={"chunks": len(change.records)}) for change in dry.changes
    }
    chunks = sum(corpus.chunks for corpus in corpora.values())
    seconds = _embedding_seconds(dry) + chunks / CHUNKS_PER_SECOND
    plan = Plan(
        profile=settings.profile, corpora=corpora, vectors_to_compute=dry.vectors, estimated_seconds=round(seconds, 1)
    )
    if dry.cost is not None:
        plan.requests, plan.tokens_to_embed = dry.cost.requests, dry.cost.tokens
        if dry.cost.usd is not None:
            plan.price_usd = round(dry.cost.usd, 4)
            plan.above_cap = dry.cap is not None and dry.cost.usd > dry.cap
    return plan


def _embedding_seconds(dry: DryRun) -> float:
    if dry.cost is None:
        return dry.vectors / (STATIC_PER_SECOND if dry.is_static else VECTORS_PER_SECOND)
    return max(dry.cost.requests * SECONDS_PER_REQUEST, dry.cost.least_seconds)


def show_plan(plan: Plan, console: Console) -> None:
    corpora = table("corpus", "source", "files", "changed", "removed", "chunks", "tokens")
    for name, corpus in plan.corpora.items():
        numbers = (corpus.files, corpus.files_changed, corpus.files_removed, corpus.chunks, corpus.tokens)
        corpora.add_row(name, f"{corpus.source} {corpus.commit[:12]}", *(f"{number:,}" for number in numbers))
    if plan.corpora:
        console.print(corpora)
    for name, corpus in plan.corpora.items():
        if corpus.skipped:
            say(console, f"{name} skips {_skipped(corpus)}")
        _show_left_out({name: corpus}, console)
    price = "no cost"
    if plan.requests is not None:
        price = f"{plan.requests:,} requests with {plan.tokens_to_embed:,} tokens, {_price(plan)}, without symbols"
    say(
        console,
        f"{plan.vectors_to_compute:,} vectors to compute, about {plan.estimated_seconds:,.0f} s, {price} "
        f"(profile {plan.profile})",
    )
    if plan.above_cap:
        say(console, f"That is above {CAP}: an ingestion would be refused.")


def _price(plan: Plan) -> str:
    if plan.price_usd is not None:
        return f"about ${plan.price_usd:.2f}"
    return f"at a price that the settings do not name ({PRICES}): an ingestion would be refused"


def show_run(run: RunManifest, console: Console) -> None:
    if run.status == "unchanged":
        say(console, f"Nothing changed; generation {run.generation} is up to date.")
        _show_left_out(run.corpora, console)
        return
    points = run.qdrant_counts.get("total", 0)
    corpora = table("corpus", "commit", "files", "changed", "chunks", "skipped", "warnings")
    for name, corpus in run.corpora.items():
        numbers = (f"{number:,}" for number in (corpus.files, corpus.files_changed, corpus.chunks))
        warnings = len(corpus.warnings) + len(corpus.decode_warnings) + len(corpus.parse_failures)
        corpora.add_row(name, corpus.commit[:12], *numbers, _skipped(corpus) or "-", str(warnings))
    console.print(corpora)
    _show_left_out(run.corpora, console)
    seconds = ", ".join(f"{stage} {value:.1f} s" for stage, value in run.seconds.items())
    vectors = f"{run.vectors_embedded:,} vectors computed, {run.vectors_from_cache:,} from the cache"
    what = f"Generation {run.generation} is verified and published: {points:,} points"
    say(console, f"{what}, {vectors}{_share(run)} ({seconds}).")
    for model, spent in run.spent.items():
        say(console, f"{model}: {spent.requests:,} requests, {spent.tokens:,} tokens, ${spent.usd:.2f}")


def _share(run: RunManifest) -> str:
    """How much of all vectors was there already, rounded down."""
    reused = run.vectors_from_cache
    return f", {100 * reused // (reused + run.vectors_embedded)} %" if reused else ""


def make_status(settings: Settings) -> Status:
    generations = open_generations(settings)
    current = generations.current()
    last = list(islice(recorded_runs(settings.paths.runs), STATUS_RUNS))
    if not generations.is_being_written():
        store = settings.model_dump(mode="json", include={"store"})["store"]
        for run in last:
            # The run was killed, and no later run has recorded that yet.
            if run.is_unfinished(store):
                run.status = "interrupted"
    shown = {"run_id", "status", "mode", "started_at", "finished_at", "errors"}
    runs = [run.model_dump(mode="json", include=shown) for run in last]
    status = Status(
        home=str(settings.paths.root), command=settings.ingest_command, runs=runs, cache=CacheStatus.of(settings)
    )
    if current is not None:
        manifest = current.manifest
        status.generation, status.created_at, status.dense = current.id, manifest.created_at, manifest.dense
        status.fingerprint, status.content = manifest.fingerprint, manifest.content
        status.corpora = {
            name: {
                "repo": corpus.repo,
                "commit": corpus.commit,
                "source": corpus.source,
                "files": len(corpus.files),
                "chunks": corpus.chunks,
                "with_questions": corpus.with_questions,
                "content": corpus.content,
                "failed_files": corpus.failed_files(),
            }
            for name, corpus in manifest.corpora.items()
        }
        status.older_generations = [other.id for other in generations.published() if other.id != current.id]
    return status


def show_status(status: Status, console: Console) -> None:
    if status.generation is None:
        say(console, f"Nothing is indexed in {status.home}. {with_options(f'Run `{status.command}`.')}")
    else:
        model = status.fingerprint.get("dense_model", "unknown")
        say(console, f"Generation {status.generation} of {status.created_at}, dense {status.dense} ({model})")
        corpora = table("corpus", "repository", "commit", "source", "files", "chunks", "with questions", "content")
        for name, corpus in status.corpora.items():
            counts = (f"{corpus[name]:,}" for name in ("files", "chunks", "with_questions"))
            corpora.add_row(
                name, corpus["repo"], corpus["commit"][:12], corpus["source"], *counts, corpus["content"][:12]
            )
        console.print(corpora)
        if status.content is not None:
            say(console, f"Content of all: {status.content[:12]}; an index of the same content has the same.", "dim")
        for name, corpus in status.corpora.items():
            for sentence in left_out(name, corpus["failed_files"], ()):
                say(console, f"incomplete: {sentence}", "yellow")
    say(console, f"Computed vectors: {status.cache}.")
    say(console, "Kept answers and their hit rates are those of a running server, whose own status tells them.", "dim")
    for run in status.runs:
        errors = f": {run['errors'][0]}" if run["errors"] else ""
        say(console, f"{run['started_at']}  {run['mode']:<4}  {run['status']}{errors}")


def verify_published(settings: Settings, *, citations: bool) -> VerificationReport:
    """Check the published generation.

    Raises:
        IndexMissingError: Nothing is published.
        IndexMismatchError: Questions refuse the index, which another version or other models built.
    """
    from adk_evidence.index.opened import check_readable, source_readers

    with open_generations(settings).open_current() as lease:
        check_readable(lease.manifest, settings)
        store = open_reader(lease.folder, settings)
        try:
            report = verify_index(store, lease.manifest, settings.store)
            if citations:
                readers = source_readers(lease.manifest, lease.folder)
                report.citations = verify_citations(store, settings.store, readers)
        finally:
            store.close()
    return report


def show_verification(report: VerificationReport, console: Console, *, as_json: bool) -> None:
    """Print what a verification found."""
    if as_json:
        console.print_json(data={"ok": report.ok, **asdict(report)})
        return
    counts = ", ".join(f"{name} {count:,}" for name, count in report.counts.items())
    say(console, f"Counts: {counts}. Sampled points: {report.sampled}.")
    if report.citations:
        states = ", ".join(f"{count:,} {state}" for state, count in report.citations.items())
        say(console, f"Citations: {states}.")
    for problem in report.problems:
        say(console, f"problem: {problem}", "red")
    if report.ok:
        console.print("The index is verified.", style="green")


def _skipped(corpus: CorpusRun) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(corpus.skipped.items()))


def _show_left_out(corpora: Mapping[str, CorpusRun], console: Console) -> None:
    for name, corpus in corpora.items():
        for sentence in left_out(name, corpus.failed_files, corpus.chunks_without_terms):
            say(console, sentence, "yellow")
