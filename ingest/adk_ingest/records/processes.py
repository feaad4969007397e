"""Makes the records of many files in several processes: cutting files is most of the work of a first ingestion.

Each process gets its files at its start, and writes what it makes of them, in their order, into a pipe. A process that
is ahead waits, so that results do not pile up. What comes out does not depend on the number of processes.

They are plain child processes: those of `multiprocessing` would run the caller's main program again, which may be any
program that has our operations.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import BinaryIO

from adk_evidence.embedding.base import SparseEncoder
from adk_evidence.embedding.bm25 import Bm25Encoder
from adk_evidence.errors import IngestError
from adk_ingest.chunking.base import SourceFile
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.forms import is_portable
from adk_ingest.publishing.changes import Changes
from adk_ingest.records.files import KeysOf, MadeFile, keys_of_texts, make_file

# A process takes a second of processor time to start; two cut so many files in about as long.
LEAST_FILES = 300
# Each takes about 150 MB.
MOST_PROCESSES = 4
# Results that a process has ready before somebody takes them. One file gives 8 MB at most, and 0.1 MB mostly.
_READY = 16
_SIZE_BYTES = 8
# What a process that the system has killed ends with.
_KILLED = (-9, 137)
# Ctrl-C is the parent's to handle, which ends the process, also while the process still imports.
_PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import sys, json; "
    "sys.path[:] = json.loads(sys.argv[1]); from adk_ingest.records.processes import main; main()"
)
# How much of a processor a container may use, and in what time.
_CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")

_Job = tuple[int, SourceFile]


@contextmanager
def making(
    changes: Sequence[Changes], keys: Mapping[int, KeysOf], sparse: SparseEncoder, cpus: int
) -> Iterator[Callable[[int], Iterator[MadeFile]]]:
    """Gives a function that yields what is made of the files of the change at a place, in their order.

    The changes must be taken in their order. Nothing is started for few files.

    Args:
        changes: Where the files are from.
        keys: By the place of a change, how its dense vectors are named.
        sparse: Encodes in the processes, if it is BM25.
        cpus: How many processors there are.
    """
    files = [change.to_make() for change in changes]
    apart = [
        place
        for place, change in enumerate(changes)
        if is_portable(change.corpus) and keys[place] is keys_of_texts and isinstance(sparse, Bm25Encoder)
    ]
    jobs = [(place, file) for place in apart for file in files[place]]
    with ExitStack() as processes:
        results: Iterator[MadeFile] = iter(())
        started: list[subprocess.Popen[bytes]] = []
        if cpus > 1 and len(jobs) >= LEAST_FILES and _can_start():
            started = processes.enter_context(_started(min(cpus, MOST_PROCESSES)))
        if started:
            corpora = {place: changes[place].corpus.without_files() for place in apart}
            results = _results(started, jobs, corpora, sparse)
        else:
            apart = []

        def made(place: int) -> Iterator[MadeFile]:
            for file in files[place]:
                if place in apart:
                    yield next(results)
                else:
                    yield make_file(changes[place].corpus, file, sparse, keys[place])

        yield made


def processors() -> int:
    """How many processors this process may use, at least 1."""
    may_use = getattr(os, "sched_getaffinity", None)
    count = len(may_use(0)) if may_use else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = _CPU_QUOTA.read_text().split()
        count = min(count, max(1, int(quota) // int(period)))
    return count


@contextmanager
def _started(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes, which end with the context; none where the system allows no more processes."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        with suppress(OSError):
            started.extend(_start() for _ in range(count))
        yield started if len(started) == count else []
    finally:
        for process in started:
            process.kill()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    _pipe(stream).close()
            process.wait()


def _results(
    started: Sequence[subprocess.Popen[bytes]],
    jobs: Sequence[_Job],
    corpora: Mapping[int, CorpusInput],
    sparse: SparseEncoder,
) -> Iterator[MadeFile]:
    """The results of jobs in their order."""
    common = pickle.dumps((corpora, sparse), pickle.HIGHEST_PROTOCOL)
    for number, process in enumerate(started):
        own = pickle.dumps(jobs[number :: len(started)], pickle.HIGHEST_PROTOCOL)
        # Where a process ended at once, the reader says so. Windows tells that by another error than a broken pipe.
        with suppress(OSError), _pipe(process.stdin) as pipe:
            _write(pipe, common)
            _write(pipe, own)
    return (_result(started[number % len(started)], job) for number, job in enumerate(jobs))


def _start() -> subprocess.Popen[bytes]:
    # An empty place is the current folder. Python passes over places that are no text.
    places = [path or str(Path.cwd()) for path in sys.path if isinstance(path, str)]
    # Without a window of its own on Windows, and without the current folder among the places of modules.
    command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps(places)]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, creationflags=flags)


def _can_start() -> bool:
    """Whether a Python can be started: programs that are bundled with theirs would start themselves."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _result(process: subprocess.Popen[bytes], job: _Job) -> MadeFile:
    made = _read(_pipe(process.stdout))
    if made is None:
        code = process.wait()
        raise IngestError(
            f"A process that cuts files into chunks ended with {code} before it had done {job[1].path}.",
            "Memory may have run out: close other programs, or exclude that file, and run the same command again."
            if code in _KILLED
            else "Run the same command again, and report this if it happens again.",
        )
    # The child process is ours.
    result: MadeFile | str = pickle.loads(made)  # noqa: S301
    if isinstance(result, str):
        raise IngestError(f"The records of {job[1].path} cannot be made: {result}.", "Please report this.")
    return result


def main() -> None:
    """One process: reads its files from its standard input and writes what it makes of them to its standard output."""
    # With PYTHONUNBUFFERED, `sys.stdout.buffer` has no buffer and drops the rest of a write that a signal interrupts.
    results = open(sys.stdout.fileno(), "wb", closefd=False)  # noqa: SIM115 - open until the process ends
    # Whatever prints goes elsewhere.
    sys.stdout = sys.stderr
    common, own = _read(sys.stdin.buffer), _read(sys.stdin.buffer)
    if common is None or own is None:
        return
    corpora, sparse = pickle.loads(common)  # noqa: S301 - from the parent
    jobs: list[_Job] = pickle.loads(own)  # noqa: S301
    ready: Queue[bytes | None] = Queue(_READY)

    def write() -> None:
        while (result := ready.get()) is not None:
            try:
                _write(results, result)
                results.flush()
            except OSError:
                # The parent has ended. Nobody needs this process any more, whatever it is doing.
                os._exit(0)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    for place, file in jobs:
        result: MadeFile | str
        try:
            result = make_file(corpora[place], file, sparse, encode=True)
        except Exception as exc:
            result = f"{type(exc).__name__}: {exc}"
        ready.put(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
    ready.put(None)
    writer.join()


def _pipe(stream: object) -> BinaryIO:
    """A stream of a process that was started with pipes."""
    return stream  # type: ignore[return-value]


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(len(data).to_bytes(_SIZE_BYTES, "big"))
    stream.write(data)


def _read(stream: BinaryIO) -> bytes | None:
    """The next message, None at the end of the stream."""
    head = stream.read(_SIZE_BYTES)
    if len(head) < _SIZE_BYTES:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    return data if len(data) == size else None
