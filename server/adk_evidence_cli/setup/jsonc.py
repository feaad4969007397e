"""JSON with comments and with commas behind the last value, as editors read it."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

TITLE = "JSON"
_PIECE = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?P<skip>[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)|[{}\[\],:]|[^\s"{}\[\],:/]+', re.DOTALL
)
# Comments that belong to what stands before them on their line.
_REMARKS = re.compile(r"(?:[ \t]*/\*(?:(?!\*/)[^\r\n])*\*/)*(?:[ \t]*//[^\r\n]*)?")


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def parse(text: str) -> Any:
    words: list[str] = []
    for word, *_ in _tokens(text):
        if word in ("}", "]") and words[-1:] == [","] and words[-2] not in (",", "{", "["):
            words.pop()
        words.append(word)
    return json.loads(" ".join(words)) if words else {}


def spell(table: str, name: str, entry: dict[str, Any]) -> str:
    return json.dumps({table: {name: entry}}, ensure_ascii=False)


def insert(text: str, table: str, name: str, entry: dict[str, Any]) -> tuple[int, str, str]:
    tokens = _tokens(text)
    if not tokens:
        lead = "\n" if text and not text.endswith("\n") else ""
        return len(text), "", f"{lead}{json.dumps({table: {name: entry}}, indent=2, ensure_ascii=False)}\n"
    opening, key, value = 0, table, {name: entry}
    if (place := _members(tokens, 0).get(table)) is not None:
        opening, key, value = place[1], name, entry
    closing = _closing(tokens, opening)
    last, is_empty = tokens[closing - 1], closing == opening + 1
    # A new value follows the comments behind the last one, whose comma stands before them.
    behind = next(_REMARKS.finditer(text, last.end))[0]
    outer, unit = _indent(text, tokens[opening]), _indent(text, tokens[1]) or "  "
    lead = "\n" + (outer + unit if is_empty else _indent(text, tokens[opening + 1]) or outer + unit)
    spelled = json.dumps({key: value}, indent=unit, ensure_ascii=False)[1:-1].rstrip().replace("\n" + unit, lead)
    tail = "\n" + outer if is_empty and "\n" not in text[last.end + len(behind) : tokens[closing].start] else ""
    before, after = ("", ",") if last.text == "," else ("" if is_empty else ",", "")
    return last.end, behind, f"{before}{behind}{spelled}{after}{tail}"


def remove(text: str, table: str, name: str) -> str:
    tokens = _tokens(text)
    key, value = _members(tokens, _members(tokens, 0)[table][1])[name]
    end = _closing(tokens, value)
    before, after = tokens[key - 1], tokens[end + 1]
    if after.text == ",":
        return text[: tokens[key].start] + text[after.end :].lstrip()
    kept = text[: tokens[key].start].rstrip()
    if before.text == ",":
        kept = kept[: before.start] + kept[before.end :]
    return kept + text[tokens[end].end :]


def _tokens(text: str) -> list[_Token]:
    """The parts of a text that are neither space nor comments."""
    found, at = [], 0
    while at < len(text):
        if (piece := _PIECE.match(text, at)) is None:
            raise ValueError("A character does not belong there.")
        if piece["skip"] is None:
            found.append(_Token(piece[0], at, piece.end()))
        at = piece.end()
    return found


def _members(tokens: list[_Token], opening: int) -> dict[str, tuple[int, int]]:
    """Where the keys and the values of an object begin; of equal keys the last one counts."""
    found, at = {}, opening + 1
    while tokens[at].text != "}":
        found[json.loads(tokens[at].text)] = at, at + 2
        at = _closing(tokens, at + 2) + 1
        at += tokens[at].text == ","
    return found


def _closing(tokens: list[_Token], at: int) -> int:
    """Where the value ends that begins at a token."""
    depth = 0
    while True:
        depth += (tokens[at].text in ("{", "[")) - (tokens[at].text in ("}", "]"))
        if depth == 0:
            return at
        at += 1


def _indent(text: str, token: _Token) -> str:
    """The space at the beginning of a token's line."""
    line = text[text.rfind("\n", 0, token.start) + 1 : token.start]
    return line[: len(line) - len(line.lstrip())]
