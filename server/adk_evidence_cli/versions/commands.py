"""Commands on versions of google-adk: what differs between two, and what in code or docs does not fit one.

Heavy imports wait until a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adk_evidence.errors import InvalidRequestError
from adk_evidence_console import (
    AsMarkdown,
    Form,
    Home,
    Profile,
    path_argument,
    say,
    settings_from,
    stderr,
    stdout,
)
from adk_evidence_console.pinned import Adk, Project, Python, detected_adk, required_checker, wanted_adk


def diff(
    before: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Earlier version: 1.31.0, a wheel, a checkout or an environment. [default: that of the project here]",
            show_default=False,
        ),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--to", help="Later version. [default: that of the settings]", show_default=False)
    ] = None,
    symbol: Annotated[
        list[str] | None,
        typer.Option(help="Only this definition, module or package, e.g. google.adk.runners.Runner; repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option(help="The most changes to list; 0 lists all.", min=0)] = 60,
    lines: Annotated[
        bool | None,
        typer.Option(
            "--lines/--no-lines",
            help="Show the changed lines. [default: on for named definitions]",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
    as_markdown: AsMarkdown = False,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch no version from the package registry.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say what differs in the public API between two versions of the ADK, breaking changes first."""
    from adk_evidence_cli.versions.diff import compare_symbols, show_difference, version_here
    from adk_ingest.commands.progress import make_progress

    if as_json and as_markdown:
        raise InvalidRequestError("--json and --markdown exclude each other.", "Choose one output.")
    settings, progress = settings_from(profile, home), make_progress(stderr(), as_json=False)
    before, symbols = before or version_here(settings), symbol or ()
    found = compare_symbols(
        settings, before, after, symbols, progress, limit=limit, lines=lines, allow_network=not offline
    )
    show_difference(found, as_json=as_json, as_markdown=as_markdown)


def drift(
    folder: Annotated[
        Path | None,
        typer.Argument(
            parser=path_argument,
            metavar="[FOLDER]",
            help="Folder or file to check. [default: the docs of the index]",
            show_default=False,
        ),
    ] = None,
    index: Annotated[str | None, typer.Option(help="Check the docs of this index instead of the ADK's.")] = None,
    adk: Adk = None,
    project: Project = None,
    python: Python = None,
    output: Annotated[Form, typer.Option("--format", help="How to print the findings.")] = "text",
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with 1 where something is lacking; deprecated names do not count.")
    ] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say which imports, attributes and keywords in docs a version of google-adk lacks.

    The version is the one that the options name. Without such an option, a folder is checked against the version of the
    working folder's project, and the docs of an index against the indexed version.
    """
    from adk_evidence.index.codebase import MAIN
    from adk_evidence.index.registry import settings_of
    from adk_evidence_cli.versions import drift as drifting
    from adk_evidence_console.sarif import for_programs

    if folder is not None and index is not None:
        raise InvalidRequestError("A folder and --index exclude each other.", "Name one of them.")
    settings = settings_of(settings_from(profile, home), MAIN if index is None else index)
    wanted = wanted_adk(adk, project, python)
    if wanted is None and folder is not None:
        wanted = detected_adk(settings, ranges=True)
    report = drifting.examine(settings, folder, wanted.version if wanted else None)
    if output == "text":
        drifting.show_text(report, stdout())
    else:
        # Not through rich: tools read this.
        found = drifting.findings(report)
        stdout().file.write(for_programs(output, drifting.RULES, found, drifting.as_json(report)))
    if fail and report.lacking:
        raise typer.Exit(1)


def lint(
    paths: Annotated[
        list[Path],
        typer.Argument(parser=path_argument, metavar="PATHS...", help="Python files, or folders that hold some."),
    ],
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is certain, and say why.")] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Mend what is likely, too; read what it does.")] = False,
    show_diff: Annotated[bool, typer.Option("--diff", help="Show what would be mended, and write nothing.")] = False,
    adk: Adk = None,
    project: Project = None,
    python: Python = None,
    output: Annotated[Form, typer.Option("--format", help="How to print the problems.")] = "text",
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Check the names, calls and overrides of Python code against a version of google-adk.

    The code is not run. The version is the one that the options name, else that of the working folder's project. Exit
    code 1 if something is wrong that was not mended, or if --diff shows something; deprecated names do not count.
    """
    from adk_evidence.index.neighbours import environment_of
    from adk_evidence_cli.versions import linting, mending
    from adk_evidence_console.sarif import for_programs

    if show_diff and (fix or output != "text"):
        raise InvalidRequestError("--diff goes with neither --fix nor --format.", "Leave one of them out.")
    if unsafe and not (fix or show_diff):
        raise InvalidRequestError("--unsafe needs --fix or --diff.", "Add --diff to see what would be mended.")
    settings = settings_from(profile, home)
    wanted = wanted_adk(adk, project, python) or detected_adk(settings, ranges=True)
    checker = required_checker(wanted.version if wanted else None, environment_of(wanted, settings))
    files = linting.python_files(paths)
    mended = list(mending.mend(checker, files, likely=unsafe)) if fix or show_diff else []
    if show_diff:
        mending.show_diff(mended, stdout())
        raise typer.Exit(bool(mended))
    mending.write(mended)
    linted = linting.lint(checker, files)
    cite = mending.citing(settings, checker, wanted.python if wanted else None)
    if output == "text":
        mending.show(mended, cite, stdout())
        linting.show_text(linted, checker, stdout())
        if not unsafe and (told := mending.offer(checker, linted)):
            say(stdout(), told)
    else:
        found, data = linting.findings(linted), linting.as_json(linted, checker.version)
        data |= {"mended": mending.as_json(mended, cite)} if fix else {}
        stdout().file.write(for_programs(output, linting.RULES, found, data))
    if linting.has_errors(linted):
        raise typer.Exit(1)


