"""Diagnostics and what mends them before an environment is made: a server that any Python runs without a package.

An editor runs it until the language server answers, which says the same by the same code (`remarks.py`).
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from adk_evidence import __version__
from adk_evidence.checks.drift import checker_for
from adk_evidence.text.redaction import where_raised
from adk_evidence_lsp.documents import Documents, Snapshot
from adk_evidence_lsp.projects import adk_of, project_at, projects_of
from adk_evidence_lsp.remarks import (
    FIX_ALL,
    QUICK_FIX,
    SOURCE,
    Said,
    diagnostic_of,
    fix_all,
    may_concern,
    quick_fix,
    said_of,
    wants_fix_all,
)

_SECTION = "adkEvidence"
_SETTINGS = "workspace/configuration"
_CHANGED = "workspace/didChangeConfiguration"
_ABILITIES = {
    "positionEncoding": "utf-16",
    # Documents come whole.
    "textDocumentSync": {"openClose": True, "change": 1},
    "diagnosticProvider": {
        "identifier": "adk-evidence",
        "interFileDependencies": False,
        "workspaceDiagnostics": False,
    },
    "codeActionProvider": {"codeActionKinds": [QUICK_FIX, FIX_ALL]},
}
_INTERNAL_ERROR, _METHOD_NOT_FOUND, _CANCELLED = -32603, -32601, -32800


class _Point(NamedTuple):
    line: int
    character: int


class _UnknownMethodError(Exception):
    """The client asks for something that the checker does not do."""


class Checker:
    """What one client has said so far, and the answers to it.

    Args:
        send: Sends a message to the client.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._documents = Documents()
        self._open: dict[str, Snapshot] = {}
        self._folders: list[str] = []
        self._settings: dict[str, Any] = {}

    def take(self, message: dict[str, Any], *, cancelled: bool = False) -> None:
        """Do what a message says; a request gets its answer, if only that it was `cancelled`."""
        method, number = message.get("method"), message.get("id")
        answer: dict[str, Any]
        try:
            if method is None:
                if number == _SETTINGS and message.get("result"):
                    self._settings = message["result"][0] or {}
                    self._ask("workspace/diagnostic/refresh")
                return
            answer = {"error": {"code": _CANCELLED, "message": "Cancelled."}}
            if number is None or not cancelled:
                answer = {"result": self._answer(method, message.get("params") or {})}
        except _UnknownMethodError:
            answer = {"error": {"code": _METHOD_NOT_FOUND, "message": f"The checker does not know {method}."}}
        except Exception as exc:
            print(where_raised(exc), file=sys.stderr)
            answer = {"error": {"code": _INTERNAL_ERROR, "message": type(exc).__name__}}
        if number is not None:
            self._send({"id": number, **answer})

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        match method:
            case "initialize":
                self._folders = [one["uri"] for one in params.get("workspaceFolders") or ()]
                return {"capabilities": _ABILITIES, "serverInfo": {"name": "adk-evidence", "version": __version__}}
            case "initialized":
                registration = {"id": _CHANGED, "method": _CHANGED, "registerOptions": {"section": _SECTION}}
                self._ask("client/registerCapability", {"registrations": [registration]})
                self._ask(_SETTINGS, {"items": [{"section": _SECTION}]})
            case "workspace/didChangeConfiguration":
                self._ask(_SETTINGS, {"items": [{"section": _SECTION}]})
            case "textDocument/didOpen":
                opened = params["textDocument"]
                uri = opened["uri"]
                self._open[uri] = Snapshot(uri, opened["version"], opened["text"], opened["languageId"], "utf-16")
            case "textDocument/didChange":
                uri, version = params["textDocument"]["uri"], params["textDocument"]["version"]
                text = params["contentChanges"][-1]["text"]
                self._open[uri] = Snapshot(uri, version, text, self._open[uri].language, "utf-16")
            case "textDocument/didClose":
                self._open.pop(params["textDocument"]["uri"], None)
                self._documents.forget(params["textDocument"]["uri"])
            case "textDocument/diagnostic":
                return {"kind": "full", "items": self._diagnostics(params["textDocument"]["uri"])}
            case "textDocument/codeAction":
                return self._actions(params["textDocument"]["uri"], params["context"])
            case "shutdown":
                pass
            case _:
                raise _UnknownMethodError
        return None

    def _ask(self, method: str, params: Any = None) -> None:
        # One name for all such requests: the last answer counts.
        self._send({"id": method, "method": method, "params": params})

    @property
    def _severity(self) -> dict[str, str]:
        found: dict[str, str] = self._settings.get("diagnostics", {}).get("severity", {})
        return found

    def _said(self, snapshot: Snapshot | None) -> Said | None:
        if snapshot is None or not may_concern(snapshot):
            return None
        project = project_at(snapshot.uri, projects_of(self._folders, self._settings.get("interpreters", {})))
        adk = adk_of(project) if project is not None else None
        checker = checker_for(adk.version) if adk is not None else None
        return said_of(self._documents.parsed(snapshot), checker, self._severity) if checker is not None else None

    def _diagnostics(self, uri: str) -> list[dict[str, Any]]:
        snapshot = self._open.get(uri)
        said = self._said(snapshot)
        if snapshot is None or said is None:
            return []
        return [diagnostic_of(snapshot, one, self._severity) for one in said.remarks]

    def _actions(self, uri: str, context: dict[str, Any]) -> list[dict[str, Any]]:
        snapshot, everything = self._open.get(uri), wants_fix_all(context.get("only"))
        own = [one for one in context["diagnostics"] if one.get("source") == SOURCE]
        said = self._said(snapshot) if everything or own else None
        if snapshot is None or said is None or everything is False:
            return []
        if everything:
            return fix_all(snapshot, said)
        found = ((one, quick_fix(snapshot, said, _Point(**one["range"]["start"]), one.get("code"))) for one in own)
        return [{**fix, "diagnostics": [one]} for one, fix in found if fix is not None]


def messages(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """The messages of a client until it ends the stream."""
    while True:
        length = 0
        while (line := stream.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not line:
            return
        yield json.loads(stream.read(length))


def main() -> None:
    """Serve the client at standard input and output until it ends. Does not return."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    inbox: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    cancelled: set[Any] = set()

    def send(message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        out.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        out.flush()

    def read() -> None:
        # Who types is faster than checks are: those that nobody waits for any more are left out.
        with suppress(Exception):
            for message in messages(sys.stdin.buffer):
                if message.get("method") == "exit":
                    break
                if message.get("method") == "$/cancelRequest":
                    cancelled.add(message["params"]["id"])
                else:
                    inbox.put(message)
        inbox.put(None)

    threading.Thread(target=read, daemon=True).start()
    checker = Checker(send)
    with suppress(BrokenPipeError):
        while (message := inbox.get()) is not None:
            checker.take(message, cancelled=message.get("id") in cancelled)
    os._exit(0)
