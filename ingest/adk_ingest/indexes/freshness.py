"""Looks at the files of a codebase before its index answers, and brings the index up to date where that is quick.

Heavy modules are imported with the first question.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from adk_evidence.errors import IndexBusyError, RequestCancelledError
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.render import wording
from adk_evidence.text.redaction import told

if TYPE_CHECKING:
    from adk_evidence.models.warning import Warning
    from adk_evidence.services.eventloop import Cancelled
    from adk_evidence.settings import Settings
    from adk_evidence.store.manifest import IndexManifest

# What a run does in about two seconds on two processors. In an index of 760 files, 20 changed ones take 1.6 s, 5 new
# ones 2.3 s and 20 new ones with 200 kB 4 s; in an index of 20,000 files, a single one takes 3.4 s.
FEW_FILES = 20
FEW_BYTES = 100_000
MANY_INDEXED = 10_000
# Questions that come sooner are answered as the one before.
AGAIN_SECONDS = 1.0
# How long a question waits for the run that another one has begun.
WAIT_SECONDS = 3.0


class Freshness:
    """Keeps the indexes that one process asks as their codebases are; a `Freshen` that threads may share.

    `clock` counts seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._locks: dict[str, threading.Lock] = {}
        self._said: dict[str, tuple[float, Warning | None]] = {}

    def __call__(self, main: Settings, asked: Settings, cancelled: Cancelled | None) -> Warning | None:
        if not isinstance(asked, CodebaseSettings):
            return None
        key = str(asked.index_path)
        lock = self._locks.setdefault(key, threading.Lock())
        if not lock.acquire(timeout=WAIT_SECONDS):
            return wording.index_not_updated(asked.index_name)
        try:
            at, said = self._said.get(key, (-math.inf, None))
            if self._clock() - at >= AGAIN_SECONDS:
                said = _freshened(main, asked, cancelled)
                self._said[key] = self._clock(), said
            return said
        except IndexBusyError:
            return wording.index_not_updated(asked.index_name)
        except Exception as exc:
            error = told(exc)
            if error.code == RequestCancelledError.code:
                raise RequestCancelledError("The request was cancelled.") from exc
            return wording.index_not_updated(asked.index_name, error)
        finally:
            lock.release()


def _freshened(main: Settings, asked: CodebaseSettings, cancelled: Cancelled | None) -> Warning | None:
    from adk_evidence.store.factory import open_generations
    from adk_ingest.corpora.codebase import changed_files
    from adk_ingest.corpora.known_files import RECORD

    generations = open_generations(asked)
    current = generations.current()
    if current is None:
        # The question itself says so.
        return None
    found = changed_files(asked, asked.index_path / RECORD)
    behind = len(found.changed) + len(found.gone)
    if not behind and not found.unsure:
        return None
    if generations.is_being_written():
        return wording.index_not_updated(asked.index_name)
    # Where nothing is left, a disk may not be there.
    is_few = behind <= FEW_FILES and sum(found.changed.values()) <= FEW_BYTES and len(found.gone) < len(found.known)
    if is_few and _is_quick(asked, current.manifest):
        from adk_ingest.indexes.codebase import CodebaseIndexer

        CodebaseIndexer(main).update(asked.index_name, cancelled or (lambda: False), lambda *_: None)
    elif behind:
        return wording.index_behind(asked.index_name, behind, current.manifest.created_at, asked.ingest_command)
    return None


def _is_quick(settings: CodebaseSettings, manifest: IndexManifest) -> bool:
    """Whether a run reads and writes no more than what changed, and nobody has to pay for it or agree."""
    from adk_evidence.index.encoders import as_kept
    from adk_ingest.chunking.chunkers import index_fingerprint

    if {"embedding.dense.provider", "store.kind"} & {*settings.services} or manifest.store != settings.store.kind:
        return False
    if sum(len(corpus.files) for corpus in manifest.corpora.values()) > MANY_INDEXED:
        return False
    # Otherwise the index is built anew.
    return manifest.dense == "complete" and manifest.fingerprint == index_fingerprint(as_kept(settings, manifest))
