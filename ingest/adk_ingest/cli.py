"""`adk-ingest`: docs, code, all, forget, codebase, indexes, delete, targets, plan, verify, status, prune, sync,
rollback.

Heavy imports wait until a command runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from adk_evidence_console import CommandLine, Home, Profile, named_path, say, settings_from, stderr, stdout, write_utf8

if TYPE_CHECKING:
    from adk_ingest.manifest import Mode

app = CommandLine("Build and check the index of the ADK docs and source.", "adk-ingest")

Docs = Annotated[
    str | None, typer.Option("--docs", help="Checkout or snapshot of google/adk-docs.", show_default=False)
]
Code = Annotated[
    str | None,
    typer.Option("--code", help="Checkout, wheel or requirement, e.g. google-adk==2.13.0.", show_default=False),
]
Offline = Annotated[bool, typer.Option("--offline", help="Reach no network for the corpora.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: progress as lines, then the result.")]


@app.command()
def docs(
    docs: Docs = None, offline: Offline = False, as_json: AsJson = False, profile: Profile = None, home: Home = None
) -> None:
    """Ingest the documentation."""
    _ingest("docs", docs, None, offline, as_json, profile, home)


@app.command()
def code(
    code: Code = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the indexed version, and add this one beside it.")] = False,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Ingest the source and the API reference made from it."""
    _ingest("code", None, code, offline, as_json, profile, home, keep_code=keep)


