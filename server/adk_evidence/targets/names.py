"""Looks dotted names up by their end. The table of definitions and the ranked targets share this look-up."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from adk_evidence.text.identifiers import ends_with

_SEPARATORS = re.compile(r"[\W_]+")


def compact(text: str) -> str:
    """Lower-case letters and digits alone, so that `LLM agent`, `llm_agent` and `LlmAgent` are the same."""
    return _SEPARATORS.sub("", text).lower()


class Names:
    """Looks rows of a table up by the dotted names of each row, e.g. where a symbol is defined and imported from."""

    def __init__(self, rows: Iterable[Sequence[str]]) -> None:
        self._rows = list(rows)
        self._by_last: dict[str, list[int]] = defaultdict(list)
        for row, names in enumerate(self._rows):
            for last in {_last(name).lower() for name in names}:
                self._by_last[last].append(row)

    def ending(self, name: str, *, any_case: bool = False) -> list[int]:
        """Rows with a name that is `name` or ends with it, in the order of the table.

        Args:
            name: A bare or dotted name, e.g. `run`, `Runner.run()` or `google.adk.runners.Runner`.
            any_case: Whether names that differ in case count where none is exactly the same.
        """
        wanted = ".".join(part for part in name.strip().rstrip("()").split(".") if part)
        near = self._by_last.get(_last(wanted).lower(), ()) if wanted else ()
        found = [row for row in near if any(ends_with(own, wanted) for own in self._rows[row])]
        if found or not any_case:
            return found
        wanted = wanted.lower()
        return [row for row in near if any(ends_with(own.lower(), wanted) for own in self._rows[row])]


def _last(name: str) -> str:
    return name.rpartition(".")[2]
