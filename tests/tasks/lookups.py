"""Look-ups of an agent, each counted in a log; and the report on logs.

A log belongs to one agent. Each of its lines is a JSON object: a look-up, with the characters that the agent was shown,
or the outcome of a check.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from adk_evidence.errors import EvidenceError

FILE_COMMANDS = ("grep", "sed", "find", "ls", "cat", "head", "tail", "wc")
EVIDENCE_COMMANDS = ("ask", "symbol", "read", "check")
# Options that write files or run programs.
_SED_IN_PLACE = re.compile(r"-[nErsuza]*[iI]|--i")
_FIND_ACTIONS = re.compile(r"-(?:delete|exec|execdir|ok|okdir|fls|fprint|fprint0|fprintf)$")
# Tools that run commands for agents cut longer outputs, and then an agent would see less than was counted.
MAX_CHARACTERS = 28_000
_REFUSED = 2


@dataclass(frozen=True)
class Shown:
    """What a command printed, standard error included, and its exit code."""

    text: str
    code: int


def look_into_files(root: Path, command: Sequence[str]) -> Shown:
    """Run one of the commands that read files, in a folder that it must not leave."""
    program, *arguments = command or [""]
    if program not in FILE_COMMANDS:
        return Shown(f"The first word must be one of {', '.join(FILE_COMMANDS)}.\n", _REFUSED)
    for argument in arguments:
        if _is_outside(root, argument):
            return Shown(f"{argument} is outside of the folder; name files relative to the folder.\n", _REFUSED)
        if _writes(program, argument):
            return Shown(f"{argument} is refused: these commands only read.\n", _REFUSED)
    # A script of sed can write and run programs, too. Other systems' sed does not have the option.
    sandbox = ["--sandbox"] if program == "sed" and sys.platform == "linux" else []
    return _run([program, *sandbox, *arguments], root)


def ask_for_evidence(command: Sequence[str]) -> Shown:
    """Call one of the tools that agents have, by its short name, and show the text of its answer."""
    # Here and not above: listing tasks needs neither MCP nor an index.
    from pydantic import BaseModel

    from adk_evidence.settings import load_settings
    from adk_evidence_agents.session import AgentSession, valid
    from adk_evidence_mcp.checking import CheckCode, check_adk_code
    from adk_evidence_mcp.tools import (
        FindEvidence,
        FindSymbol,
        ReadSource,
        find_adk_evidence,
        find_adk_symbol,
        read_adk_source,
    )
    from adk_evidence_mcp.work import Call

    tools: dict[str, tuple[Callable[..., str], type[BaseModel]]] = {
        "ask": (find_adk_evidence, FindEvidence),
        "symbol": (find_adk_symbol, FindSymbol),
        "read": (read_adk_source, ReadSource),
        "check": (check_adk_code, CheckCode),
    }
    try:
        given = vars(_evidence_parser().parse_args(list(command)))
    except (argparse.ArgumentError, ValueError) as exc:
        return Shown(f"{exc}\n", _REFUSED)
    tool, arguments = tools[given.pop("tool")]
    # What an agent wrote may be checked wherever it lies.
    roots = (
        {"agents": {"roots": [str(Path(given["path"]).parent)]}} if "path" in given and tool is check_adk_code else {}
    )
    session = AgentSession(lambda: load_settings(roots))
    try:
        call = Call(lambda: False, lambda done, total, message: None)
        answer = tool(session, valid(arguments, given), call)
    except EvidenceError as exc:
        return Shown(f"{exc}\n", 1)
    finally:
        session.close()
    return Shown(f"{answer}\n", 0)


def _evidence_parser() -> argparse.ArgumentParser:
    """The commands with the arguments of the tools, which have defaults for all that is left out."""
    parser = _Parser(add_help=False)
    commands = parser.add_subparsers(dest="tool", required=True)

    def command(name: str, subject: str) -> argparse.ArgumentParser:
        own = commands.add_parser(name, add_help=False, argument_default=argparse.SUPPRESS)
        own.add_argument(subject)
        return own

    ask = command("ask", "query")
    ask.add_argument("--source", dest="sources", action="append", choices=["docs", "code"])
    ask.add_argument("--path")
    command("symbol", "query").add_argument("--limit", type=int)
    command("check", "path")
    command("read", "citation")
    return parser


class _Parser(argparse.ArgumentParser):
    """Raises what it cannot read, instead of ending the process: an agent is shown what is counted."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def shortened(text: str, lines: int | None) -> str:
    """The first lines of a text, and no more than an agent is shown in any case; the last line says what was cut."""
    kept = text if lines is None else "".join(text.splitlines(keepends=True)[:lines])
    if len(kept) <= MAX_CHARACTERS:
        return kept
    return f"{kept[:MAX_CHARACTERS]}\n[{len(kept) - MAX_CHARACTERS} more characters; ask for less at a time]\n"


