"""Which files change for which agents: what would change is shown, one question is asked, and it is written."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.paths import config_file, expanded
from adk_evidence_cli.setup.clients import NAME, Agent, Client, clients
from adk_evidence_cli.setup.entries import AgentFileError, Entry, Skill, Written
from adk_evidence_cli.setup.files import Record, delete, missing_folders, read, write
from adk_evidence_console import say


def server_words(home: str | None, profile: str | None, project: Path | None) -> list[str]:
    """The words that start the MCP server, wherever a client starts it: with this index, for this project."""
    options = []
    if home := home or os.environ.get("ADK_EVIDENCE_HOME"):
        options += ["--home", str(expanded(Path(home)).absolute())]
    if profile := profile or os.environ.get("ADK_EVIDENCE_PROFILE"):
        options += ["--profile", profile]
    if project is not None:
        options += ["--project", str(project), "--root", str(project)]
    return [*_program(), "serve", "mcp", *options]


def _program() -> list[str]:
    script, linked = Path(sys.executable).with_name(NAME + (".exe" if os.name == "nt" else "")), shutil.which(NAME)
    if script.exists():
        # The link that `uv tool` and `pipx` make outlives the environment.
        return [str(Path(linked).absolute() if linked and script.samefile(linked) else script)]
    return [sys.executable, "-I", "-X", "utf8", "-c", "from adk_evidence_cli.main import run; run()"]


def choose(names: Sequence[Agent], project: Path | None, *, remove: bool) -> list[Client]:
    """The agents that are named, or else those that are found; all of them where they are let go."""
    able = [client for client in clients() if project is None or client.project is not None]
    chosen = [client for client in able if client.name in names or (not names and (remove or client.is_found()))]
    if not chosen:
        known = ", ".join(client.title for client in able)
        hint = "Install one of them first, or name it with --agent NAME."
        raise InvalidRequestError(f"None of the agents that can be connected is found here: {known}.", hint)
    return chosen


class Setup:
    """Connects agents, or lets them go with `remove`."""

    def __init__(self, chosen: Sequence[Client], project: Path | None, words: list[str], *, remove: bool) -> None:
        self._project, self._remove, self._record = project, remove, Record.load()
        self._files: list[Entry | Skill] = []
        for client in chosen:
            value = {**({"type": "stdio"} if client.typed else {}), "command": words[0], "args": words[1:]}
            self._files.append(Entry(client.title, client.configuration(project), client.table, value))
        # Agents that stay may need the same skill.
        others = [client for client in clients() if remove and client not in chosen]
        needed = [each.skill(project) for each in others if str(each.configuration(project)) in self._record.files]
        text = config_file("skill.md").read_text(encoding="utf-8")
        skills = dict.fromkeys(client.skill(project) for client in chosen)
        self._files += [Skill(path, text) for path in skills if path not in needed]

    def run(self, console: Console, *, show_only: bool) -> bool:
        """Show the changes, ask, and make them; whether each file can be changed that has to be."""
        changing, is_well = [], True
        for file in self._files:
            quoted = file.spelled if isinstance(file, Entry) else file.text if show_only else ""
            try:
                if (change := self._change(file)) is None:
                    continue
                changing.append(file)
                told = "gets the skill." if isinstance(file, Skill) else "gets:"
                told = "is deleted." if change[0] is None else "loses its entry." if self._remove else told
                say(console, f"{file.title}: {file.path} {told}")
            except AgentFileError as error:
                if self._remove and str(file.path) not in self._record.files:
                    continue
                is_well = False
                say(console, f"{file.title}: {error}", style="yellow")
                quoted = quoted and f"To be written by hand:\n{quoted}"
            for line in [] if self._remove else quoted.splitlines():
                say(console, f"    {line}")
        if not changing and is_well:
            say(console, "Nothing is to be changed.")
        if show_only:
            return is_well
        if changing and not _agrees():
            say(console, "Nothing was changed.")
        elif changing:
            for file in changing:
                self._carry_out(file)
            say(console, "Done." if self._remove else "Done: start a new session of the agent. --remove takes it back.")
        if self._remove:
            for file in self._files:
                self._record.files.pop(str(file.path), None)
            self._record.save()
        return is_well

    def _change(self, file: Entry | Skill) -> tuple[str | None, Written | None] | None:
        """The new text of a file, None where the file goes, and what is written then; None where nothing changes."""
        before, known = read(file.path, self._project), self._record.files.get(str(file.path))
        if self._remove:
            if before is None or (after := file.taken(before, known)) is None:
                return None
            existed = known.made is None if known else isinstance(file, Entry)
            return after or ("" if existed else None), None
        if (put := file.put(before, known)) is None:
            return None
        made = missing_folders(file.path) if before is None else known.made if known else None
        return put[0], put[1]._replace(made=made)

    def _carry_out(self, file: Entry | Skill) -> None:
        # The file is read again: agents write their files, too.
        if (change := self._change(file)) is None:
            return
        (text, written), known = change, self._record.files.get(str(file.path))
        if written is not None:
            # First: what is not recorded could not be taken back.
            self._record.files[str(file.path)] = written
            self._record.save()
        if text is None:
            delete(file.path, (known and known.made) or [])
        else:
            write(file.path, text)


def _agrees() -> bool:
    try:
        return typer.confirm("Change these files?")
    except typer.Abort:
        hint = "Run it in a terminal, or pipe `y` into it."
        raise EvidenceError("Nothing was changed, because nobody agreed.", hint) from None
