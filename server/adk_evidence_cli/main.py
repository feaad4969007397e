"""`adk-evidence`: ask, symbol, lint, operate, analyze, doctor, demo and evaluation.

Heavy imports wait until a command runs.
"""

from __future__ import annotations

from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from adk_evidence import __version__
from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence_cli.serve import app as serve_app
from adk_evidence_cli.serve import lacks_sdk
from adk_evidence_cli.setup.clients import Agent
from adk_evidence_cli.versions.commands import diff, drift, lint, upgrade
from adk_evidence_console import (
    AsMarkdown,
    CommandLine,
    Form,
    Home,
    Profile,
    Roots,
    friendly_errors,
    path_option,
    read_stdin,
    say,
    settings_from,
    show,
    stderr,
    stdout,
    write_utf8,
)
from adk_evidence_console.pinned import Adk, Project, Python, detected_adk, wanted_adk
from adk_evidence_eval.cli import app as eval_app

app = CommandLine("Verified evidence from the Google ADK docs and source.", "adk-evidence")
app.add_typer(eval_app, name="eval")
app.add_typer(serve_app, name="serve")


# As `models.request.TaskMode`, whose module takes long to import.
Mode = Literal["build", "debug", "explain", "refactor"]
Source = Literal["docs", "code", "both"]
Query = Annotated[
    str | None,
    typer.Argument(help="A question, an error, a traceback or a symbol; - reads it from stdin.", show_default=False),
]
ModeOption = Annotated[Mode, typer.Option("--mode", help="What the evidence is for.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the exact Evidence Pack as JSON.")]
AsPrompt = Annotated[bool, typer.Option("--prompt", help="Print a prompt for a model.")]
Full = Annotated[
    bool, typer.Option("--full", help="Show every result, and whole texts instead of the passages that matched.")
]


