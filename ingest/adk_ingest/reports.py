"""What the commands print: plans, runs, status and verification, for people or as JSON."""

from __future__ import annotations

from itertools import islice
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from adk_evidence.commands import with_options
from adk_evidence.index.opened import source_readers
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations, open_reader
from adk_evidence_console import say, write_json
from adk_ingest.caches import CacheStatus, megabytes
from adk_ingest.manifest import CorpusRun, RunFiles, RunManifest, left_out
from adk_ingest.pipeline import DryRun
from adk_ingest.targets.build import TargetsReport
from adk_ingest.verify import VerificationReport, verify_citations, verify_index

# Measured on two shared cores with passages in int8; an estimate, not a promise.
VECTORS_PER_SECOND = 150.0
CHUNKS_PER_SECOND = 700.0
# A guess: requests of 60,000 tokens to a hosted model, one after the other.
SECONDS_PER_REQUEST = 3.0
STATUS_RUNS = 5


class Plan(BaseModel):
    """A dry run."""

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
    generation: str | None
    created_at: str | None = None
    dense: str | None = None
    fingerprint: dict[str, str | int] = {}
    corpora: dict[str, dict[str, Any]] = {}
    older_generations: list[str] = []
    runs: list[dict[str, Any]] = []
    cache: CacheStatus


def make_plan(settings: Settings, dry: DryRun) -> Plan:
    """Numbers of a dry run. Local models cost nothing, so they have no price."""
    # What would be made: the chunks of the files that changed.
    corpora = {
        change.corpus.name: change.said.model_copy(update={"chunks": len(change.records)}) for change in dry.changes
    }
    chunks = sum(corpus.chunks for corpus in corpora.values())
    seconds = _embedding_seconds(settings, dry) + chunks / CHUNKS_PER_SECOND
    plan = Plan(
        profile=settings.profile, corpora=corpora, vectors_to_compute=dry.vectors, estimated_seconds=round(seconds, 1)
    )
    if dry.cost is None:
        return plan
    return plan.model_copy(
        update={
            "requests": dry.cost.requests,
            "tokens_to_embed": dry.cost.tokens,
            "price_usd": round(dry.cost.usd, 4),
            "above_cap": dry.cost.usd > settings.embedding.voyage.max_cost_usd,
        }
    )


def _embedding_seconds(settings: Settings, dry: DryRun) -> float:
    if dry.cost is None:
        return dry.vectors / VECTORS_PER_SECOND
    voyage = settings.embedding.voyage
    allowed = max(dry.cost.requests / voyage.requests_per_minute, dry.cost.tokens / voyage.tokens_per_minute) * 60
    return max(dry.cost.requests * SECONDS_PER_REQUEST, allowed)


def show_plan(plan: Plan, console: Console, *, as_json: bool) -> None:
    """Print a plan."""
    if as_json:
        write_json(console, plan)
        return
    table = _table("corpus", "source", "files", "changed", "removed", "chunks", "tokens")
    for name, corpus in plan.corpora.items():
        numbers = (corpus.files, corpus.files_changed, corpus.files_removed, corpus.chunks, corpus.tokens)
        table.add_row(name, f"{corpus.source} {corpus.commit[:12]}", *(f"{number:,}" for number in numbers))
    if plan.corpora:
        console.print(table)
    for name, corpus in plan.corpora.items():
        if corpus.skipped:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(corpus.skipped.items()))
            say(console, f"{name} skips {reasons}")
        _show_left_out(name, corpus, console)
    price = "no cost"
    if plan.price_usd is not None:
        price = f"{plan.requests:,} requests with {plan.tokens_to_embed:,} tokens, about ${plan.price_usd:.2f}"
    say(
        console,
        f"{plan.vectors_to_compute:,} vectors to compute, about {plan.estimated_seconds:,.0f} s, {price} "
        f"(profile {plan.profile})",
    )
    if plan.above_cap:
        say(console, "That is above embedding.voyage.max_cost_usd: an ingestion would be refused.")


def show_run(run: RunManifest, console: Console, *, as_json: bool) -> None:
    """Print what a run did."""
    if as_json:
        write_json(console, run)
        return
    if run.status == "unchanged":
        say(console, f"Nothing changed; generation {run.generation} is up to date.")
        for name, corpus in run.corpora.items():
            _show_left_out(name, corpus, console)
        return
    table = _table("corpus", "commit", "files", "changed", "chunks", "skipped", "warnings")
    for name, corpus in run.corpora.items():
        warnings = len(corpus.warnings) + len(corpus.decode_warnings) + len(corpus.parse_failures)
        table.add_row(
            name,
            corpus.commit[:12],
            f"{corpus.files:,}",
            f"{corpus.files_changed:,}",
            f"{corpus.chunks:,}",
            ", ".join(f"{count} {reason}" for reason, count in sorted(corpus.skipped.items())) or "-",
            str(warnings),
        )
    console.print(table)
    for name, corpus in run.corpora.items():
        _show_left_out(name, corpus, console)
    seconds = ", ".join(f"{stage} {value:.1f} s" for stage, value in run.seconds.items())
    say(
        console,
        f"Generation {run.generation} is verified and published: {run.qdrant_counts.get('total', 0):,} points, "
        f"{run.vectors_embedded:,} vectors computed, {run.vectors_from_cache:,} from the cache ({seconds}).",
    )
    for model, spent in run.spent.items():
        line = f"{model}: {spent.requests:,} requests, {spent.tokens:,} tokens, ${spent.usd:.2f}"
        say(console, line)


