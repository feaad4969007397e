"""Trains the adapter that brings questions nearer to what answers them, and ships in `config`.

    python -m tests.quality.train_questions --out config/question_adapter.safetensors

The data are the questions that were written for the chunks of an index; no labelled question is used. Ctrl+C keeps what
was learnt so far.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from adk_evidence.errors import InvalidRequestError
from adk_evidence_console import (
    Home,
    Profile,
    path_option,
    say,
    settings_from,
    stderr,
    stdout,
    write_json,
)
from tests.quality.tool import tool
from tests.quality.training import questions as training
from tests.quality.training.questions import QuestionReport


def train_questions(
    out: Annotated[Path, path_option("Where the adapter is written.")],
    questions: Annotated[int | None, typer.Option(help="Questions to train with, at most.", min=1)] = None,
    epochs: Annotated[int, typer.Option(help="How often each question is asked.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Decides order, draws and the beginning.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Train an adapter for questions from an index, write it, and measure it with held-out questions."""
    settings = settings_from(profile, home)
    _check_place(out)
    report = training.train_questions(
        settings, out, questions=questions, epochs=epochs, seed=seed, tell=lambda sentence: say(stderr(), sentence)
    )
    if as_json:
        write_json(stdout(), asdict(report))
    else:
        for sentence in sentences(report):
            say(stdout(), sentence)
    if not report.written:
        say(stderr(), "Nothing was learnt, and no adapter was written.")
        return
    say(stderr(), f"The adapter is in {out}. `embedding.dense.question_adapter: {out}` in the settings uses it.")


def sentences(report: QuestionReport) -> list[str]:
    """How a training went, and where the chunks that answer held-out questions are ranked without and with it."""
    told = [
        f"{report.questions:,} questions in {report.seconds:,.0f} s, loss {report.loss:.3f}",
        f"training data: sha256 {report.data_sha256}",
    ]
    if report.interrupted:
        told.append("The training was interrupted.")
    if report.before is not None and report.after is not None:
        before, after = report.before, report.after
        told.append(
            f"{report.held_out} held-out questions by dense vectors alone: MRR {before.mrr:.3f} without and "
            f"{after.mrr:.3f} with the adapter, recall@12 {before.recall:.3f} and {after.recall:.3f}"
        )
        if after.mrr <= before.mrr:
            told.append("This adapter does not help: train with more questions before you use it.")
    return told


def _check_place(path: Path) -> None:
    """Refuse a place that cannot be written before a long training."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writable = not path.is_dir() and os.access(path.parent, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise InvalidRequestError(f"{path} cannot be written.", "Name another file.")


app = tool(train_questions)

if __name__ == "__main__":
    app()
