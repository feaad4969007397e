"""What `lint` tells of programs: the lines of `wrong` that end with `# wrong: <kind> <reason>`, nothing of `right`."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason="NO google-adk HERE: `npm test` runs this in .venv-adk, as a part of its own")

HERE = Path(__file__).parent
MARK = re.compile(r"# wrong: (.*)")
# A careful reader tells these, too: what they say is not sure enough for a program.
WANTED_SHARE = 0.95


@pytest.fixture(scope="module")
def told() -> dict[Path, set[int]]:
    """The lines of each program of which `lint` tells something, by the packages of this environment."""
    command = [
        sys.executable,
        "-c",
        "from adk_evidence_cli.main import run; run()",
        "lint",
        HERE / "wrong",
        HERE / "right",
    ]
    run = subprocess.run([*command, "--python", sys.prefix, "--format", "json"], capture_output=True, text=True)
    lines: dict[Path, set[int]] = defaultdict(set)
    for problem in json.loads(run.stdout)["problems"]:
        lines[Path(problem["path"])].add(problem["line"])
    return lines


def marked(text: str) -> dict[int, str]:
    found = ((number, MARK.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return {number: match[1] for number, match in found if match}


def statement(tree: ast.Module, line: int) -> set[int]:
    """The lines of the innermost statement around a line; of one with a body, its head."""
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            spans.append(range(node.lineno, max(last, node.lineno) + 1))
    return set(min((span for span in spans if line in span), key=len, default=range(line, line + 1)))


def test_almost_every_wrong_line_is_told_and_no_other(told: dict[Path, set[int]]) -> None:
    missed, false, count = [], [], 0
    for file in sorted((HERE / "wrong").glob("*.py")):
        text = file.read_text(encoding="utf-8")
        marks, tree = marked(text), ast.parse(text)
        count += len(marks)
        near = {line: statement(tree, line) for line in marks}
        missed += [f"{file.name}:{line}: {why}" for line, why in marks.items() if told[file].isdisjoint(near[line])]
        false += [f"{file.name}:{line}" for line in told[file] - set().union(*near.values())]
    assert count >= 60 and not false
    assert len(missed) <= count * (1 - WANTED_SHARE), "\n".join(missed)


def test_nothing_is_told_of_right_programs(told: dict[Path, set[int]]) -> None:
    files = sorted((HERE / "right").glob("*.py"))
    assert len(files) >= 20
    assert [f"{file.name}:{line}" for file in files for line in sorted(told[file])] == []
