"""The service behind the server: replaced when the settings change, and closed with its last request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adk_evidence.commands import remember_options
from adk_evidence.settings import Settings
from adk_evidence_lsp.backend import Backend
from adk_evidence_lsp.protocol import ClientSettings


class Service:
    """Counts how often it is closed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.paths.root
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def forget_options() -> Any:
    yield
    remember_options(None, None)


def at(home: Path) -> ClientSettings:
    return ClientSettings(home=str(home))


def test_a_replaced_service_stays_open_for_its_requests(tmp_path: Path) -> None:
    backend = Backend(Service)
    backend.configure(at(tmp_path / "a"))
    with backend.use() as (first, _):
        with backend.use() as (again, _):
            assert again is first
            backend.configure(at(tmp_path / "b"))
            with backend.use() as (second, _):
                assert (first.home, second.home) == (tmp_path / "a", tmp_path / "b")
        assert (first.closed, second.closed) == (0, 0)
    assert (first.closed, second.closed) == (1, 0)
    backend.configure(at(tmp_path / "b"))
    with backend.use() as (same, _):
        assert same is second
        backend.close()
        assert second.closed == 0
    assert (first.closed, second.closed) == (1, 1)


def test_settings_that_change_while_a_service_opens_leave_it_to_one_request(tmp_path: Path) -> None:
    def open_service(settings: Settings) -> Service:
        backend.configure(at(tmp_path / "b"))
        return Service(settings)

    backend = Backend(open_service)
    backend.configure(at(tmp_path / "a"))
    with backend.use() as (alone, _), backend.use() as (shared, _):
        assert (alone.home, shared.home) == (tmp_path / "a", tmp_path / "b")
    assert (alone.closed, shared.closed) == (1, 0)
    backend.close()
    backend.close()
    assert (alone.closed, shared.closed) == (1, 1)
