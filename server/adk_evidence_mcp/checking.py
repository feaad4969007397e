"""The tool that checks an agent's own code against the version of the ADK that the project uses."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.base import Frozen
from adk_evidence.models.code import CodeCheck
from adk_evidence.render.sanitize import code_span, one_line
from adk_evidence.search.drift import checker_of
from adk_evidence.settings import Settings
from adk_evidence.symbols.code_check import check_code
from adk_evidence.textfile import decode, is_binary
from adk_evidence_agents.operations.requests import MAX_CODE_CHARS
from adk_evidence_agents.roots import check_below_roots
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.tools import Answer, Tool
from adk_evidence_mcp.work import Call

# No person wrote a longer file.
MAX_FILE_BYTES = 1_000_000
# Nobody mends more at once.
MAX_PROBLEMS = 30


class CheckCode(Frozen):
    """Arguments of `check_adk_code`."""

    code: str | None = Field(default=None, max_length=MAX_CODE_CHARS)
    path: str | None = Field(default=None, max_length=4096, description="A file instead of code.")


def check_adk_code(session: AgentSession, arguments: CheckCode, call: Call) -> Answer:
    """Check Python code against the project's google-adk without running it: imports, keywords, required arguments,
    overrides, missing await. Write, check, then look up only what is wrong.
    """
    chosen = session.chosen()
    code = _code(session.settings, arguments)
    checker = checker_of(chosen)
    if checker is None:
        raise InvalidRequestError(
            "It is not known which google-adk the project uses, or the table of versions lacks that version.",
            "Start the server with --adk VERSION, or update ADK Evidence.",
        )
    found = check_code(checker, code)
    version = f"VERSION: google-adk {found.version}"
    if chosen.wanted is not None and chosen.wanted.taken_from:
        version += f", from {code_span(chosen.wanted.taken_from)}"
    return Answer("\n".join([one_line(version), *_told(found)]), found)


def _told(found: CodeCheck) -> list[str]:
    lines = [f"line {one.line}: {one_line(one.text)}" for one in found.problems[:MAX_PROBLEMS]]
    more = len(found.problems) - len(lines)
    return [*lines, *([f"and {more} more problems"] if more else []), one_line(found.summary)]


def _code(settings: Settings, arguments: CheckCode) -> str:
    """The code that is given, or read from a file where the user lets agents look."""
    if (arguments.code is None) == (arguments.path is None):
        raise InvalidRequestError("Exactly one of code and path is needed.", "Give the code, or a file of the project.")
    if arguments.code is not None:
        return arguments.code
    try:
        file = Path(arguments.path or "").resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL in the path, a loop of links
        raise InvalidRequestError("path is not a file on this machine.", "Check the path.") from None
    check_below_roots(settings, file, "path")
    try:
        usual = file.suffix == ".py" and file.stat().st_size <= MAX_FILE_BYTES
        raw = file.read_bytes() if usual else b""
    except OSError:
        raise InvalidRequestError("path is not a file that can be read.", "Check the path.") from None
    decoded = decode(raw) if usual and not is_binary(raw) else None
    if decoded is None:
        raise InvalidRequestError("path is not a Python file of a usual size.", "Give a part of it as code.")
    return decoded.text


CHECK_TOOLS: tuple[Tool, ...] = (Tool("Check ADK code", check_adk_code, CheckCode, CodeCheck),)
