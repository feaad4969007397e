"""Several processes: some ask, one ingests and may be killed at any stage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

import adk_ingest.pipeline as pipeline
from adk_evidence.store.qdrant_server import ServerRecord
from adk_ingest.commands.cli import app
from adk_ingest.commands.reports import make_status
from tests.corpora import HashEmbedder, Workplace
from tests.standins.live import server_store

REPOSITORY = Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 120.0
RETRY = "docs/tools/retry.md"


def environment(workplace: Workplace) -> dict[str, str]:
    """What tells another process where the index is, if it is on a server."""
    store = server_store() if workplace.store == "server" else {}
    return {f"ADK_EVIDENCE_STORE__{name.upper()}": str(value) for name, value in store.items()}


class Child:
    """A driver process whose lines are read as they come; a process that takes too long is killed."""

    def __init__(self, workplace: Workplace, errors: Path, *arguments: str) -> None:
        what, *rest = arguments
        with errors.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.process.ingest_driver", what, str(workplace.root), *rest],
                cwd=REPOSITORY,
                env={**os.environ, **environment(workplace)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )
        self._errors = errors
        self.lines: list[str] = []
        self._killer = threading.Timer(DEADLINE_SECONDS, self.process.kill)
        self._killer.start()

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def wait_for(self, wanted: Callable[[str], bool]) -> str:
        """The next line that is wanted; fails when the process ends before."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if wanted(self.lines[-1]):
                return self.lines[-1]
        pytest.fail(f"the process ended before: {self.errors}")

    def go_on(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self) -> int:
        """Close its input and wait for its end; returns the exit code."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.lines += [line.rstrip("\n") for line in self.process.stdout]
        return self.process.wait()

    def end(self) -> None:
        self._killer.cancel()
        self.process.kill()
        with suppress(BrokenPipeError), self.process:
            pass


@contextmanager
def child(workplace: Workplace, *arguments: str) -> Iterator[Child]:
    with tempfile.TemporaryDirectory() as folder:
        started = Child(workplace, Path(folder) / "errors", *arguments)
        try:
            yield started
        finally:
            started.end()


def reached(line: str) -> bool:
    return line == "reached"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """An ingested workplace; each test changes its corpus and leaves it with an index that is up to date."""
    made = Workplace(tmp_path_factory.mktemp("processes"))
    made.ingest()
    return made


@pytest.fixture(scope="module")
def on_server(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The same with its index on a server."""
    made = Workplace(tmp_path_factory.mktemp("server-processes"), store="server")
    made.ingest()
    return made


def rewrite(workplace: Workplace, word: str) -> None:
    """New text in more chunks than one batch of vectors."""
    sections = "".join(f"\n## Section {number}\n\nThe tool {word} number {number}.\n" for number in range(8))
    (workplace.docs / RETRY).write_text(f"# Retry a tool\n{sections}")


def test_two_processes_ask_while_a_third_ingests(workplace: Workplace) -> None:
    old = workplace.generations.current_id()
    rewrite(workplace, "waits")
    with (
        child(workplace, "ask") as first,
        child(workplace, "ask") as second,
        child(workplace, "ingest", "verify") as it,
    ):
        for asking in (first, second):
            assert json.loads(asking.wait_for(bool))["generation"] == old
        it.wait_for(reached)
        for asking in (first, second):
            assert json.loads(asking.wait_for(bool))["generation"] == old
        it.go_on()
        assert it.finish() == 0, it.errors
        new = workplace.generations.current_id()
        assert new != old
        for asking in (first, second):
            asking.wait_for(lambda line: json.loads(line)["generation"] == new)
            assert asking.finish() == 0, asking.errors
            answers = [json.loads(line) for line in asking.lines]
            generations = [answer["generation"] for answer in answers]
            assert generations == sorted(generations)
            assert set(generations) == {old, new}
            assert all(answer["results"] > 0 and not answer["warnings"] for answer in answers)
            assert "Traceback" not in asking.errors


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
@pytest.mark.parametrize("stage", ["discover", "chunk", "embed", "sparse", "upsert", "verify", "publish"])
@pytest.mark.parametrize("where", ["workplace", pytest.param("on_server", marks=pytest.mark.live)])
def test_a_killed_ingestion_harms_nobody_and_the_next_one_goes_on(
    request: pytest.FixtureRequest, where: str, stage: str
) -> None:
    workplace: Workplace = request.getfixturevalue(where)
    old = workplace.generations.current_id()
    word = f"kills{stage}"
    rewrite(workplace, word)
    with child(workplace, "ingest", stage) as it:
        it.wait_for(reached)
        assert make_status(workplace.settings).runs[0]["status"] == "running"
        it.process.kill()
        it.process.wait(DEADLINE_SECONDS)
    dead = workplace.runs()[0]
    assert dead.status == "running"
    assert make_status(workplace.settings).runs[0]["status"] == "interrupted"
    # `sparse` comes and goes with each batch of points, so the manifest on disk does not name it.
    assert dead.cursor is not None
    assert dead.cursor.stage == ("upsert" if stage == "sparse" else stage)

    assert workplace.generations.current_id() == old
    assert workplace.ask("how do I retry when a tool throws?").candidates

    embedder = HashEmbedder()
    run = workplace.ingest(dense=embedder)
    assert (run.status, run.resumed_from) == ("complete", dead.run_id)
    assert workplace.runs()[1].status == "interrupted"
    if stage in ("embed", "sparse", "upsert", "verify", "publish"):
        kept = 4 if stage == "embed" else run.vectors_from_cache
        assert run.vectors_from_cache >= kept > 0
        assert bool(embedder.embedded) == (stage == "embed")
    assert any(word in candidate.text for candidate in workplace.ask(f"the tool {word}").candidates)
    building = workplace.settings.index_path / "building"
    assert not [path for path in building.rglob("*") if path.is_file()]
    if where == "on_server":
        generations = (ServerRecord.read(generation.folder) for generation in workplace.generations.published())
        needed = {name for record in generations if record for name in record.collections.values()}
        assert set(json.loads(workplace.settings.paths.server_collections.read_bytes())["collections"]) == needed


def test_a_second_writer_is_refused_by_name_while_the_first_goes_on(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder())
    rewrite(workplace, "queues")
    command = ["all", "--docs", str(workplace.docs), "--code", str(workplace.code), "--home", str(workplace.home)]
    with child(workplace, "ingest", "embed") as it:
        it.wait_for(reached)
        runs = len(workplace.runs())
        refused = CliRunner().invoke(app, [*command, "--offline"])
        assert refused.exit_code == 5
        said = " ".join(refused.stderr.split())
        assert "Another process is writing to this index" in said
        assert f"process {it.process.pid} on" in said
        assert workplace.runs()[0].run_id in said
        assert len(workplace.runs()) == runs
        it.go_on()
        assert it.finish() == 0, it.errors
    assert workplace.ingest().status == "unchanged"


@pytest.mark.skipif(os.name != "posix", reason="SIGINT to one process is POSIX")
def test_ctrl_c_ends_with_130_and_a_sentence(workplace: Workplace) -> None:
    rewrite(workplace, "stops")
    old = workplace.generations.current_id()
    with child(workplace, "ingest", "embed") as it:
        it.wait_for(reached)
        it.process.send_signal(signal.SIGINT)
        assert it.finish() == 130
        assert "Interrupted" in it.errors
        assert "Traceback" not in it.errors
    stopped = workplace.runs()[0]
    assert stopped.status == "interrupted"
    assert workplace.failure(stopped.run_id).stage == "embed"
    assert workplace.generations.current_id() == old
    assert workplace.ingest().vectors_from_cache > 0
