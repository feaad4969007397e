"""What the server does while nobody asks anything."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from adk_evidence.errors import IndexMissingError
from adk_evidence_lsp import server


def missing(project: object) -> None:
    raise IndexMissingError("Nothing is indexed.")


class _Server(server.EvidenceServer):
    """A server whose warm-up has stand-ins: `happened` says what it did, and when it waited for a question."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, running: list[int]) -> None:
        happened: list[str] = []
        left = iter(running)

        def check_pages() -> Iterator[str]:
            for page in ("a.md", "b.md", "c.md", "d.md"):
                happened.append(page)
                yield page

        @contextmanager
        def service(*_: object) -> Iterator[tuple[Any, None]]:
            yield self.service, None

        index = SimpleNamespace(give_back_pages=lambda: happened.append("symbols"))
        session = SimpleNamespace(
            symbols=None, index=index, find=lambda _: happened.append("question"), check_pages=check_pages
        )
        self.happened = happened
        self.service = SimpleNamespace(
            session=lambda _: nullcontext(session), symbols=SimpleNamespace(find=lambda _: happened.append("targets"))
        )
        self.desk = SimpleNamespace(session=lambda _: nullcontext((session, None)), use=service)  # type: ignore[assignment]
        use = SimpleNamespace(use=lambda: SimpleNamespace(running=next(left, 0)))
        self.executor = SimpleNamespace(questions=use)  # type: ignore[assignment]
        monkeypatch.setattr(self, "projects", list, raising=False)
        monkeypatch.setattr(server.time, "sleep", lambda seconds: happened.append("wait"))


def test_pages_are_checked_while_nobody_asks_and_until_somebody_stops_that(monkeypatch: pytest.MonkeyPatch) -> None:
    own = _Server(monkeypatch, [0, 0, 0, 1, 1, 0, 0])
    own._warm_up(lambda: "c.md" in own.happened)
    assert own.happened == ["question", "symbols", "targets", "a.md", "wait", "wait", "b.md", "c.md"]


def test_each_step_of_the_warm_up_waits_for_a_question_that_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    own = _Server(monkeypatch, [1, 0, 1, 0, 1, 0])
    own._warm_up(lambda: False)
    assert own.happened[:6] == ["wait", "question", "wait", "symbols", "wait", "targets"]
    assert own.happened[-4:] == ["a.md", "b.md", "c.md", "d.md"]


def test_garbage_is_collected_again_where_there_is_nothing_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    own = _Server(monkeypatch, [])
    own.desk = SimpleNamespace(use=missing)  # type: ignore[assignment]
    gc.disable()
    own._warm_up(lambda: False)
    assert gc.isenabled()
