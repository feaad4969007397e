"""`adk-ingest`: the command that builds and checks indexes. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from adk_evidence.errors import InvalidRequestError
from adk_evidence_console import (
    CommandLine,
    Home,
    Profile,
    Result,
    path_argument,
    say,
    settings_from,
    show,
    stderr,
    stdout,
    write_json,
    write_utf8,
)
from adk_evidence_console.pinned import Adk, Project, Python, wanted_adk
from adk_ingest.garbage import one_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from adk_evidence.settings import Settings
    from adk_ingest.commands.reports import Plan
    from adk_ingest.progress import Progress
    from adk_ingest.publishing.manifest import Mode, RunManifest
    from adk_ingest.session import Sources

app = CommandLine("Build and check the index of the ADK docs and source.", "adk-ingest")

Docs = Annotated[
    str | None, typer.Option("--docs", help="Checkout or snapshot of google/adk-docs.", show_default=False)
]
Code = Annotated[
    str | None,
    typer.Option("--code", help="Checkout, wheel or requirement, e.g. google-adk==2.13.0.", show_default=False),
]
Offline = Annotated[bool, typer.Option("--offline", help="Reach no network for the corpora.")]
Compare = Annotated[
    bool, typer.Option("--compare", help="Read every file, also those whose size and times did not change.")
]
Folder = Annotated[
    Path,
    typer.Argument(parser=path_argument, metavar="PATH", help="Folder of the codebase.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: progress as lines, then the result.")]


@app.command()
def docs(
    docs: Docs = None,
    compare: Compare = False,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Ingest the documentation."""
    _ingest("docs", profile, home, as_json, docs=docs, compare=compare, allow_network=not offline)


