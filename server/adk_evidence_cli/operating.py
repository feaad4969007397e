"""`adk-evidence operate`: one operation for agents, from JSON to JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING

from adk_evidence.errors import InvalidRequestError
from adk_evidence.settings import Settings
from adk_evidence.text.textfile import decode_any
from adk_evidence_agents.operations.execute import execute
from adk_evidence_agents.operations.responses import SchemaName, operation_schema
from adk_evidence_agents.session import AgentSession
from adk_evidence_cli.terminal import progress_on

if TYPE_CHECKING:
    from rich.console import Console

FAILED = 1


def read_request(name: str, read_stdin: Callable[[], str]) -> str:
    """The request's text from a file, or from standard input for `-`."""
    if not name:
        raise InvalidRequestError("The name of the request's file is empty.", "Name a file, or - for standard input.")
    try:
        return read_stdin() if name == "-" else decode_any(Path(name).read_bytes())
    except OSError as exc:
        raise InvalidRequestError(f"The file {name} cannot be read: {exc.strerror}.", "Check its path.") from exc


def operate(request: str, load: Callable[[], Settings], out: IO[str], err: Console) -> int:
    """Carry out a request and print the response; the exit code is 1 if it failed."""
    with closing(AgentSession(load)) as session, err.status("") as shown:
        response = execute(request, session, progress=progress_on(shown))
    out.write(json.dumps(response.as_json(), ensure_ascii=False, indent=2) + "\n")
    return FAILED if response.status == "failed" else 0


def schema_text(name: SchemaName) -> str:
    """A published schema, as its file in `config/schemas` has it."""
    return json.dumps(operation_schema(name), indent=2) + "\n"