@app.command()
def forget(
    version: Annotated[str, typer.Argument(help="Version that `code --keep` added, e.g. v1.18.0.", show_default=False)],
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Take a version of the source away that is kept beside the indexed one."""
    from adk_ingest.progress_views import make_progress
    from adk_ingest.reports import show_run
    from adk_ingest.session import forget as forget_version

    settings = settings_from(profile, home)
    with make_progress(stderr(), as_json=as_json) as progress:
        run = forget_version(settings, version, progress)
    show_run(run, stdout(), as_json=as_json)


@app.command("all")
def all_(
    docs: Docs = None,
    code: Code = None,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Ingest documentation and source."""
    _ingest("all", docs, code, offline, as_json, profile, home)


@app.command()
def codebase(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder of the codebase.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Name of its index; by default the folder's name.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only files that match this glob; repeatable.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No files that match this glob; repeatable.")] = None,
    chunk_tokens: Annotated[int | None, typer.Option(help="Largest size of a chunk. [default: 1000]")] = None,
    overlap_tokens: Annotated[
        int | None, typer.Option(help="What a chunk repeats of the one before it. [default: 200]")
    ] = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Index any codebase under a name of its own, or bring that index up to date."""
    from adk_ingest.codebase import CodebaseIndexer
    from adk_ingest.codebase_views import codebase_from, show_index_report
    from adk_ingest.progress_views import make_progress

    settings = settings_from(profile, home)
    options = {
        "file_patterns": include,
        "exclude_patterns": exclude,
        "chunk_tokens": chunk_tokens,
        "overlap_tokens": overlap_tokens,
    }
    wanted = codebase_from(settings, Path(named_path(path, "PATH")), name, options)
    with make_progress(stderr(), as_json=as_json) as progress:
        report = CodebaseIndexer(settings).build(wanted, progress)
    show_index_report(report, stdout(), as_json=as_json)


@app.command()
def indexes(as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """List the main index and those of codebases."""
    from adk_evidence.index.registry import list_indexes
    from adk_ingest.codebase_views import show_indexes

    show_indexes(list_indexes(settings_from(profile, home)), stdout(), as_json=as_json)


@app.command()
def delete(
    name: Annotated[str, typer.Argument(help="Name of a codebase's index.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Remove the index of a codebase; the codebase itself is not touched."""
    from adk_evidence.errors import InvalidRequestError
    from adk_ingest.codebase import CodebaseIndexer

    indexer = CodebaseIndexer(settings_from(profile, home))
    described = indexer.describe(name)
    if not yes and not sys.stdin.isatty():
        raise InvalidRequestError("There is nobody to ask whether the index may be removed.", "Add --yes.")
    if not yes and not typer.confirm(f"Remove the index {described}?"):
        raise typer.Exit(1)
    indexer.delete(name)
    say(stderr(), f"The index {name} is removed.")


@app.command()
def targets(
    vectors: Annotated[bool, typer.Option(help="Embed the targets, so that they are found by meaning.")] = True,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Rank the public symbols of the published index, for `adk-evidence symbol`."""
    from adk_ingest.progress_views import make_progress
    from adk_ingest.reports import show_targets
    from adk_ingest.targets.build import build_targets

    settings = settings_from(profile, home)
    with make_progress(stderr(), as_json=as_json) as progress:
        report = build_targets(settings, progress, vectors=vectors)
    show_targets(report, stdout(), as_json=as_json)


@app.command()
def plan(
    what: Annotated[str, typer.Argument(help="docs, code, all, or targets: the vectors of ranked targets.")] = "all",
    docs: Docs = None,
    code: Code = None,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say what an ingestion would do, without doing it: files, chunks, tokens, skipped files, time, price."""
    from adk_ingest.progress_views import make_progress
    from adk_ingest.reports import make_plan, show_plan
    from adk_ingest.session import Sources
    from adk_ingest.session import plan as plan_session
    from adk_ingest.targets.build import plan_targets

    settings = settings_from(profile, home)
    with make_progress(stderr(), as_json=as_json) as progress:
        if what == "targets":
            dry = plan_targets(settings, progress)
        else:
            sources = Sources(docs, code, allow_network=not offline)
            dry = plan_session(settings, _mode(what), sources, progress)
    show_plan(make_plan(settings, dry), stdout(), as_json=as_json)


@app.command()
def verify(
    citations: Annotated[bool, typer.Option("--citations", help="Check the citation of every chunk, too.")] = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Check the published index: counts, vectors, samples and, if asked, every citation."""
    from adk_ingest.reports import show_verification, verify_published

    report = verify_published(settings_from(profile, home), citations=citations)
    show_verification(report, stdout(), as_json=as_json)
    if not report.ok:
        raise typer.Exit(7)


@app.command()
def status(as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Show the published index, older generations and the last runs."""
    from adk_ingest.reports import make_status, show_status

    show_status(make_status(settings_from(profile, home)), stdout(), as_json=as_json)


@app.command()
def prune(as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Remove cached vectors that no index uses; an interrupted run then starts from the beginning."""
    from adk_ingest.caches import CacheStatus, prune_cache
    from adk_ingest.reports import show_pruned

    settings = settings_from(profile, home)
    removed = prune_cache(settings, 0)
    show_pruned(removed, CacheStatus.of(settings), stdout(), as_json=as_json)


@app.command()
def sync(
    docs_ref: Annotated[str | None, typer.Option(help="Branch, tag or commit of google/adk-docs.")] = None,
    code_ref: Annotated[str | None, typer.Option(help="Branch, tag or commit of google/adk-python.")] = None,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Clone or update the repositories of docs and source, which later ingestions then use."""
    from adk_ingest.sources.resolve import sync_clone

    settings = settings_from(profile, home)
    console = stderr()
    for corpus, ref in ((settings.corpora["doc"], docs_ref), (settings.corpora["code"], code_ref)):
        source = sync_clone(settings, corpus, ref, notify=lambda text: say(console, text))
        say(console, f"{source.describe()} is at {source.root}")


@app.command()
def rollback(as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Publish the generation before the current one again."""
    from adk_evidence.store.factory import rollback as go_back
    from adk_ingest.reports import make_status, show_status

    settings = settings_from(profile, home)
    generation = go_back(settings)
    if as_json:
        show_status(make_status(settings), stdout(), as_json=True)
    else:
        say(stderr(), f"Generation {generation.id} serves now.")


def _ingest(
    what: str,
    docs: str | None,
    code: str | None,
    offline: bool,
    as_json: bool,
    profile: str | None,
    home: str | None,
    *,
    keep_code: bool = False,
) -> None:
    from adk_ingest.progress_views import make_progress
    from adk_ingest.reports import show_run
    from adk_ingest.session import Sources, ingest

    settings = settings_from(profile, home)
    with make_progress(stderr(), as_json=as_json) as progress:
        sources = Sources(docs, code, allow_network=not offline, keep_code=keep_code)
        run = ingest(settings, _mode(what), sources, progress)
    show_run(run, stdout(), as_json=as_json)


def _mode(what: str) -> Mode:
    from adk_evidence.errors import InvalidRequestError

    if what not in ("docs", "code", "all"):
        raise InvalidRequestError(f"There is nothing called {what!r} to ingest.", "Choose docs, code, all or targets.")
    return cast("Mode", what)


def run() -> None:
    """Entry point of the console script."""
    write_utf8()
    app()