def show_pruned(removed: int, cache: CacheStatus, console: Console, *, as_json: bool) -> None:
    """Print what a pruning of the cache removed."""
    if as_json:
        console.print_json(data={"removed": removed, **cache.model_dump()})
        return
    vectors = "1 vector is" if removed == 1 else f"{removed:,} vectors are"
    say(console, f"{vectors} removed; the cache now takes {megabytes(cache.bytes)}.")


def show_targets(report: TargetsReport, console: Console, *, as_json: bool) -> None:
    """Print what a build of ranked targets did."""
    if as_json:
        write_json(console, report)
        return
    if report.status == "unchanged":
        say(console, f"Nothing changed; the {report.targets:,} targets are up to date.")
        return
    by_meaning = (
        f"{report.vectors_embedded:,} vectors computed, {report.vectors_from_cache:,} from the cache"
        if report.vectors
        else "without vectors"
    )
    line = f"{report.targets:,} targets of {report.repo}@{report.commit[:12]}, {by_meaning} ({report.seconds:.1f} s)."
    say(console, line)
    say(console, str(report.folder))


def make_status(settings: Settings) -> Status:
    """What is published in the settings' home folder, and its last runs."""
    generations = open_generations(settings)
    current = generations.current()
    last = list(islice(RunFiles(settings.paths.runs).runs(), STATUS_RUNS))
    if not generations.is_being_written():
        store = settings.model_dump(mode="json", include={"store"})["store"]
        for run in last:
            # It was killed, and the next run has not yet written that down.
            if run.is_unfinished(store):
                run.status = "interrupted"
    shown = {"run_id", "status", "mode", "started_at", "finished_at", "errors"}
    runs = [run.model_dump(mode="json", include=shown) for run in last]
    status = Status(home=str(settings.paths.root), generation=None, runs=runs, cache=CacheStatus.of(settings))
    if current is None:
        return status
    manifest = current.manifest
    return status.model_copy(
        update={
            "generation": current.id,
            "created_at": manifest.created_at,
            "dense": manifest.dense,
            "fingerprint": manifest.fingerprint,
            "corpora": {
                name: {
                    "repo": corpus.repo,
                    "commit": corpus.commit,
                    "source": corpus.source,
                    "files": len(corpus.files),
                    "chunks": corpus.chunks,
                    "failed_files": corpus.failed_files(),
                }
                for name, corpus in manifest.corpora.items()
            },
            "older_generations": [other.id for other in generations.published() if other.id != current.id],
        }
    )


def show_status(status: Status, console: Console, *, as_json: bool) -> None:
    """Print a status."""
    if as_json:
        write_json(console, status)
        return
    if status.generation is None:
        mend = with_options("Run `adk-ingest all`.")
        say(console, f"Nothing is indexed in {status.home}. {mend}")
    else:
        say(console, f"Generation {status.generation} of {status.created_at}, dense {status.dense}")
        table = _table("corpus", "repository", "commit", "source", "files", "chunks")
        for name, corpus in status.corpora.items():
            counts = (f"{corpus['files']:,}", f"{corpus['chunks']:,}")
            table.add_row(name, corpus["repo"], corpus["commit"][:12], corpus["source"], *counts)
        console.print(table)
        for name, corpus in status.corpora.items():
            for sentence in left_out(name, corpus["failed_files"], ()):
                say(console, f"incomplete: {sentence}", "yellow")
    say(console, f"Computed vectors: {status.cache}.")
    for run in status.runs:
        errors = f": {run['errors'][0]}" if run["errors"] else ""
        line = f"{run['started_at']}  {run['mode']:<4}  {run['status']}{errors}"
        say(console, line)


def verify_published(settings: Settings, *, citations: bool) -> VerificationReport:
    """Check the published generation.

    Raises:
        IndexMissingError: Nothing is published.
    """
    lease = open_generations(settings).open_current()
    try:
        store = open_reader(lease.folder, settings)
        try:
            report = verify_index(store, lease.manifest, settings.store)
            if citations:
                readers = source_readers(lease.manifest, lease.folder)
                report.citations = verify_citations(store, settings.store, readers)
        finally:
            store.close()
    finally:
        lease.release()
    return report


def show_verification(report: VerificationReport, console: Console, *, as_json: bool) -> None:
    """Print what a verification found."""
    if as_json:
        data = {
            "ok": report.ok,
            "counts": report.counts,
            "sampled": report.sampled,
            "citations": report.citations,
            "problems": report.problems,
        }
        console.print_json(data=data)
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


def _show_left_out(name: str, corpus: CorpusRun, console: Console) -> None:
    for sentence in left_out(name, corpus.failed_files, corpus.chunks_without_terms):
        say(console, sentence, "yellow")


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        numeric = column in ("files", "changed", "removed", "chunks", "tokens", "warnings")
        table.add_column(column, justify="right" if numeric else "left")
    return table
