"""Progress for people (a live bar on a terminal, plain lines otherwise) and for machines (JSON lines)."""

from __future__ import annotations

import json
import time
from typing import Self

import rich.progress as bars
from rich.console import Console

from adk_evidence.render.sanitize import visible
from adk_evidence_console import say
from adk_ingest.progress import Progress


class LiveProgress(Progress):
    """A bar with count, rate and time left for each stage."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = bars.Progress(
            bars.SpinnerColumn(),
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[unit]}"),
            bars.TextColumn("{task.fields[rate]}"),
            bars.TimeElapsedColumn(),
            bars.TextColumn("{task.fields[left]}"),
            console=console,
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Leave the finished bars on the screen."""
        if error is None:
            self._finish()
        self._bars.stop()

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        self._finish()
        super().stage(name, total, unit)
        self._bars.add_task(name, total=total, unit=unit, rate="", left="")

    def advance(self, count: int = 1) -> None:
        super().advance(count)
        elapsed = time.monotonic() - self.begun
        rate = f"{self.done / elapsed:,.0f}/s" if elapsed > 0.5 else ""
        self._bars.update(self._bars.task_ids[-1], advance=count, rate=rate, left=self.left)

    def published(self, *, vectors: bool) -> None:
        # What is printed meanwhile must not stand among the bars.
        self._bars.stop()
        super().published(vectors=vectors)
        self._bars.start()

    def note(self, message: str) -> None:
        """Print above the bars."""
        self._console.print(visible(message), markup=False)

    def _finish(self) -> None:
        for task in self._bars.tasks[-1:]:
            self._bars.update(task.id, total=task.total or max(1, task.completed), completed=task.total or 1)
            self._bars.stop_task(task.id)


class PlainProgress(Progress):
    """One line a stage, and one every few seconds while it lasts."""

    interval = 10.0

    def __init__(self, console: Console) -> None:
        self._console = console

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Close the last stage."""
        if error is None:
            self._close()

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        self._close()
        super().stage(name, total, unit)

    def show(self) -> None:
        rate = self.done / (time.monotonic() - self.begun)
        total = f" of {self.total:,}" if self.total is not None else ""
        left = f", {self.left}" if self.left else ""
        self.note(f"{self.name}: {self.done:,}{total} {self.unit}{left} ({rate:,.0f}/s)")

    def note(self, message: str) -> None:
        say(self._console, message)

    def _close(self) -> None:
        if self.name:
            count = f" {self.done:,} {self.unit}," if self.done else ""
            self.note(f"{self.name}:{count} {time.monotonic() - self.begun:.1f} s")
            self.name = ""


class JsonProgress(Progress):
    """One JSON object a line."""

    interval = 1.0

    def __init__(self, console: Console) -> None:
        self._file = console.file

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        super().stage(name, total, unit)
        self._write(event="stage", stage=name, total=total, unit=unit)

    def show(self) -> None:
        self._write(event="progress", stage=self.name, done=self.done)

    def note(self, message: str) -> None:
        self._write(event="note", message=message)

    def published(self, *, vectors: bool) -> None:
        self._write(event="published", vectors=vectors)

    def _write(self, **event: object) -> None:
        self._file.write(json.dumps(event, ensure_ascii=False) + "\n")
        self._file.flush()


def make_progress(console: Console, *, as_json: bool) -> Progress:
    """The view that fits where the output goes."""
    if as_json:
        return JsonProgress(console)
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)
