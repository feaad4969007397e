"""The open documents, parsed once per version, and places in them. No package is needed for that."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol

from adk_evidence.documents.document import PythonDocument, split_document

PARSED_DOCUMENTS = 16


class Position(Protocol):
    """A place as a client names it: a line, and a column in the units that client and server agreed on."""

    line: int
    character: int


@dataclass(frozen=True)
class Snapshot:
    """One version of an open document, safe to read in another thread."""

    uri: str
    version: int | None
    text: str
    language: str
    encoding: str

    def place(self, position: Position) -> tuple[int, int]:
        """Line and column in characters of a place that a client names; beyond the end of a line is its end."""
        lines = split_document(self.text)
        if position.line >= len(lines):
            return len(lines) - 1, len(lines[-1])
        return position.line, _column(lines[position.line], position.character, self.encoding)

    def position(self, line: int, column: int) -> dict[str, int]:
        """The place of a line and a column in characters, as clients name places."""
        before = split_document(self.text)[line][:column]
        if self.encoding == "utf-8":
            return {"line": line, "character": len(before.encode("utf-8", "surrogatepass"))}
        wide = sum(char > "\uffff" for char in before) if self.encoding != "utf-32" else 0
        return {"line": line, "character": len(before) + wide}


class Documents:
    """The parsed forms of open documents."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[str, tuple[Snapshot, PythonDocument]] = OrderedDict()
        self._lock = threading.Lock()

    def parsed(self, snapshot: Snapshot) -> PythonDocument:
        """The names in a document, which is parsed once per version."""
        with self._lock:
            known = self._parsed.get(snapshot.uri)
            # A client may give two texts the same version, for instance when it opens a document again.
            if known is not None and known[0] == snapshot:
                self._parsed.move_to_end(snapshot.uri)
                return known[1]
        document = PythonDocument(snapshot.text, python=snapshot.language == "python")
        with self._lock:
            self._parsed[snapshot.uri] = (snapshot, document)
            self._parsed.move_to_end(snapshot.uri)
            while len(self._parsed) > PARSED_DOCUMENTS:
                self._parsed.popitem(last=False)
        return document

    def forget(self, uri: str) -> None:
        with self._lock:
            self._parsed.pop(uri, None)


def _column(line: str, units: int, encoding: str) -> int:
    """A column in characters from a column in the units that client and server agreed on."""
    if line.isascii() or encoding == "utf-32":
        return min(units, len(line))
    # pygls's codec would change the position that it is given, and count `\r\n` as one character.
    for column, char in enumerate(line):
        if units <= 0:
            return column
        if encoding == "utf-8":
            units -= len(char.encode("utf-8", "surrogatepass"))
        else:
            units -= 2 if ord(char) > 0xFFFF else 1
    return len(line)