def _version(wanted: bool) -> None:
    if wanted:
        with friendly_errors():
            typer.echo(f"adk-evidence {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Verified evidence from the Google ADK docs and source."""


@app.command()
def ask(
    query: Query = None,
    mode: ModeOption = "build",
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    as_prompt: AsPrompt = False,
    max_tokens: Annotated[int | None, typer.Option(help="Budget of --prompt, in tokens.", min=1)] = None,
    question: Annotated[
        bool, typer.Option("--question/--no-question", help="End --prompt with the question, or leave it out.")
    ] = True,
    results: Annotated[int | None, typer.Option("-k", "--results", help="Number of results.", min=1, max=100)] = None,
    source: Annotated[Source, typer.Option(help="Only docs, only code, or both.")] = "both",
    path: Annotated[list[str] | None, typer.Option(help="Only files that match this glob; repeatable.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No files that match this glob; repeatable.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only this language, e.g. python; repeatable.")] = None,
    symbol: Annotated[
        list[str] | None,
        typer.Option(help="Show the definition of this ADK name first; repeatable."),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(help="Ask about your code, FILE:START-END; the definitions of its ADK names come first."),
    ] = None,
    time_budget_ms: Annotated[int | None, typer.Option(help="Soft time budget.", min=1)] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail instead of answering with a part missing.")] = False,
    index: Annotated[str | None, typer.Option(help="Ask the index of a codebase instead of the ADK's.")] = None,
    beside: Annotated[
        str | None,
        typer.Option("--with", help="Also ask the index of this codebase: its name, or a folder in it, such as `.`"),
    ] = None,
    adk: Adk = None,
    project: Project = None,
    python: Python = None,
    full: Full = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Answer a question with checked evidence, for the google-adk that the project in the working folder uses."""
    from adk_evidence.desk import Indexes
    from adk_evidence.index.registry import name_of_index
    from adk_evidence.render.markdown import to_markdown
    from adk_evidence_cli.asking import Renderer, answer, build_request, prompt_renderer, selection_of, to_json
    from adk_ingest.indexes.freshness import Freshness

    outputs = [name for name, on in (("json", as_json), ("markdown", as_markdown), ("prompt", as_prompt)) if on]
    if len(outputs) > 1:
        raise InvalidRequestError(f"--{outputs[0]} and --{outputs[1]} exclude each other.", "Choose one output.")
    for name, given in (("max-tokens", max_tokens is not None), ("no-question", not question)):
        if given and not as_prompt:
            raise InvalidRequestError(f"--{name} goes with --prompt.", "Add --prompt.")
    if as_prompt:
        render: Renderer | None = prompt_renderer(max_tokens, question=question, full=full)
    else:
        render = to_json if as_json else partial(to_markdown, full=full) if as_markdown else None
    selected = None if selection is None else selection_of(selection)
    if query is None:
        if selected is None:
            raise InvalidRequestError("There is no question.", 'Try `adk-evidence ask "how do I ..."`.')
        query = selected.text
    settings = settings_from(profile, home)
    wanted = wanted_adk(adk, project, python)
    if index is not None and wanted is not None:
        raise InvalidRequestError("--index and the options that name a version exclude each other.", "Choose one.")
    if index is None and wanted is None:
        wanted = detected_adk(settings)
    filters = {
        "path_allowlist": path or (),
        "path_blocklist": exclude or (),
        "source_types": ("docs", "code") if source == "both" else (source,),
        "languages": language or (),
    }
    request = build_request(
        {
            "query": read_stdin() if query == "-" else query,
            "task_mode": mode,
            "max_results_final": results,
            "time_budget_ms": time_budget_ms,
            "strict": strict or None,
            "symbols": symbol or (),
            "filters": filters,
        }
    )
    with closing(Indexes(settings, lambda main, project: wanted, freshen=Freshness())) as indexes:
        chosen = indexes.choose(None, request.query) if index is None else indexes.named(index)
        other = None if beside is None else indexes.named(name_of_index(settings, beside)).settings
        answer(indexes, chosen, request, render, full=full, selection=selected, beside=other)


@app.command()
def symbol(
    query: Annotated[
        str,
        typer.Argument(help="A name, its beginning or what it is for; - reads it from stdin.", show_default=False),
    ],
    results: Annotated[int, typer.Option("-k", "--results", help="Number of results.", min=1, max=100)] = 10,
    mode: Annotated[
        Literal["auto", "lexical", "vector", "hybrid"], typer.Option("--mode", help="By words, by meaning or both.")
    ] = "auto",
    adk: Adk = None,
    project: Project = None,
    python: Annotated[
        Path | None,
        path_option("Your interpreter or virtual environment: its google-adk answers; what it lacks is marked."),
    ] = None,
    uses: Annotated[
        bool, typer.Option("--uses", help="Say what derives from, overrides, calls, imports or mentions the name.")
    ] = False,
    index: Annotated[str | None, typer.Option(help="With --uses: look in the index of this codebase.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Find public ADK classes, functions and members by name or by meaning, and private ones by their exact names."""
    from adk_evidence.index.versions import choose_index
    from adk_evidence.symbols.current import CurrentSymbols
    from adk_evidence_cli.symbols import show_targets, show_uses

    settings = settings_from(profile, home)
    # To mark what an environment lacks, the environment need not have a google-adk.
    found = wanted_adk(adk, project, python, required=project is not None)
    if index is not None and (not uses or found is not None):
        raise InvalidRequestError("--index goes with --uses, without a version.", "Add --uses.")
    project_adk = found or (None if python or index is not None else detected_adk(settings))
    wanted = read_stdin() if query == "-" else query
    if uses:
        show_uses(settings, project_adk, index, wanted, results, as_json=as_json)
        return
    chosen = choose_index(settings, project_adk)
    symbols = CurrentSymbols(chosen.settings)
    show_targets(symbols.find(wanted, results, mode, python), chosen, stdout(), stderr(), as_json=as_json)


@app.command()
def operate(
    file: Annotated[str, typer.Argument(help="File with the request as JSON; - reads it from stdin.")] = "-",
    schema: Annotated[
        Literal["request", "response"] | None,
        typer.Option("--schema", help="Print the JSON schema of requests or responses instead."),
    ] = None,
    roots: Roots = None,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Carry out an operation for an agent: index, search, find similar code, gather context, analyze."""
    from adk_evidence_cli import operating

    if schema is not None:
        typer.echo(operating.schema_text(schema), nl=False)
        return
    request = operating.read_request(file, read_stdin)
    code = operating.operate(request, lambda: settings_from(profile, home, roots), stdout().file, stderr())
    if code:
        raise typer.Exit(code)


@app.command()
def analyze(
    index: Annotated[
        str, typer.Option(help="Name of the index: that of a codebase, of a version (adk-1.18.0), or `adk`.")
    ] = "adk",
    limit: Annotated[int, typer.Option(help="The most entries of each list.", min=1, max=1000)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say what an index holds and repeats, which files it could not read, and how far it is behind its sources."""
    from adk_evidence.models.analysis import AnalysisOptions
    from adk_evidence_cli.analyzing import analyze_index, show_analysis

    found = analyze_index(settings_from(profile, home), index, AnalysisOptions(limit=limit), stderr())
    show(found, show_analysis, as_json=as_json)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say what is installed, indexed, stale or missing, and how to fix it."""
    from adk_evidence_cli.findings import show_findings
    from adk_ingest.commands.doctor import examine

    findings = examine(settings_from(profile, home))
    show(findings, show_findings, as_json=as_json)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


@app.command()
def setup(
    agents: Annotated[list[Agent] | None, typer.Option("--agent", help="Only this agent; repeatable.")] = None,
    project: Annotated[bool, typer.Option("--project", help="Only for the project in the working folder.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take back what this command has written.")] = False,
    show_only: Annotated[bool, typer.Option("--print", help="Show what would be written, and write nothing.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Connect Claude Code, Codex, Cursor, Gemini CLI, VS Code, Windsurf or Zed with the MCP server.

    Without --agent, all that are found are connected. The command says what it would write where, and asks once. It
    writes an entry for the server, and a skill that says when to use it. Exit code 1 if a file could not be changed.
    """
    from importlib.util import find_spec

    from adk_evidence_cli.setup.connecting import Setup, choose, server_words

    settings_from(profile, home)
    if not remove and find_spec("mcp") is None:
        raise lacks_sdk()
    folder = Path.cwd() if project else None
    chosen = choose(agents or (), folder, remove=remove)
    if not Setup(chosen, folder, server_words(home, profile, folder), remove=remove).run(stdout(), show_only=show_only):
        raise typer.Exit(1)


@app.command()
def demo(
    query: Annotated[str, typer.Argument(help="The question.")] = "how do I retry when a tool throws?",
    mode: ModeOption = "build",
    full: Full = False,
    home: Home = None,
) -> None:
    """Ingest the ADK corpora if that was not done yet, then answer a question."""
    from adk_evidence.desk import Indexes
    from adk_evidence_cli.asking import answer, build_request
    from adk_ingest.commands.progress import make_progress
    from adk_ingest.session import prepare_demo

    settings, request = settings_from(home=home), build_request({"query": query, "task_mode": mode})
    progress = make_progress(stderr(), as_json=False)
    # Whether the index that gave the first answer had vectors; empty as long as nothing was answered.
    answered: list[bool] = []

    def show() -> None:
        with closing(Indexes(settings)) as indexes:
            answer(indexes, indexes.choose(), request, full=full)

    def show_early(vectors: bool) -> None:
        if answered:
            return
        if not vectors:
            say(stderr(), "The first answer, by keywords alone; the complete one follows.", "bold")
        # The ingestion goes on in any case.
        with suppress(EvidenceError):
            show()
            answered.append(vectors)

    progress.answering = show_early
    prepare_demo(settings, progress)
    if answered == [True]:
        say(stderr(), "The index is complete now; answers also say how to import what they show.", "dim")
        return
    if answered:
        say(stderr(), "The complete answer:", "bold")
    show()


@app.command()
def check(
    packs: Annotated[list[Path], typer.Argument(help="Packs as `ask --json` prints them.", show_default=False)],
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="What to compare with: a version such as 2.13.0, a folder, an environment, a wheel, or `index`; "
            "repeatable. [default: index]",
            show_default=False,
        ),
    ] = None,
    source: Annotated[Source, typer.Option(help="Check the citations of docs, of code or of both.")] = "both",
    strict_lines: Annotated[
        bool, typer.Option("--strict-lines", help="Also fail if a text stands at other lines.")
    ] = False,
    form: Annotated[
        Form, typer.Option("--format", help="For people, as JSON, for code scanning, or as annotations of GitHub.")
    ] = "text",
    index: Annotated[str | None, typer.Option(help="Compare with this index, e.g. that of a codebase.")] = None,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Check whether the citations of saved packs still stand.

    A pack is compared with the index of the version that answered. Exit code 0 if all citations stand, 1 if a citation
    changed, is gone or could not be checked.
    """
    from adk_evidence.index.registry import settings_of
    from adk_evidence_cli import checking

    settings = settings_from(profile, home)
    if index is not None:
        settings = settings_of(settings, index)
    checked = checking.check_files(
        packs, against or [checking.INDEX], source, settings, partial(say, stderr()), by_version=index is None
    )
    checking.show(checked, form, stdout(), stderr(), strict_lines=strict_lines)
    if not checking.all_stand(checked, strict_lines=strict_lines):
        raise typer.Exit(1)


for command in (lint, upgrade, diff, drift):
    app.command()(command)


def run() -> None:
    write_utf8()
    app()
