"""The record of a run: its manifest and failure report (SPEC 3 section 12), written early and atomically."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adk_evidence.errors import EvidenceError, IngestError, StoreError
from adk_evidence.files import write_atomic
from adk_ingest.progress import Progress
from adk_ingest.wording import counted, named

# An `incomplete` run is published as well, without the files that a chunker failed on.
RunStatus = Literal["running", "complete", "incomplete", "unchanged", "failed", "interrupted"]
Stage = Literal["discover", "chunk", "embed", "sparse", "upsert", "verify", "publish"]
Mode = Literal["docs", "code", "all"]

# Manifests of older runs are removed.
KEPT_RUNS = 100


class IngestCancelledError(EvidenceError):
    """The run was cancelled."""

    code = "cancelled"
    exit_code = 130


class Cursor(BaseModel):
    """The last finished batch: its stage, its number and the units done so far."""

    stage: Stage
    batch: int = 0
    done: int = 0
    total: int | None = None


class CorpusRun(BaseModel):
    """What one run did with one corpus."""

    repo: str
    commit: str
    ref: str | None
    source: str
    root: str
    dirty: bool = False
    files: int = 0
    files_changed: int = 0
    files_removed: int = 0
    skipped: dict[str, int] = Field(default_factory=dict)
    skipped_examples: dict[str, list[str]] = Field(default_factory=dict)
    decode_warnings: list[str] = Field(default_factory=list)
    parse_failures: list[str] = Field(default_factory=list)
    failed_files: list[str] = Field(
        default_factory=list, description="Files that a chunker failed on; the index holds nothing of them."
    )
    chunks_without_terms: list[str] = Field(
        default_factory=list, description="Path and lines of chunks that hold no word to search for; they are left out."
    )
    warnings: list[str] = Field(default_factory=list)
    chunks: int = 0
    with_questions: int = Field(default=0, description="Chunks that have questions written beforehand.")
    tokens: int = 0


def left_out(corpus: str, failed_files: Sequence[str], chunks_without_terms: Sequence[str]) -> list[str]:
    """A sentence for each sort of thing that an index lacks of a corpus, with its number and the first names."""
    said = []
    if failed_files:
        files = counted(len(failed_files), "file", "files")
        said.append(f"{files} of {corpus} could not be split into chunks; the index lacks {named(failed_files)}.")
    if chunks_without_terms:
        chunks = counted(len(chunks_without_terms), "chunk", "chunks")
        one = len(chunks_without_terms) == 1
        verbs = "holds no word to search for and is" if one else "hold no word to search for and are"
        said.append(f"{chunks} of {corpus} {verbs} left out: {named(chunks_without_terms)}.")
    return said


class SpentOn(BaseModel):
    """What a run used of a paid model, as the service counted it."""

    requests: int
    tokens: int
    usd: float


class RunManifest(BaseModel):
    """One ingestion run. `missing` has the corpora that could not be read, each with the reason."""

    model_config = ConfigDict(validate_assignment=True)

    run_id: str
    pid: int
    status: RunStatus
    started_at: str
    finished_at: str | None = None
    mode: Mode
    profile: str
    config: dict[str, Any]
    chunker_version: str
    dense_model: str
    sparse_model: str
    corpora: dict[str, CorpusRun] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)
    cursor: Cursor | None = None
    generation: str | None = None
    lexical_generation: str | None = None
    points_uploaded: dict[str, int] = Field(default_factory=dict)
    qdrant_counts: dict[str, int] = Field(default_factory=dict)
    vectors_embedded: int = 0
    vectors_from_cache: int = 0
    spent: dict[str, SpentOn] = Field(default_factory=dict)
    resumed_from: str | None = None
    seconds: dict[str, float] = Field(default_factory=dict)
    notices: list[str] = Field(default_factory=list)
    errors: list[str] = Field(default_factory=list)

    def is_unfinished(self, store: object) -> bool:
        """Whether the run has recorded no end, and writes to the index of these store settings."""
        return self.status == "running" and self.config.get("store") == store


class FailureReport(BaseModel):
    """Why a run stopped and where it can go on."""

    run_id: str
    failed_at: str
    stage: Stage
    cursor: Cursor | None
    error: str
    hint: str
    failed_files: list[str]
    resume: str = "Run the same command again: finished vectors are taken from the embedding cache."


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def new_run_id() -> str:
    """A run id that sorts by time, to the microsecond: a small run takes less than a second."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S-%f}-{uuid.uuid4().hex[:6]}"


def recorded_runs(folder: Path) -> Iterator[RunManifest]:
    """Every readable manifest of a folder of runs, newest first."""
    for path in sorted(folder.glob("*.json"), reverse=True):
        if not path.name.endswith(".failure.json"):
            with suppress(OSError, ValidationError):
                yield RunManifest.model_validate_json(path.read_bytes())


