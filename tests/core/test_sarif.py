"""Findings as SARIF 2.1.0 and as annotations of GitHub."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from adk_evidence_console.sarif import Finding, Rule, github_annotations, sarif

RULES = [Rule("citation-gone", "A cited text is gone."), Rule("citation-moved", "A cited text moved.", "warning")]


def log(*findings: Finding) -> list[dict[str, Any]]:
    """The results of the log, which JSON can hold."""
    results: list[dict[str, Any]] = json.loads(json.dumps(sarif(RULES, findings)))["runs"][0]["results"]
    return results


def test_a_log_has_what_the_schema_and_code_scanning_require(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = sarif(RULES, [Finding("citation-moved", "Moved.", str(tmp_path / "my packs/a.json"), 3, 5)])
    (run,) = made["runs"]
    (found,) = run["results"]
    assert made["version"] == "2.1.0" and not made.keys() - {"$schema", "version", "runs"}
    driver = run["tool"]["driver"]
    assert driver["name"] and re.match(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    assert [rule["id"] for rule in driver["rules"]] == ["citation-gone", "citation-moved"]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert all(isinstance(text, str) for text in found.pop("partialFingerprints").values())
    assert found == {
        "ruleId": "citation-moved",
        "ruleIndex": 1,
        "level": "warning",
        "message": {"text": "Moved."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "my%20packs/a.json"},
                    "region": {"startLine": 3, "endLine": 5},
                }
            }
        ],
    }
    assert log() == []


def test_a_file_outside_the_working_folder_has_an_absolute_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (found,) = log(Finding("citation-gone", "Gone.", "../a.json"))
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "a.json").as_uri()


def test_lines_that_no_file_has_become_the_first_and_a_finding_may_have_a_level() -> None:
    (found,) = log(Finding("citation-gone", "Gone.", "a.json", 0, -1, level="note"))
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "endLine": 1}
    assert found["level"] == "note"


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


def test_an_annotation_is_one_line_whatever_the_texts_hold() -> None:
    message, path = "50 %\nof ::error::x\x1b", "a:b,c.json"
    (line,) = github_annotations(RULES, [Finding("citation-gone", message, path, 2)]).splitlines()
    assert line == ("::error file=a%3Ab%2Cc.json,line=2,endLine=2,title=citation-gone::50 %25%0Aof ::error::x<U+001B>")
    assert github_annotations(RULES, [Finding("citation-moved", "Moved.", "a")]).startswith("::warning ")


def test_no_part_of_a_message_becomes_a_link() -> None:
    log = sarif(RULES, [Finding("citation-gone", r"a \ [here](https://example.org)", "a.md")])
    assert log["runs"][0]["results"][0]["message"]["text"] == r"a \\ \[here\](https://example.org)"
