"""Findings as SARIF and as github_annotations, by the parts of the SARIF 2.1.0 schema that code scanning needs."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from adk_evidence_console.sarif import Finding, Rule, github_annotations, sarif

RULES = [Rule("citation-gone", "A cited text is gone."), Rule("citation-moved", "A cited text moved.", "warning")]
# From the schema of OASIS: what it requires of these objects, and what GitHub requires besides (a relative URI is
# one without a scheme).
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REGION = {
    "type": "object",
    "required": ["startLine", "endLine"],
    "properties": {name: {"type": "integer", "minimum": 1} for name in ("startLine", "endLine")},
    "additionalProperties": False,
}
PLACE = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "properties": {
        "artifactLocation": {"type": "object", "properties": {"uri": {"type": "string", "pattern": r"^\S+$"}}},
        "region": REGION,
    },
}
LOCATION = {"type": "object", "required": ["physicalLocation"], "properties": {"physicalLocation": PLACE}}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "minItems": 1, "maxItems": 1, "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "additionalProperties": False,
}
RULE = {
    "type": "object",
    "required": ["id", "shortDescription"],
    "properties": {
        "id": {"type": "string"},
        "shortDescription": TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}},
    },
}
DRIVER = {
    "type": "object",
    "required": ["name", "semanticVersion", "rules"],
    "properties": {
        "name": {"type": "string"},
        "semanticVersion": {"pattern": r"^\d+\.\d+\.\d+"},
        "rules": {"type": "array", "uniqueItems": True, "items": RULE},
    },
}
RUN = {
    "type": "object",
    "required": ["tool", "results"],
    "properties": {
        "tool": {"type": "object", "required": ["driver"], "properties": {"driver": DRIVER}},
        "results": {"type": "array", "items": RESULT},
    },
}
LOG = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": RUN},
    },
    "additionalProperties": False,
}


def log(*findings: Finding) -> list[dict[str, Any]]:
    """The results of the log, which the schema has passed and JSON can hold."""
    made = json.loads(json.dumps(sarif(RULES, findings)))
    jsonschema.validate(made, LOG)
    results: list[dict[str, Any]] = made["runs"][0]["results"]
    return results


def test_a_run_without_findings_is_a_log_too() -> None:
    assert log() == []


def test_a_finding_names_its_rule_its_file_and_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (found,) = log(Finding("citation-moved", "Moved.", str(tmp_path / "my packs/a.json"), 3, 5))
    assert (found["ruleId"], found["ruleIndex"], found["level"]) == ("citation-moved", 1, "warning")
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20packs/a.json"
    assert place["region"] == {"startLine": 3, "endLine": 5}


def test_a_file_outside_the_working_folder_has_an_absolute_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (found,) = log(Finding("citation-gone", "Gone.", "../a.json"))
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "a.json").as_uri()


def test_lines_that_no_file_has_become_the_first() -> None:
    (found,) = log(Finding("citation-gone", "Gone.", "a.json", 0, -1))
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "endLine": 1}


def test_a_fingerprint_stays_when_lines_move_and_tells_findings_apart() -> None:
    first, same, other = (
        found["partialFingerprints"]
        for found in log(
            Finding("citation-gone", "Gone from line 3.", "a.json", 3, key="x"),
            Finding("citation-gone", "Gone from line 9.", "a.json", 9, key="x"),
            Finding("citation-gone", "Gone from line 3.", "a.json", 3, key="y"),
        )
    )
    assert first == same != other


def test_the_level_of_a_finding_stands_in_for_that_of_its_rule() -> None:
    (found,) = log(Finding("citation-gone", "Gone.", "a.json", level="note"))
    assert found["level"] == "note"


def test_an_annotation_is_one_line_whatever_the_texts_hold() -> None:
    message, path = "50 %\nof ::error::x\x1b", "a:b,c.json"
    (line,) = github_annotations(RULES, [Finding("citation-gone", message, path, 2)]).splitlines()
    assert line == ("::error file=a%3Ab%2Cc.json,line=2,endLine=2,title=citation-gone::50 %25%0Aof ::error::x<U+001B>")
    assert github_annotations(RULES, [Finding("citation-moved", "Moved.", "a")]).startswith("::warning ")


def test_no_part_of_a_message_becomes_a_link() -> None:
    log = sarif(RULES, [Finding("citation-gone", r"a \ [here](https://example.org)", "a.md")])
    assert log["runs"][0]["results"][0]["message"]["text"] == r"a \\ \[here\](https://example.org)"
