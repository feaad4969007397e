"""`adk-evidence eval score`: a run's metrics as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from adk_evidence.evaluation.score import read_golden, read_run, score_run


def show_scores(golden: Path, run: Path, console: Console, *, as_json: bool) -> None:
    """Score a run against a golden set and print the means over its questions.

    Raises:
        InvalidRequestError: One of the files cannot be read.
    """
    expected, found = read_golden(golden), read_run(run)
    asked = [name for name, targets in expected.items() if targets]
    scores: Mapping[str, float] = score_run(found, expected)
    answered = sum(name in found for name in asked)
    if as_json:
        rounded = {name: round(value, 6) for name, value in scores.items()}
        console.file.write(json.dumps({"questions": len(asked), "answered": answered, "scores": rounded}) + "\n")
        return
    table = Table("metric", box=None, pad_edge=False)
    table.add_column("mean", justify="right")
    for name, value in scores.items():
        table.add_row(name, f"{value:.3f}")
    console.print(table)
    console.print(f"{answered} of {len(asked)} questions answered")
