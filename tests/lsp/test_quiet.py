"""What the server does while nobody asks anything."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from adk_evidence_lsp import server


def test_pages_are_checked_while_nobody_asks_and_until_somebody_stops_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[str] = []
    running = iter([0, 1, 1, 0, 0])

    def check_pages() -> Iterator[str]:
        for page in ("a.md", "b.md", "c.md", "d.md"):
            happened.append(page)
            yield page

    session = SimpleNamespace(check_pages=check_pages)
    questions = SimpleNamespace(use=lambda: SimpleNamespace(running=next(running)))
    monkeypatch.setattr(server.time, "sleep", lambda seconds: happened.append("wait"))
    own = SimpleNamespace(executor=SimpleNamespace(questions=questions))
    server.EvidenceServer._check_pages(own, session, lambda: "c.md" in happened)  # type: ignore[arg-type]
    assert happened == ["a.md", "wait", "wait", "b.md", "c.md"]
