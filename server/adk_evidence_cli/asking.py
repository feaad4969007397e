"""Asking from the terminal: a request from options, an answer in the chosen form."""

from __future__ import annotations

from contextlib import closing
from typing import Literal, get_args

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import SourceType
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render.sanitize import visible_json
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import Settings
from adk_evidence.validation import first_problem
from adk_evidence_cli.prompting import PromptFrame
from adk_evidence_console import say, stderr, stdout

# Forms of an answer, as their options are called.
_Form = Literal["json", "markdown", "prompt"]
FORMS: tuple[_Form, ...] = get_args(_Form)
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
    values = {
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


def answer(
    settings: Settings,
    request: EvidenceRequest,
    output: _Form | Literal["terminal"],
    prompt: PromptFrame | None = None,
    *,
    full: bool = False,
) -> None:
    """Answer a request: evidence goes to stdout, everything else to stderr; `full` shows whole chunks on a terminal."""
    out = stdout()
    with closing(EvidenceService(settings)) as service, service.session() as session:
        pack = session.find(request)
        roots = session.local_files(pack) if output == "terminal" else {}
    if output == "terminal":
        from adk_evidence_cli.terminal import show_pack

        show_pack(out, pack, roots, full=full)
        return
    # Not through rich: what is piped into a file or a model must come out to the letter.
    out.file.write(_text(pack, output, prompt or PromptFrame()))
    out.file.flush()
    for warning in pack.warnings:
        say(stderr(), f"warning: {warning}")


def _text(pack: EvidencePack, output: _Form, prompt: PromptFrame) -> str:
    if output == "json":
        return visible_json(pack.model_dump_json(indent=2)) + "\n"
    if output == "markdown":
        from adk_evidence.render.markdown import to_markdown

        return to_markdown(pack)
    from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS, to_prompt

    block = to_prompt(pack, prompt.max_tokens or DEFAULT_MAX_TOKENS, system=prompt.system, history=prompt.history)
    turns = f" and {block.turns} of {len(prompt.history)} turns" if prompt.history else ""
    said = f"{block.included} of {len(pack.candidates)} results{turns} in about {block.tokens} tokens"
    say(stderr(), said, "dim")
    if block.note:
        say(stderr(), f"warning: {block.note}")
    return block.text