def record(log: Path, entry: dict[str, Any]) -> None:
    """Append an entry to a log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def report(logs: Iterable[Path]) -> str:
    """A Markdown table that compares arms: groups of logs whose names begin alike, up to the first `-`.

    Of two arms, the ratio of their characters is given. The last row sums up the tasks that all arms worked on.
    """
    by_arm: dict[str, list[Path]] = {}
    for log in logs:
        by_arm.setdefault(log.stem.partition("-")[0], []).append(log)
    arms = {arm: _works(own) for arm, own in by_arm.items()}
    head, rule = ["task"], ["---"]
    for arm in arms:
        head += [f"{arm}: solved", "look-ups", "characters"]
        rule += ["---", "---:", "---:"]
    rows = []
    for task in sorted(set().union(*arms.values())):
        works = [own.get(task) for own in arms.values()]
        cells = [work.cells() if work else "- | - | -" for work in works]
        rows.append((task, cells, [work.characters if work else 0 for work in works]))
    shared = set.intersection(*(set(own) for own in arms.values())) if arms else set()
    sums = [[own[task] for task in sorted(shared)] for own in arms.values()]
    rows.append(("**all**", [_cells(works) for works in sums], [sum(one.characters for one in own) for own in sums]))
    if len(arms) == 2:
        head.append(" : ".join(arms))
        rule.append("---:")
        for _, cells, (one, other) in rows:
            cells.append(f"{one / other:.2f}" if one and other else "-")
    lines = [head, rule, *([name, *cells] for name, cells, _ in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


@dataclass
class _Work:
    """What an agent did for a task; what the agents of an arm did, together."""

    # The outcome of the last check.
    solved: bool | None = None
    lookups: int = 0
    characters: int = 0

    def add(self, entry: dict[str, Any]) -> None:
        if "solved" in entry:
            self.solved = entry["solved"]
        else:
            self.lookups += 1
            self.characters += entry["characters"]

    def cells(self) -> str:
        solved = {True: "yes", False: "no", None: "not checked"}[self.solved]
        return f"{solved} | {self.lookups} | {self.characters:,}"


def _works(logs: Iterable[Path]) -> dict[str, _Work]:
    """The work in some logs by its task."""
    works: dict[str, _Work] = defaultdict(_Work)
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            works[entry["task"]].add(entry)
    return works


def _cells(works: Collection[_Work]) -> str:
    """The sums of works."""
    solved = sum(work.solved is True for work in works)
    lookups, characters = sum(work.lookups for work in works), sum(work.characters for work in works)
    return f"{solved} of {len(works)} | {lookups} | {characters:,}"


def _is_outside(root: Path, argument: str) -> bool:
    # By its words alone: what the folder links to belongs to the folder. Most arguments are no paths, but patterns.
    path = os.path.normpath(root.absolute() / argument)
    return not Path(path).is_relative_to(os.path.normpath(root.absolute())) and os.path.lexists(path)


def _writes(program: str, argument: str) -> bool:
    """Whether an argument makes a command write a file or run a program."""
    refused = {"sed": _SED_IN_PLACE, "find": _FIND_ACTIONS}.get(program)
    return refused is not None and refused.match(argument) is not None


def _run(command: list[str], folder: Path | None) -> Shown:
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return Shown(done.stdout, done.returncode)
