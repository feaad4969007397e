"""Asking from the terminal: a request from options, an answer in the chosen form."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import SourceType
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render.sanitize import visible, visible_json
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import Settings
from adk_evidence.validation import first_problem
from adk_evidence_cli.prompting import PromptFrame

if TYPE_CHECKING:
    from rich.console import Console

# What the fields of a request are called on the command line.
_OPTIONS = {
    "filters.path_allowlist": "--path",
    "filters.path_blocklist": "--exclude",
    "filters.languages": "--language",
    "filters.repo_ref_hint": "--ref",
    "max_results_final": "--results",
    "time_budget_ms": "--time-budget-ms",
}
_SOURCES: dict[str, tuple[SourceType, ...]] = {"docs": ("docs",), "code": ("code",), "both": ("docs", "code")}


class Output(StrEnum):
    """The form of an answer."""

    terminal = "terminal"
    json = "json"
    markdown = "markdown"
    prompt = "prompt"


def build_request(
    *,
    query: str,
    task_mode: str,
    results: int | None = None,
    source: str = "both",
    path: list[str] | None = None,
    exclude: list[str] | None = None,
    language: list[str] | None = None,
    ref: str | None = None,
    time_budget_ms: int | None = None,
    strict: bool | None = None,
) -> EvidenceRequest:
    """A validated request.

    Raises:
        InvalidRequestError: An option is outside its contract; the sentence names it.
    """
    if source not in _SOURCES:
        raise InvalidRequestError(f"--source does not know {source!r}.", "Choose docs, code or both.")
    values: dict[str, Any] = {
        "query": query,
        "task_mode": task_mode,
        "max_results_final": results,
        "time_budget_ms": time_budget_ms,
        "strict": strict,
        "filters": {
            "path_allowlist": path or (),
            "path_blocklist": exclude or (),
            "source_types": _SOURCES[source],
            "languages": language or (),
            "repo_ref_hint": ref,
        },
    }
    try:
        return EvidenceRequest.model_validate(values)
    except ValidationError as exc:
        where, what = first_problem(exc)
        named = next((option for field, option in _OPTIONS.items() if where.startswith(field)), f"The {where}")
        # Python keeps bytes of an argument that it cannot read as halves of characters.
        if where == "query" and "Unicode" in what:
            what = "it is not in the encoding of this locale"
        what = what.replace("String should have at least 1 character", "it is empty")
        raise InvalidRequestError(f"{named} is not valid: {what}.", "See `adk-evidence ask --help`.") from exc


class Answer:
    """Prints answers: evidence on stdout, everything else on stderr."""

    def __init__(self, settings: Settings, out: Console, err: Console) -> None:
        self._settings = settings
        self._out = out
        self._err = err

    def give(
        self, request: EvidenceRequest, output: Output, *, prompt: PromptFrame | None = None, full: bool = False
    ) -> None:
        """Answer one request in the chosen form.

        Args:
            request: What is asked.
            output: The form.
            prompt: What a prompt holds besides the evidence.
            full: Whole chunks on the terminal.
        """
        service = EvidenceService(self._settings)
        try:
            with service.session() as session:
                pack = session.find(request)
                roots = session.local_files(pack) if output is Output.terminal else {}
        finally:
            service.close()
        if output is Output.terminal:
            self._show(pack, roots, full=full)
            return
        self._write(self._text(pack, output, prompt or PromptFrame()))
        for warning in pack.warnings:
            self._err.print(visible(f"warning: {warning}"), markup=False, soft_wrap=True)

    def _show(self, pack: EvidencePack, roots: dict[str, Path], *, full: bool) -> None:
        from adk_evidence_cli.terminal import show_pack

        show_pack(self._out, pack, roots, full=full)

    def _text(self, pack: EvidencePack, output: Output, prompt: PromptFrame) -> str:
        if output is Output.json:
            return visible_json(pack.model_dump_json(indent=2)) + "\n"
        if output is Output.markdown:
            from adk_evidence.render.markdown import to_markdown

            return to_markdown(pack)
        from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS, to_prompt

        block = to_prompt(pack, prompt.max_tokens or DEFAULT_MAX_TOKENS, system=prompt.system, history=prompt.history)
        turns = f" and {block.turns} of {len(prompt.history)} turns" if prompt.history else ""
        summary = f"{block.included} of {len(pack.candidates)} results{turns} in about {block.tokens} tokens"
        self._err.print(summary, style="dim", markup=False)
        if block.note:
            self._err.print(f"warning: {block.note}", markup=False, soft_wrap=True)
        return block.text

    def _write(self, text: str) -> None:
        # Not through rich: what is piped into a file or a model must come out to the letter.
        self._out.file.write(text)
        self._out.file.flush()
