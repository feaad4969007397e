"""A client that speaks JSON-RPC to the letter: for messages that a well-behaved one does not send, and for timing."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0


def environment(**more: str) -> dict[str, str]:
    """The environment of a server process: this checkout's code, no settings of the developer's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ADK_EVIDENCE_")}
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])
    return {**kept, "PYTHONPATH": path, **more}


class RawClient:
    """A server process with pipes. A context manager: it kills what is left of the process.

    Args:
        command: The server's command line.
        settings: What the client answers to `workspace/configuration` for the section `adkEvidence`; None: the
            client says that it cannot be asked.
    """

    def __init__(self, command: Sequence[str], settings: dict[str, Any] | None = None) -> None:
        self.settings = settings
        self.opens_documents: bool | None = True
        self.process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        self.notifications: queue.Queue[dict[str, Any]] = queue.Queue()
        self.log: list[str] = []
        self._answers: dict[Any, queue.Queue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._next = 0
        self._readers = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_log)]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def initialize(self, *, capabilities: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Shake hands; returns the answer to `initialize`. `capabilities` are added to those of a plain editor."""
        able: dict[str, Any] = {
            "workspace": {"configuration": self.settings is not None},
            "window": {"workDoneProgress": True},
            **(capabilities or {}),
        }
        answer = self.request("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": able, **more})
        self.notify("initialized", {})
        return answer

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        """Open a document."""
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def ask(self, method: str, *params: Any) -> int:
        """Send a request, without the `params` member if none are given; returns its id."""
        with self._lock:
            self._next += 1
            number = self._next
            self._answers[number] = queue.Queue()
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        self.send({**message, "params": params[0]} if params else message)
        return number

    def answer(self, number: Any, timeout: float = SECONDS) -> dict[str, Any]:
        """Wait for the answer to a request."""
        return self._box(number).get(timeout=timeout)

    def request(self, method: str, *params: Any, timeout: float = SECONDS) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        return self.answer(self.ask(method, *params), timeout)

    def result(self, method: str, *params: Any) -> Any:
        """The result of a request that must succeed."""
        answer = self.request(method, *params)
        assert "error" not in answer, answer
        return answer["result"]

    def hover(self, uri: str, line: int, character: int) -> str | None:
        """The Markdown of a hover."""
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        result = self.result("textDocument/hover", where)
        return None if result is None else str(result["contents"]["value"])

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Any) -> None:
        """Send one message."""
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, body: bytes) -> None:
        """Send a body, whatever it is."""
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()

    def notification(self, method: str, timeout: float = SECONDS) -> Any:
        """The parameters of the next notification of a method; those of others before it are dropped."""
        while True:
            message = self.notifications.get(timeout=timeout)
            if message["method"] == method:
                return message["params"]

    def end(self, timeout: float = SECONDS) -> int:
        """Shut the server down as the protocol says; returns its exit status."""
        self.request("shutdown")
        self.notify("exit", None)
        return self.process.wait(timeout)

    def _box(self, number: Any) -> queue.Queue[dict[str, Any]]:
        with self._lock:
            return self._answers.setdefault(number, queue.Queue())

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                header = stream.readline()
            self._take(json.loads(stream.read(length), parse_constant=_refuse))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._box(message.get("id")).put(message)
        elif "id" not in message:
            self.notifications.put(message)
        elif message["method"] == "workspace/configuration":
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": [self.settings]})
        elif message["method"] == "window/showDocument":
            self.notifications.put(message)
            if self.opens_documents is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"success": self.opens_documents}})
        else:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace"))


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")
