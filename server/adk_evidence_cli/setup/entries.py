"""What is put into the texts of files and taken out again: an entry, around which all stays as it is, or a skill."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from adk_evidence.errors import EvidenceError
from adk_evidence_cli.setup import jsonc, toml
from adk_evidence_cli.setup.clients import NAME


class AgentFileError(EvidenceError):
    """A file of an agent stays as it is."""


class Written(NamedTuple):
    """What was written into a file."""

    # The part of the text that was replaced, and what it was replaced by.
    old: str
    new: str
    # The folders that were made for the file, the innermost first; None where the file existed.
    made: list[str] | None = None


class Entry(NamedTuple):
    """What an agent's file says of the server, and in which table; what a user added to it later may stay."""

    title: str
    path: Path
    table: str
    value: dict[str, Any]

    @property
    def spelled(self) -> str:
        return str(self._format.spell(self.table, NAME, self.value))

    def put(self, text: str | None, known: Written | None) -> tuple[str, Written] | None:
        """The text with the entry, and what was written; None where it is there. `known` was written before."""
        text = text or ""
        present = self._parsed(text)[self.table].get(NAME)
        if isinstance(present, dict) and all(present.get(key) == value for key, value in self.value.items()):
            return None
        if present is not None:
            if (before := self._undone(text, known)) is None:
                raise AgentFileError(
                    f"{self.path} has another entry {NAME}, and stays as it is: --remove takes it out."
                )
            text = before
        start, old, new = self._format.insert(text, self.table, NAME, self.value)
        if "\r\n" in text:
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        after = text[:start] + new + text[start + len(old) :]
        if not self._is_rest(text, after) or self._parsed(after)[self.table][NAME] != self.value:
            raise AgentFileError(f"{self.path} is laid out in an unknown way, and stays as it is.")
        return after, Written(old, new)

    def taken(self, text: str, known: Written | None) -> str | None:
        """The text without the entry; None where there is none."""
        if NAME not in self._parsed(text)[self.table]:
            return None
        before = self._undone(text, known)
        if before is None and not self._is_rest(before := self._format.remove(text, self.table, NAME), text):
            raise AgentFileError(f"{self.path} is laid out in an unknown way.", f"Delete its entry {NAME} by hand.")
        return before

    @property
    def _format(self) -> ModuleType:
        return toml if self.path.suffix == ".toml" else jsonc

    def _undone(self, text: str, known: Written | None) -> str | None:
        """The text as it was before; None where what was written is no longer there as it was."""
        if known is None or text.count(known.new) != 1:
            return None
        before = text.replace(known.new, known.old)
        return before if self._is_rest(before, text) else None

    def _parsed(self, text: str) -> dict[str, Any]:
        """The values of a text, with a table of servers."""
        try:
            values = self._format.parse(text)
            if isinstance(values, dict) and isinstance(values.setdefault(self.table, {}), dict):
                return values
        except (ValueError, RecursionError):
            pass
        why = f"{self.path} is no valid {self._format.TITLE}, or its `{self.table}` is no table; it stays as it is."
        raise AgentFileError(why, "Mend it first.")

    def _is_rest(self, before: str, text: str) -> bool:
        """Whether a text says what another says but for the entry."""
        try:
            rest, values = self._parsed(before), self._parsed(text)
        except AgentFileError:
            return False
        values[self.table].pop(NAME, None)
        return rest == values


class Skill(NamedTuple):
    """A file that tells an agent when to ask; one that the user has changed stays."""

    path: Path
    text: str
    title: str = "Skill"

    def put(self, text: str | None, known: Written | None) -> tuple[str, Written] | None:
        is_ours = text is None or (known is not None and text == known.new)
        return (self.text, Written("", self.text)) if is_ours and text != self.text else None

    def taken(self, text: str, known: Written | None) -> str:
        if text not in (self.text, known and known.new):
            raise AgentFileError(f"{self.path} was changed since, and stays.", "Delete it by hand.")
        return ""
