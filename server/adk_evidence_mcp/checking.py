"""The tool that checks an agent's own code against the version of the ADK that the project uses."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pydantic import Field

from adk_evidence.checks.code import check_code
from adk_evidence.checks.drift import checker_of
from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.base import Frozen
from adk_evidence.models.code import CodeCheck
from adk_evidence.render.sanitize import code_span, one_line
from adk_evidence.settings import Settings
from adk_evidence.text.textfile import decode, is_binary
from adk_evidence_agents.operations.requests import MAX_CODE_CHARS
from adk_evidence_agents.roots import allowed_file
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.tools import Tool
from adk_evidence_mcp.work import Call

# No person wrote a longer file.
MAX_FILE_BYTES = 1_000_000
# Nobody mends more at once.
MAX_PROBLEMS = 30


class CheckCode(Frozen):
    """Arguments of `check_adk_code`."""

    code: str | None = Field(default=None, max_length=MAX_CODE_CHARS)
    path: str | None = Field(default=None, max_length=4096, description="A file instead of code.")


def check_adk_code(session: AgentSession, arguments: CheckCode, call: Call) -> str:
    """Check Python code against the project's google-adk, google-genai, mcp and a2a-sdk without running it: imports,
    keywords, required arguments, overrides, missing await. Write, check, then look up only what is wrong.
    """
    with session.desk.open() as indexes:
        chosen = indexes.choose()
        code = _code(indexes.settings, arguments)
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
    return "\n".join([one_line(version), *_told(found)])


def _told(found: CodeCheck) -> list[str]:
    lines = [f"line {one.line}: {one_line(one.text)}" for one in found.problems[:MAX_PROBLEMS]]
    more = len(found.problems) - len(lines)
    return [*lines, *([f"and {more} more"] if more else []), one_line(found.summary)]


def _code(settings: Settings, arguments: CheckCode) -> str:
    """The code that is given, or read from a file where the user lets agents look."""
    if (arguments.code is None) == (arguments.path is None):
        raise InvalidRequestError("Exactly one of code and path is needed.", "Give the code, or a file of the project.")
    if arguments.code is not None:
        return arguments.code
    file = allowed_file(settings, arguments.path or "", "path")
    if file.suffix.lower() != ".py":
        raise InvalidRequestError("path does not end with .py.", "Name a Python file, or give its code.")
    try:
        raw = _read(file)
    except OSError:
        raw = None
    if raw is None:
        raise InvalidRequestError("path is not a file that can be read.", "Check the path.")
    if len(raw) > MAX_FILE_BYTES:
        raise InvalidRequestError(f"path has more than {MAX_FILE_BYTES:,} bytes.", "Give a part of it as code.")
    decoded = None if is_binary(raw) else decode(raw)
    if decoded is None:
        raise InvalidRequestError("path is not a text file.", "Name a Python file, or give its code.")
    return decoded.text


def _read(file: Path) -> bytes | None:
    """The beginning of a regular file, a byte more than may be; None of anything else, such as a pipe."""
    # Without following a link that somebody may have put there since the path was checked, or waiting for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(file, flags), "rb") as opened:
        return opened.read(MAX_FILE_BYTES + 1) if stat.S_ISREG(os.fstat(opened.fileno()).st_mode) else None


CHECK_TOOLS: tuple[Tool, ...] = (Tool("Check ADK code", check_adk_code, CheckCode),)