def upgrade(
    folder: Annotated[Path, typer.Argument(parser=path_argument, help="Folder of a project, or one Python file.")],
    before: Annotated[
        str | None,
        typer.Option(
            "--from", help="The version that the project uses. [default: the one that it declares]", show_default=False
        ),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--to", help="The later version. [default: the newest known]", show_default=False)
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is certain, as `lint --fix` does.")] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="With --fix: mend what is likely, too.")] = False,
    output: Annotated[Form, typer.Option("--format", help="How to print the report.")] = "text",
    as_markdown: AsMarkdown = False,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch no version from the package registry.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Say what another version of google-adk means for a project: what breaks, and what would mend it.

    The code is not run. The report tells what breaks from what was wrong before, names what is deprecated and what
    behaves otherwise behind the same name, and cites the code and the docs. Exit code 1 if something is wrong with the
    later version that was not mended.
    """
    from adk_evidence.api.history import History
    from adk_evidence.render.sanitize import visible_json
    from adk_evidence.render.upgrade import upgrade_markdown
    from adk_evidence_cli.versions import linting, mending, upgrading
    from adk_evidence_console.sarif import for_programs
    from adk_ingest.commands.progress import make_progress

    if as_markdown and output != "text":
        raise InvalidRequestError("--markdown and --format exclude each other.", "Choose one output.")
    if unsafe and not fix:
        raise InvalidRequestError("--unsafe needs --fix.", "To see what it does: lint --diff --unsafe --adk VERSION.")
    settings = settings_from(profile, home)
    files = linting.python_files([folder])
    found = upgrading.version_of(folder) if before is None else None
    old = required_checker(found.version if found else before)
    new = required_checker(after or History.load().versions[-1])
    if old.api.released >= new.api.released:
        where = f" ({found.taken_from})" if found else ""
        raise InvalidRequestError(
            f"{new.version} is not later than {old.version}{where}.", "Name both versions by --from and --to."
        )
    report = upgrading.report_on(
        settings,
        folder,
        files,
        old,
        new,
        make_progress(stderr(), as_json=False),
        taken_from=found.taken_from if found else "",
        allow_network=not offline,
    )
    if as_markdown:
        stdout().file.write(upgrade_markdown(report))
    elif output == "text":
        upgrading.show_text(report, stdout())
    elif output == "json":
        stdout().file.write(visible_json(report.model_dump_json(indent=2)) + "\n")
    else:
        stdout().file.write(for_programs(output, linting.RULES, upgrading.findings(report, folder), None))
    left = bool(report.problems)
    if fix:
        mended = list(mending.mend(new, files, likely=unsafe))
        mending.write(mended)
        say(stderr(), f"Mended {mending.tally(mended)}.")
        left = linting.has_errors(linting.lint(new, files))
    if left:
        raise typer.Exit(1)
