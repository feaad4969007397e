"""Progress for people (a live bar on a terminal, plain lines otherwise) and for machines (JSON lines)."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from adk_evidence.render.sanitize import visible
from adk_ingest.progress import Silent

# A plain log shows a long stage this often.
PLAIN_INTERVAL_SECONDS = 10.0


class LiveProgress(Silent):
    """A bar with count, rate and time left for each stage."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._task: TaskID | None = None
        self._begun = time.monotonic()
        self._done = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the finished bars on the screen."""
        if error is None:
            self._finish()
        self._progress.stop()

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Finish the bar before and begin the next."""
        self._finish()
        self._begun, self._done = time.monotonic(), 0
        self._task = self._progress.add_task(name, total=total, unit=unit, rate="")

    def advance(self, count: int = 1) -> None:
        """Move the bar."""
        if self._task is None:
            return
        self._done += count
        elapsed = time.monotonic() - self._begun
        rate = f"{self._done / elapsed:,.0f}/s" if elapsed > 0.5 else ""
        self._progress.update(self._task, advance=count, rate=rate)

    def note(self, message: str) -> None:
        """Print above the bars."""
        self._console.print(visible(message), markup=False)

    def _finish(self) -> None:
        if self._task is not None:
            task = self._progress.tasks[self._task]
            self._progress.update(self._task, total=task.total or max(1, task.completed), completed=task.total or 1)
            self._progress.stop_task(self._task)


class PlainProgress(Silent):
    """One line a stage, and one every few seconds while it lasts."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._name, self._unit, self._total, self._done = "", "", None, 0  # type: tuple[str, str, int | None, int]
        self._begun = self._shown = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the last stage."""
        if error is None:
            self._close()

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Close the stage before and begin the next."""
        self._close()
        self._name, self._unit, self._total, self._done = name, unit, total, 0
        self._begun = self._shown = time.monotonic()

    def advance(self, count: int = 1) -> None:
        """Count, and now and then say so."""
        self._done += count
        now = time.monotonic()
        if now - self._shown >= PLAIN_INTERVAL_SECONDS:
            self._shown = now
            rate = self._done / (now - self._begun)
            left = ""
            if self._total is not None and rate > 0:
                left = f" of {self._total:,}, about {max(0, self._total - self._done) / rate:,.0f} s left"
            self._print(f"{self._name}: {self._done:,} {self._unit}{left} ({rate:,.0f}/s)")

    def note(self, message: str) -> None:
        """Print the message."""
        self._print(message)

    def _close(self) -> None:
        if self._name:
            seconds = time.monotonic() - self._begun
            count = f" {self._done:,} {self._unit}," if self._done else ""
            self._print(f"{self._name}:{count} {seconds:.1f} s")
            self._name = ""

    def _print(self, message: str) -> None:
        self._console.print(visible(message), markup=False, soft_wrap=True)


class JsonProgress(Silent):
    """One JSON object a line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stage, self._done, self._shown = "", 0, time.monotonic()

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Report the beginning."""
        self._stage, self._done, self._shown = name, 0, time.monotonic()
        self._emit({"event": "stage", "stage": name, "total": total, "unit": unit})

    def advance(self, count: int = 1) -> None:
        """Report at most once a second."""
        self._done += count
        if time.monotonic() - self._shown >= 1.0:
            self._shown = time.monotonic()
            self._emit({"event": "progress", "stage": self._stage, "done": self._done})

    def note(self, message: str) -> None:
        """Report a note."""
        self._emit({"event": "note", "message": message})

    def _emit(self, event: dict[str, object]) -> None:
        self._console.file.write(json.dumps(event, ensure_ascii=False) + "\n")
        self._console.file.flush()


def make_progress(console: Console, *, as_json: bool) -> Silent:
    """The view that fits where the output goes."""
    if as_json:
        return JsonProgress(console)
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)
