"""Asks a model for the questions of chunks, several requests at a time, and keeps every answer at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel

from adk_evidence.errors import CostCapError, ModelError
from adk_evidence.services.chat import ChatService, NoTextError
from adk_evidence.services.eventloop import cancellable
from adk_evidence.text.tokens import estimate_tokens
from adk_ingest.progress import Progress
from tests.quality.writing.answers import Answer, Answers
from tests.quality.writing.planning import Job
from tests.quality.writing.prompt import Asked, asked_again, passages, read_answer, task

# Requests at the same time.
PARALLEL = 4

# Requests one after the other whose answers hold nothing: then the model does not understand the task.
MAX_USELESS = 3


class Written(BaseModel):
    """What became of the texts of a run; tokens and price are estimates."""

    chunks: int = 0
    questions: int = 0
    nothing_to_ask: int = 0
    unanswered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0


@dataclass
class _Tried:
    """What one request brought: how many of its texts are done, however they were answered."""

    texts: int
    answered: dict[str, tuple[str, ...]]
    unanswered: int


class Writer:
    """Writes the missing questions of a job into a file; what the file has meanwhile is not asked."""

    def __init__(self, job: Job, chat: ChatService, file: Answers) -> None:
        self._job = job
        self._chat = chat
        self._file = file
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._useless = 0
        self.written = Written()

    def write(self, progress: Progress) -> Written:
        """Send all requests. Whatever ends this early, the answers so far are in the file.

        Raises:
            ServiceError: The service refuses or is down.
            ModelError: The model's answers cannot be used.
            CostCapError: Repeated requests have reached the cap.
            OSError: The file cannot be written.
        """
        progress.stage("write", len(self._job.chunks), "chunks")
        with (
            cancellable(self._stop.is_set),
            ThreadPoolExecutor(PARALLEL, thread_name_prefix="write") as pool,
        ):
            try:
                requests = self._job.requests
                asked = [pool.submit(copy_context().run, self._ask, request) for request in requests]
                for future in as_completed(asked):
                    self._count(future.result())
                    progress.advance(future.result().texts)
            except BaseException:
                # Waiting requests end within a tenth of a second.
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return self.written

    def _count(self, tried: _Tried) -> None:
        written = self.written
        written.chunks += len(tried.answered)
        written.questions += sum(map(len, tried.answered.values()))
        written.nothing_to_ask += sum(not questions for questions in tried.answered.values())
        written.unanswered += tried.unanswered
        written.usd = round(self._job.price(written.tokens_in, written.tokens_out) or 0.0, 4)

    def _ask(self, chunks: Sequence[Asked]) -> _Tried:
        """Ask for some texts, and a second time for those that the answer lacks."""
        known = self._file.known
        left = [chunk for chunk in chunks if chunk.digest not in known]
        answered: dict[str, tuple[str, ...]] = {}
        for again in (False, True):
            if not left:
                break
            found = self._answers(left, again=again)
            self._keep(left, found)
            answered |= found
            left = [chunk for chunk in left if chunk.digest not in found]
        self._check_use(bool(answered) or not left)
        return _Tried(len(chunks), answered, len(left))

    def _answers(self, chunks: Sequence[Asked], *, again: bool) -> dict[str, tuple[str, ...]]:
        text, marks = passages(chunks)
        self._spend(estimate_tokens(task()) + estimate_tokens(text), 0)
        try:
            answer = self._chat.ask(task(), asked_again(text) if again else text)
        except NoTextError:
            return {}
        self._spend(0, estimate_tokens(answer))
        return read_answer(answer, marks)

    def _keep(self, chunks: Sequence[Asked], found: dict[str, tuple[str, ...]]) -> None:
        model, date = self._job.settings.rerank.llm.model, f"{datetime.now(UTC):%Y-%m-%d}"
        self._file.add(
            Answer(text=chunk.digest, name=chunk.name, questions=found[chunk.digest], model=model, date=date)
            for chunk in chunks
            if chunk.digest in found
        )

    def _spend(self, read: int, written: int) -> None:
        """Count tokens; the plan does not know what is asked twice, so the cap is held here once more."""
        prices = self._job.prices
        with self._lock:
            so_far = self.written
            if read and prices and (usd := prices.of(so_far.tokens_in + read, so_far.tokens_out)) > prices.most:
                raise CostCapError(
                    f"The next request would make the run cost about ${usd:.2f}, above ${prices.most:g}.",
                    "The answers so far are kept. Raise --max-cost to go on.",
                )
            so_far.tokens_in += read
            so_far.tokens_out += written

    def _check_use(self, useful: bool) -> None:
        with self._lock:
            self._useless = 0 if useful else self._useless + 1
            if self._useless >= MAX_USELESS:
                raise ModelError(
                    f"The answers of {self._job.settings.rerank.llm.model} hold no questions.",
                    "Choose another model with --model.",
                )