@app.command()
def code(
    code: Code = None,
    compare: Compare = False,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Ingest the source and the API reference made from it."""
    _ingest("code", profile, home, as_json, code=code, compare=compare, allow_network=not offline)


@app.command("all")
def all_(
    docs: Docs = None,
    code: Code = None,
    adk: Adk = None,
    project: Project = None,
    python: Python = None,
    compare: Compare = False,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Ingest documentation and source; with a version of google-adk, into an index of that version."""
    from adk_ingest.commands.reports import show_run
    from adk_ingest.session import Sources, ingest

    settings = settings_from(profile, home)
    wanted = wanted_adk(adk, project, python)

    def work(progress: Progress) -> RunManifest:
        if wanted is None:
            return ingest(settings, "all", Sources(docs, code, allow_network=not offline, compare=compare), progress)
        from adk_ingest.indexes.version import ingest_version

        sources = replace(_sources_of_version(docs, code, offline), compare=compare)
        return ingest_version(settings, wanted, sources, progress)

    _with_progress(work, show_run, as_json)


@app.command()
def codebase(
    path: Folder,
    name: Annotated[str | None, typer.Option(help="Name of its index; by default the folder's name.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only files that match this glob; repeatable.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No files that match this glob; repeatable.")] = None,
    chunk_tokens: Annotated[
        int | None, typer.Option(help="Largest size of a chunk, in tokens. [default: 1000]")
    ] = None,
    overlap_tokens: Annotated[
        int | None, typer.Option(help="Tokens that a chunk repeats from the one before. [default: 200]")
    ] = None,
    compare: Compare = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Index any codebase under a name, or bring its index up to date."""
    from adk_ingest.commands.codebase import codebase_from, show_index_report
    from adk_ingest.indexes.codebase import CodebaseIndexer

    settings = settings_from(profile, home)
    options = {
        "file_patterns": include,
        "exclude_patterns": exclude,
        "chunk_tokens": chunk_tokens,
        "overlap_tokens": overlap_tokens,
    }
    wanted = codebase_from(settings, path, name, options)
    indexer = CodebaseIndexer(settings)
    _with_progress(lambda progress: indexer.build(wanted, progress, compare=compare), show_index_report, as_json)


@app.command()
def watch(
    path: Folder,
    name: Annotated[str | None, typer.Option(help="Name of its index; by default the folder's name.")] = None,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look again and again, e.g. on a network drive that reports no changes.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each event.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Index a codebase, then keep its index up to date while its files change; Ctrl+C ends this."""
    from adk_ingest.commands.codebase import JsonEvents, PlainEvents, codebase_from
    from adk_ingest.indexes.codebase import CodebaseIndexer
    from adk_ingest.indexes.watch import Watcher
    from adk_ingest.priority import lower_priority

    settings = settings_from(profile, home)
    lower_priority()
    progress = _progress(as_json)
    events = JsonEvents(stdout()) if as_json else PlainEvents(stdout())
    codebase = codebase_from(settings, path, name, {})
    try:
        indexer = CodebaseIndexer(settings, keep_models=True)
        Watcher(settings, indexer, codebase, events, progress, poll=poll).run()
    except KeyboardInterrupt:
        # Whatever was interrupted, the index is that of the last complete run.
        events.ended()


@app.command()
def indexes(as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """List the main index and those of versions and codebases."""
    from adk_evidence.index.registry import list_indexes
    from adk_ingest.commands.codebase import show_indexes

    show(list_indexes(settings_from(profile, home)), show_indexes, as_json=as_json)


@app.command()
def delete(
    name: Annotated[
        str, typer.Argument(help="Name of a codebase's index, or of a version's: adk-1.18.0.", show_default=False)
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Remove the index of a codebase, whose files stay, or the index of a version of google-adk."""
    from adk_ingest.indexes.codebase import CodebaseIndexer

    indexer = CodebaseIndexer(settings_from(profile, home))
    described = indexer.describe(name)
    if not yes:
        _ask(f"Remove the index {described}?", "whether the index may be removed")
    indexer.delete(name)
    say(stderr(), f"The index {name} is removed.")


@app.command()
def plan(
    what: Annotated[str, typer.Argument(help="docs, code or all.")] = "all",
    docs: Docs = None,
    code: Code = None,
    adk: Adk = None,
    project: Project = None,
    python: Python = None,
    offline: Offline = False,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say what an ingestion would do, without doing it: files, chunks, tokens, skipped files, time, price."""
    from adk_ingest.commands.reports import make_plan, show_plan
    from adk_ingest.indexes.version import version_sources
    from adk_ingest.session import Sources
    from adk_ingest.session import plan as plan_session

    settings = settings_from(profile, home)
    sources = Sources(docs, code, allow_network=not offline)
    if (wanted := wanted_adk(adk, project, python)) is not None:
        settings, sources = version_sources(settings, wanted, _sources_of_version(docs, code, offline))

    def dry_run(progress: Progress) -> Plan:
        if what not in ("docs", "code", "all"):
            raise InvalidRequestError(f"There is nothing called {what!r} to ingest.", "Choose docs, code or all.")
        return make_plan(settings, plan_session(settings, cast("Mode", what), sources, progress))

    _with_progress(dry_run, show_plan, as_json)


@app.command()
def verify(
    citations: Annotated[bool, typer.Option("--citations", help="Check the citation of every chunk, too.")] = False,
    adk: Adk = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Check the published index: counts, vectors, samples and, if asked, every citation."""
    from adk_ingest.commands.reports import show_verification, verify_published

    report = verify_published(_index_of(settings_from(profile, home), adk), citations=citations)
    show_verification(report, stdout(), as_json=as_json)
    if not report.ok:
        raise typer.Exit(7)


@app.command()
def status(adk: Adk = None, as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Show the published index, older generations and the last runs."""
    from adk_ingest.commands.reports import make_status, show_status

    show(make_status(_index_of(settings_from(profile, home), adk)), show_status, as_json=as_json)


@app.command()
def rollback(adk: Adk = None, as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Publish the generation before the current one again."""
    from adk_evidence.store.factory import rollback as go_back
    from adk_ingest.commands.reports import make_status

    settings = settings_from(profile, home)
    settings = settings if adk is None else _index_of(settings, adk)
    generation = go_back(settings)
    if as_json:
        write_json(stdout(), make_status(settings))
    else:
        say(stderr(), f"Generation {generation.id} serves now.")


def _ask(question: str, what: str) -> None:
    """End the command unless the person at the terminal agrees; stdout is for results."""
    if not sys.stdin.isatty():
        raise InvalidRequestError(f"There is nobody to ask {what}.", "Add --yes.")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _index_of(settings: Settings, adk: str | None) -> Settings:
    """The settings of the index of a version of the ADK; where none is named, of the one that answers by itself."""
    from adk_evidence.index.registry import settings_of
    from adk_evidence.index.versions import choose_index, index_name, main_version
    from adk_evidence.text.versions import checked_version, is_same_version

    if adk is None:
        return choose_index(settings, None).settings
    version = checked_version(adk)
    return settings if is_same_version(main_version(settings), version) else settings_of(settings, index_name(version))


def _sources_of_version(docs: str | None, code: str | None, offline: bool) -> Sources:
    from adk_ingest.session import Sources

    if code is not None:
        message = "--code and the options that name a version exclude each other."
        raise InvalidRequestError(message, "Leave --code out.")
    return Sources(docs, allow_network=not offline)


def _ingest(mode: Mode, profile: str | None, home: str | None, as_json: bool, **sources: Any) -> None:
    from adk_ingest.commands.reports import show_run
    from adk_ingest.session import Sources, ingest

    settings = settings_from(profile, home)
    _with_progress(lambda progress: ingest(settings, mode, Sources(**sources), progress), show_run, as_json)


def _with_progress(work: Callable[[Progress], Result], view: Callable[[Result, Console], None], as_json: bool) -> None:
    """Do some work, which shows its progress on stderr, and print its result."""
    with _progress(as_json) as progress:
        result = work(progress)
    show(result, view, as_json=as_json)


def _progress(as_json: bool) -> Progress:
    from adk_ingest.commands.progress import make_progress

    return make_progress(stderr(), as_json=as_json)


def run() -> None:
    write_utf8()
    with one_command():
        app()
