"""The tasks and the counted look-ups as commands."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.tasks.checking import SOLUTION, tasks
from tests.tasks.lookups import (
    EVIDENCE_COMMANDS,
    FILE_COMMANDS,
    Shown,
    ask_for_evidence,
    look_into_files,
    record,
    report,
    shortened,
)

NO_PIPES = "Do not send the output through other commands: what is printed is counted. --lines shortens it."


def main(arguments: list[str]) -> int:
    """Carry out one command; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    return chosen.run(chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.tasks", description="Small programming tasks for the ADK.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    names = list(tasks())

    listing = commands.add_parser("list", help="print the names of the tasks")
    listing.set_defaults(run=_list)

    show = commands.add_parser("show", help="print the text of a task")
    show.add_argument("name", choices=names, metavar="NAME")
    show.set_defaults(run=_show)

    check = commands.add_parser("check", help=f"check the {SOLUTION}.py in a folder (in .venv-adk)")
    check.add_argument("name", choices=names, metavar="NAME")
    check.add_argument("folder", type=Path, metavar="FOLDER")
    check.add_argument("--log", type=Path, help="also write the outcome to this log")
    check.set_defaults(run=_check)

    # What both look-ups take stands before their command.
    lookup = argparse.ArgumentParser(add_help=False)
    lookup.add_argument("--log", type=Path, required=True, help="the log of this agent; its name is the agent's name")
    lookup.add_argument("--task", choices=names, required=True, metavar="NAME", help="the task that this is for")
    lookup.add_argument("--lines", type=int, help="print only so many lines")
    files = commands.add_parser(
        "lookup-files", parents=[lookup], help="read files, counted", description=f"Reads files, counted. {NO_PIPES}"
    )
    files.add_argument("--root", type=Path, required=True, help="the folder with docs and source")
    files.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        help=f"{', '.join(FILE_COMMANDS)}, and the arguments; it runs in the folder",
    )
    files.set_defaults(run=_lookup_files)
    evidence = commands.add_parser(
        "lookup-evidence", parents=[lookup], help="ask ADK Evidence, counted", description=f"Asks, counted. {NO_PIPES}"
    )
    evidence.add_argument(
        "command", nargs=argparse.REMAINDER, help=f"{', '.join(EVIDENCE_COMMANDS)}, and the arguments of the MCP tool"
    )
    evidence.set_defaults(run=_lookup_evidence)

    reporting = commands.add_parser("report", help="compare what groups of agents solved and how much they read")
    reporting.add_argument(
        "logs", nargs="+", type=Path, metavar="LOG", help="names that begin alike, up to the first -, are a group"
    )
    reporting.set_defaults(run=_report)
    return parser


def _list(chosen: argparse.Namespace) -> int:
    print("\n".join(tasks()))
    return 0


def _show(chosen: argparse.Namespace) -> int:
    print(tasks()[chosen.name].text, end="")
    return 0


def _check(chosen: argparse.Namespace) -> int:
    failure = tasks()[chosen.name].failure(chosen.folder / f"{SOLUTION}.py")
    if chosen.log:
        record(chosen.log, {"task": chosen.name, "solved": failure is None})
    print("solved" if failure is None else f"not solved: {failure}")
    return 0 if failure is None else 1


def _lookup_files(chosen: argparse.Namespace) -> int:
    return _tell(chosen, look_into_files(chosen.root, chosen.command))


def _lookup_evidence(chosen: argparse.Namespace) -> int:
    return _tell(chosen, ask_for_evidence(chosen.command))


def _tell(chosen: argparse.Namespace, shown: Shown) -> int:
    text = shortened(shown.text, chosen.lines)
    record(chosen.log, {"task": chosen.task, "command": chosen.command, "characters": len(text)})
    sys.stdout.write(text)
    return shown.code


def _report(chosen: argparse.Namespace) -> int:
    print(report(chosen.logs), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
