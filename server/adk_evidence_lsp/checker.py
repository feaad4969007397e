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
from dataclasses import replace
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, BinaryIO

from adk_evidence import __version__
from adk_evidence.checks.drift import checker_for
from adk_evidence.text.redaction import where_raised
from adk_evidence_lsp import remarks
from adk_evidence_lsp.documents import Documents, Snapshot
from adk_evidence_lsp.projects import adk_of, project_at, projects_of

_SECTION = "adkEvidence"
_SETTINGS = "workspace/configuration"
_CHANGED = "workspace/didChangeConfiguration"
_ABILITIES = {
    "positionEncoding": "utf-16",
    # Documents come whole.
    "textDocumentSync": {"openClose": True, "change": 1},
    "diagnosticProvider": {"identifier": "adk-evidence", "interFileDependencies": False, "workspaceDiagnostics": False},
    "codeActionProvider": {"codeActionKinds": [remarks.QUICK_FIX, remarks.FIX_ALL]},
}
_INTERNAL_ERROR, _METHOD_NOT_FOUND, _CANCELLED = -32603, -32601, -32800


class Checker:
    """What one client has said so far, and the answers to it; `send` sends a message to the client."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._documents = Documents()
        self._open: dict[str, Snapshot] = {}
        self._folders: list[str] = []
        self._pythons: dict[str, str] = {}
        self._severity: dict[str, str] = {}

    def take(self, message: dict[str, Any], *, cancelled: bool = False) -> None:
        """Do what a message says; a request gets its answer, if only that it was `cancelled`."""
        method, number = message.get("method"), message.get("id")
        answer: dict[str, Any] = {"error": {"code": _CANCELLED, "message": "Cancelled."}}
        try:
            if method is None:
                if number == _SETTINGS and message.get("result"):
                    settings = message["result"][0] or {}
                    self._pythons = settings.get("interpreters", {})
                    self._severity = settings.get("diagnostics", {}).get("severity", {})
                    self._ask("workspace/diagnostic/refresh")
                return
            if number is None or not cancelled:
                answer = {"result": self._answer(method, message.get("params") or {})}
        except NotImplementedError:
            answer = {"error": {"code": _METHOD_NOT_FOUND, "message": f"The checker does not know {method}."}}
        except Exception as exc:
            print(where_raised(exc), file=sys.stderr)
            answer = {"error": {"code": _INTERNAL_ERROR, "message": type(exc).__name__}}
        if number is not None:
            self._send({"id": number, **answer})

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        named = params.get("textDocument", {})
        uri: str = named.get("uri", "")
        match method:
            case "initialize":
                self._folders = [one["uri"] for one in params.get("workspaceFolders") or ()]
                return {"capabilities": _ABILITIES, "serverInfo": {"name": "adk-evidence", "version": __version__}}
            case "initialized" | "workspace/didChangeConfiguration":
                if method == "initialized":
                    registration = {"id": _CHANGED, "method": _CHANGED, "registerOptions": {"section": _SECTION}}
                    self._ask("client/registerCapability", {"registrations": [registration]})
                self._ask(_SETTINGS, {"items": [{"section": _SECTION}]})
            case "textDocument/didOpen":
                self._open[uri] = Snapshot(uri, named["version"], named["text"], named["languageId"], "utf-16")
            case "textDocument/didChange":
                text = params["contentChanges"][-1]["text"]
                self._open[uri] = replace(self._open[uri], version=named["version"], text=text)
            case "textDocument/didClose":
                self._open.pop(uri, None)
                self._documents.forget(uri)
            case "textDocument/diagnostic":
                return {"kind": "full", "items": self._diagnostics(uri)}
            case "textDocument/codeAction":
                return self._actions(uri, params["context"])
            case _ if method != "shutdown":
                raise NotImplementedError
        return None

    def _ask(self, method: str, params: Any = None) -> None:
        # One name for all such requests: the last answer counts.
        self._send({"id": method, "method": method, "params": params})

    def _said(self, uri: str) -> remarks.Said | None:
        snapshot = self._open.get(uri)
        if snapshot is None or not remarks.may_concern(snapshot):
            return None
        project = project_at(uri, projects_of(self._folders, self._pythons))
        adk = adk_of(project) if project is not None else None
        checker = checker_for(adk.version) if adk is not None else None
        if checker is None:
            return None
        return remarks.said_of(snapshot, self._documents.parsed(snapshot), checker, self._severity)

    def _diagnostics(self, uri: str) -> list[dict[str, Any]]:
        said = self._said(uri)
        return [remarks.diagnostic_of(said.snapshot, one, self._severity) for one in said.remarks] if said else []

    def _actions(self, uri: str, context: dict[str, Any]) -> list[dict[str, Any]]:
        everything = remarks.wants_fix_all(context.get("only"))
        own = [one for one in context["diagnostics"] if one.get("source") == remarks.SOURCE]
        said = self._said(uri) if everything or (own and everything is None) else None
        if said is None or everything:
            return remarks.fix_all(said) if said else []
        starts = [(one, SimpleNamespace(**one["range"]["start"])) for one in own]
        found = ((one, remarks.quick_fix(said, start, one.get("code"))) for one, start in starts)
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
