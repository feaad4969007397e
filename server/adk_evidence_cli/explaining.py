"""`adk-evidence explain`: the scores and the order of a saved pack, computed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from adk_evidence.citations.saved import WholePack, pack_text, read_whole_pack
from adk_evidence.errors import InvalidRequestError
from adk_evidence.render.sanitize import caption, one_line, visible_json
from adk_evidence.search.explain import Explanation, Step, explain

DIFFERS = 1
_MARKS = {"agrees": ("=", "green"), "differs": ("!", "red"), "outside": ("~", "yellow"), "unknown": ("?", "yellow")}
_INDENT = "    "


def read_pack(name: str, read_stdin: Callable[[], str]) -> WholePack:
    """The pack of a file, or of standard input for `-`.

    Raises:
        InvalidRequestError: The file cannot be read, or is not a pack.
    """
    if name == "-":
        return read_whole_pack(read_stdin(), "Standard input")
    if not name or "\0" in name:
        raise InvalidRequestError("This is not the name of a file.", "Name a file, or - for standard input.")
    return read_whole_pack(pack_text(Path(name)), Path(name).name)


def explain_pack(saved: WholePack, rank: int | None, out: Console, *, as_json: bool) -> int:
    """Print how a pack's scores came about; the exit code is 1 if one of them does not follow from its parts.

    Raises:
        InvalidRequestError: The pack has no result of this rank.
    """
    count = len(saved.pack.candidates)
    if rank is not None and not any(candidate.rank == rank for candidate in saved.pack.candidates):
        raise InvalidRequestError(f"The pack has no result {rank}.", f"It has {count} results.")
    found = explain(saved.pack, saved.written, rank)
    if as_json:
        out.file.write(visible_json(found.model_dump_json(indent=2)) + "\n")
    else:
        _show(found, saved, out)
    return 0 if found.agrees else DIFFERS


def _show(found: Explanation, saved: WholePack, out: Console) -> None:
    out.print(Text(caption(saved.pack.query), style="bold"))
    for step in found.steps:
        out.print(_line(step), soft_wrap=True)
    for one in found.candidates:
        out.print()
        out.print(Text(f"{one.rank:>2}  {one_line(one.citation)}", style="bold"), soft_wrap=True)
        for step in one.steps:
            out.print(Text(_INDENT) + _line(step), soft_wrap=True)
    steps = [*found.steps, *(step for one in found.candidates for step in one.steps)]
    counts = {state: sum(step.state == state for step in steps) for state in _MARKS}
    out.print()
    said = [f"{counts['agrees']} of {len(steps)} steps agree"]
    said += [f"{counts['differs']} differ"] if counts["differs"] else []
    said += [f"{counts['outside']} come from outside"] if counts["outside"] else []
    said += [f"{counts['unknown']} cannot be computed from this pack"] if counts["unknown"] else []
    out.print(Text(f"{', '.join(said)}.", style="green" if found.agrees else "red"), soft_wrap=True)


def _line(step: Step) -> Text:
    mark, style = _MARKS[step.state]
    return Text.assemble((mark, style), f" {step.name.replace('_', ' ')}: {one_line(step.says)}")
