"""Findings for tools that read them: SARIF 2.1.0 for code scanning, and annotations of GitHub's workflows."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from adk_evidence import __version__
from adk_evidence.render.sanitize import visible, visible_json

Level = Literal["error", "warning", "note"]
ProgramForm = Literal["json", "sarif", "github"]
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITHUB_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


@dataclass(frozen=True)
class Rule:
    """What a command looks for. `id` is stable, e.g. `citation-gone`; `text` is a sentence for people."""

    id: str
    text: str
    level: Level = "error"


@dataclass(frozen=True)
class Finding:
    """What a rule found: a sentence, and the file (relative to the working folder, if it lies below) with its lines.

    `level` stands in for the level of the rule. `key` tells findings of one rule in one file apart although lines
    move; without `key`, the message does.
    """

    rule: str
    message: str
    path: str
    start: int = 1
    end: int | None = None
    level: Level | None = None
    key: str = ""


def sarif(tool_rules: Sequence[Rule], findings: Iterable[Finding]) -> dict[str, Any]:
    """A SARIF 2.1.0 log of one run, with what GitHub's code scanning needs."""
    order = {rule.id: index for index, rule in enumerate(tool_rules)}
    rules = [
        {"id": rule.id, "shortDescription": {"text": rule.text}, "defaultConfiguration": {"level": rule.level}}
        for rule in tool_rules
    ]
    driver = {"name": "ADK Evidence", "semanticVersion": __version__, "rules": rules}
    results = [_result(finding, order[finding.rule], tool_rules[order[finding.rule]]) for finding in findings]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def github_annotations(tool_rules: Sequence[Rule], findings: Iterable[Finding]) -> str:
    """The findings as commands of GitHub's workflows, a line for each; empty where there are none."""
    levels = {rule.id: rule.level for rule in tool_rules}
    lines = []
    for finding in findings:
        start, end = _lines(finding)
        place = f"file={_property(_relative(finding.path))},line={start},endLine={end},title={_property(finding.rule)}"
        command = _GITHUB_COMMANDS[finding.level or levels[finding.rule]]
        lines.append(f"::{command} {place}::{_data(visible(finding.message))}\n")
    return "".join(lines)


def for_programs(form: ProgramForm, rules: Sequence[Rule], findings: Iterable[Finding], data: object) -> str:
    """The findings of a command in the form of its option --format; `data` is what its JSON says."""
    if form == "github":
        return github_annotations(rules, findings)
    if form == "sarif":
        return json.dumps(sarif(rules, findings), indent=2) + "\n"
    return visible_json(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def _result(finding: Finding, index: int, rule: Rule) -> dict[str, Any]:
    start, end = _lines(finding)
    path = _relative(finding.path)
    place = {"artifactLocation": {"uri": _uri(path)}, "region": {"startLine": start, "endLine": end}}
    identity = "\0".join((finding.rule, path, finding.key or finding.message))
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.level or rule.level,
        "message": {"text": _plain(finding.message)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"adkEvidence/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()},
    }


def _plain(message: str) -> str:
    """A message in which nothing reads as a link: SARIF 2.1.0, section 3.11.6, takes `[text](place)` for a link."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", visible(message))


def _lines(finding: Finding) -> tuple[int, int]:
    start = max(1, finding.start)
    return start, max(start, finding.end or start)


def _relative(path: str) -> str:
    """The path from the working folder, with slashes, where it lies below; else the absolute path."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (resolving links would lead out of the checkout)
    folder = Path.cwd()
    return (absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute).as_posix()


def _uri(path: str) -> str:
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path, safe="/", errors="replace")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