class RunLog:
    """Keeps a run's manifest up to date, in memory and in the folder of runs, and shows the run's stages.

    The manifest is on disk from the beginning. Begin a run with the writer's lock held: then no other run into the same
    index is alive, and those that recorded no end were interrupted.
    """

    def __init__(self, run: RunManifest, folder: Path, progress: Progress) -> None:
        self.run = run
        self._folder = folder
        self._progress = progress
        for other in recorded_runs(folder):
            if other.run_id != run.run_id and other.is_unfinished(run.config.get("store")):
                other.status, other.finished_at = "interrupted", now()
                self.save(other)
                run.resumed_from = run.resumed_from or other.run_id
        self.save(run)
        self._remove_old()

    def save(self, saved: RunManifest | FailureReport) -> None:
        """Write a manifest in place of its older version, or a failure report beside its run's manifest.

        Raises:
            StoreError: The folder cannot be written.
        """
        kind = "failure." if isinstance(saved, FailureReport) else ""
        path = self._folder / f"{saved.run_id}.{kind}json"
        text = json.dumps(saved.model_dump(mode="json"), indent=2, ensure_ascii=False)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomic(path, (text + "\n").encode("utf-8", errors="backslashreplace"))
        except OSError as exc:
            raise StoreError.of_disk(f"The run manifest {path} cannot be written", exc) from exc

    def _remove_old(self) -> None:
        """Remove the manifests and failure reports of all but the latest runs."""
        ids = sorted({path.name.partition(".")[0] for path in self._folder.glob("*.json")}, reverse=True)
        for run_id in ids[KEPT_RUNS:]:
            for name in (f"{run_id}.json", f"{run_id}.failure.json"):
                with suppress(OSError):
                    (self._folder / name).unlink(missing_ok=True)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """The run from its beginning to its end: however it fails, the log says so.

        Raises:
            IngestError: Something failed that no `EvidenceError` tells of.
        """
        try:
            yield
        # BaseException: a panic of a native library is not an Exception.
        except BaseException as exc:
            self.fail(exc)
            if isinstance(exc, (EvidenceError, KeyboardInterrupt, SystemExit)):
                raise
            raise IngestError(
                f"Ingestion stopped at the stage {self.at}: {type(exc).__name__}: {exc}.",
                f"The failure report {self.run.run_id}.failure.json has the details; what was published still serves.",
            ) from exc

    @property
    def at(self) -> Stage:
        """The stage that the run has reached."""
        return self.run.cursor.stage if self.run.cursor else "discover"

    def reach(self, stage: Stage, total: int | None = None, unit: str = "") -> None:
        """A stage begins; from now on the manifest on disk names it."""
        self.run.cursor = Cursor(stage=stage, total=total)
        self.save(self.run)
        self._progress.stage(stage, total, unit)

    @contextmanager
    def stage(self, stage: Stage, total: int | None = None, unit: str = "") -> Iterator[None]:
        """A stage from its beginning to its end."""
        self.reach(stage, total, unit)
        with self.timed(stage):
            yield
        self.save(self.run)

    @contextmanager
    def timed(self, stage: Stage) -> Iterator[None]:
        """Add the time that something takes to its stage."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            seconds = self.run.seconds
            seconds[stage] = round(seconds.get(stage, 0.0) + time.perf_counter() - begin, 3)

    def note(self, notice: str) -> None:
        """Tell a person something, and write it down."""
        self._progress.note(notice)
        self.run.notices.append(notice)
        self.save(self.run)

    def end(self, status: RunStatus) -> None:
        run = self.run
        if status not in ("failed", "interrupted"):
            run.cursor = None
            for name, corpus in run.corpora.items():
                run.notices += left_out(name, corpus.failed_files, corpus.chunks_without_terms)
        run.status, run.finished_at = status, now()
        self.save(run)

    def fail(self, exc: BaseException) -> None:
        """Write down why the run failed; if writing fails as well, the caller still sees the first error."""
        run = self.run
        message, hint = f"{type(exc).__name__}: {exc}".rstrip(": "), ""
        if isinstance(exc, EvidenceError):
            message, hint = exc.message, exc.hint
        run.errors.append(message)
        report = FailureReport(
            run_id=run.run_id,
            failed_at=now(),
            stage=self.at,
            cursor=run.cursor,
            error=message,
            hint=hint,
            failed_files=[path for corpus in run.corpora.values() for path in corpus.parse_failures],
        )
        with suppress(StoreError):
            self.save(report)
            self.end("interrupted" if isinstance(exc, (KeyboardInterrupt, IngestCancelledError)) else "failed")
