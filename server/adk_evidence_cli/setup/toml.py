"""TOML, in which an entry is a table of its own at the end."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

TITLE = "TOML"


def parse(text: str) -> Any:
    return tomllib.loads(text)


def spell(table: str, name: str, entry: dict[str, Any]) -> str:
    # Strings and lists of strings are spelled as in JSON.
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())
    return "\n".join([f"[{table}.{name}]", *lines, ""])


def insert(text: str, table: str, name: str, entry: dict[str, Any]) -> tuple[int, str, str]:
    lead = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return len(text), "", lead + spell(table, name, entry)


def remove(text: str, table: str, name: str) -> str:
    # A comment may belong to the next table.
    own = rf"""^[ \t]*\[{table}\.["']?{name}["']?[\].].*?(?=^[ \t]*[\[#]|\Z)"""
    return re.sub(own, "", text, flags=re.MULTILINE | re.DOTALL)
