"""Asking from the terminal: a request from options, an answer in the chosen form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adk_evidence.desk import Indexes
from adk_evidence.documents.document import PythonDocument
from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.registry import resolved_place
from adk_evidence.index.versions import ChosenIndex
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import MAX_SYMBOLS, AskingPlace, EvidenceRequest
from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS, to_prompt
from adk_evidence.render.sanitize import visible_json
from adk_evidence.settings import Settings
from adk_evidence.symbols.lookup import Symbols
from adk_evidence.symbols.query import build_query
from adk_evidence.text.textfile import decode
from adk_evidence.validation import first_problem
from adk_evidence_console import say, stderr, stdout

Renderer = Callable[[EvidencePack], str]
# The options of the command line by the fields of a request.
_OPTIONS = {
    "filters.path_allowlist": "--path",
    "filters.path_blocklist": "--exclude",
    "filters.languages": "--language",
    "symbols": "--symbol",
    "max_results_final": "--results",
    "time_budget_ms": "--time-budget-ms",
}
_LINES = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?")


@dataclass(frozen=True)
class Selection:
    """Lines of a file of the user, from 0, with the first line after them."""

    path: Path
    document: PythonDocument
    language: str
    start: tuple[int, int]
    end: tuple[int, int]

    @cached_property
    def text(self) -> str:
        """The selection as a question, without what its names mean."""
        return build_query(self.document, self.language, self.start, self.end).text

    def add_to(self, request: EvidenceRequest, symbols: Symbols) -> EvidenceRequest:
        """The request with the symbols of the selection, and with the selection as its question if it has no other."""
        used = build_query(self.document, self.language, self.start, self.end, symbols)
        named = tuple(dict.fromkeys((*request.symbols, *used.symbols)))[:MAX_SYMBOLS]
        lines = LineSpan(start=self.start[0] + 1, end=self.end[0] + 1)
        own = {"query": used.text, "asked_at": AskingPlace(path=resolved_place(self.path), lines=lines)}
        asked = own if request.query == self.text else {}
        return request.model_copy(update={"symbols": named, "own_names": used.own_names, **asked})


def selection_of(value: str) -> Selection:
    """The lines that `FILE:START-END` or `FILE:LINE` names; a file alone means the whole file.

    Raises:
        InvalidRequestError: The file cannot be read, has no such lines, or nothing stands there.
    """
    named = _LINES.fullmatch(value)
    path = Path(named[1] if named else value)
    is_python = path.suffix in (".py", ".pyi")
    document = PythonDocument(_read(path), python=is_python)
    count = len(document.lines)
    first, last = (int(named[2]), int(named[3] or named[2])) if named else (1, count)
    if not 1 <= first <= last <= count:
        hint = f"{path} has {count} lines; the option is FILE:START-END."
        raise InvalidRequestError(f"--selection names no lines: {value}.", hint)
    start, end = (first - 1, 0), (last - 1, len(document.lines[last - 1]))
    selection = Selection(path, document, "python" if is_python else "", start, end)
    _ = selection.text
    return selection


def build_request(values: Mapping[str, Any]) -> EvidenceRequest:
    """A validated request.

    Raises:
        InvalidRequestError: An option is outside its contract; the sentence names it.
    """
    try:
        return EvidenceRequest.model_validate(values)
    except ValidationError as exc:
        where, what = first_problem(exc)
        named = next((option for field, option in _OPTIONS.items() if where.startswith(field)), f"The {where}")
        # Python keeps bytes of an argument that it cannot decode as lone surrogates.
        if where == "query" and "Unicode" in what:
            what = "it is not in the encoding of this locale"
        raise InvalidRequestError(f"{named} is not valid: {what}.", "See `adk-evidence ask --help`.") from exc


def answer(
    indexes: Indexes,
    chosen: ChosenIndex,
    request: EvidenceRequest,
    render: Renderer | None = None,
    *,
    full: bool = False,
    selection: Selection | None = None,
    beside: Settings | None = None,
) -> None:
    """Answer a request, which may be about a selection: evidence goes to stdout, everything else to stderr.

    Args:
        indexes: Opens the indexes.
        chosen: The index that answers.
        request: The question.
        render: Gives the text of the evidence; without it, the evidence is shown as on a terminal.
        full: Whether a terminal shows whole texts.
        selection: Code that the question is about.
        beside: The settings of a second index.
    """
    from adk_evidence_cli.terminal import completed, show_pack

    out = stdout()
    with indexes.answering(chosen, beside, strict=request.strict) as answering:
        if selection is not None and answering.symbols is not None:
            request = selection.add_to(request, answering.symbols)
        pack = answering.ask(request)
        roots = {} if render else dict(file for one in answering.sessions for file in one.local_files(pack).items())
    if pack.retrieval_plan is not None and (wordings := pack.retrieval_plan.wordings):
        say(stderr(), f"Also searched for: {'; '.join(wordings)}", "dim")
    if render is None:
        show_pack(out, pack, roots, full=full)
        return
    # Not through rich: what is piped into a file or a model must arrive unchanged.
    out.file.write(render(pack))
    out.file.flush()
    for warning in pack.warnings:
        say(stderr(), f"warning: {completed(warning)}")


def to_json(pack: EvidencePack) -> str:
    return visible_json(pack.model_dump_json(indent=2)) + "\n"


def prompt_renderer(max_tokens: int | None, *, question: bool = True, full: bool = False) -> Renderer:
    """A function that renders a pack as a prompt.

    Args:
        max_tokens: Budget of the whole prompt, in estimated tokens; None for the usual budget.
        question: End with the question, so that the prompt can be pasted or sent as it is.
        full: Whether to show every result, and the whole of its text.
    """

    def render(pack: EvidencePack) -> str:
        block = to_prompt(pack, max_tokens or DEFAULT_MAX_TOKENS, question=question, full=full)
        said = f"{block.included} of {len(pack.candidates)} results in about {block.tokens} tokens"
        say(stderr(), said, "dim")
        if block.note:
            say(stderr(), f"warning: {block.note}")
        return block.text

    return render


def _read(path: Path) -> str:
    try:
        decoded = decode(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise InvalidRequestError(
            f"The file of --selection cannot be read: {path}.", "Name a text file that is there."
        ) from exc
    if decoded is None:
        raise InvalidRequestError("The file of --selection is not UTF-8.", "Save it as UTF-8.")
    return decoded.text
