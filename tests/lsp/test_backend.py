"""The service behind the server: replaced when the settings change, and closed with its last request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adk_evidence.commands import remember_options
from adk_evidence.errors import StoreError, UnknownIndexError
from adk_evidence.search.read import NotIndexedError
from adk_evidence.settings import Settings
from adk_evidence_lsp import backend as backend_module
from adk_evidence_lsp import server
from adk_evidence_lsp.backend import LOOK_AGAIN_SECONDS, Backend
from adk_evidence_lsp.projects import Project
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


class Indexed(Service):
    """A service with an index that may be damaged, and those of versions beside it, newest last."""

    damaged: frozenset[str] = frozenset()

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.name = getattr(settings, "adk_version", "main")
        self.made: list[Indexed] = []

    def beside(self, settings: Settings) -> Indexed:
        self.made.append(Indexed(settings))
        return self.made[-1]

    @contextmanager
    def session(self, context: object = None) -> Iterator[Indexed]:
        if self.name in self.damaged:
            raise StoreError(f"The index {self.name} is damaged.")
        yield self


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions that are indexed; tests change the list."""
    known = ["8.1.0", "8.4.0"]
    monkeypatch.setattr("adk_evidence.index.versions.indexed_versions", lambda settings: known)
    return known


@pytest.fixture
def main(tmp_path: Path, versions: list[str]) -> Iterator[tuple[Backend, Indexed]]:
    backend = Backend(Indexed)
    backend.configure(at(tmp_path))
    with backend.use() as (service, _):
        assert isinstance(service, Indexed)
        yield backend, service


def reads(*names: str) -> Any:
    """Reads what only these indexes hold."""

    def read(session: Any) -> str:
        if session.name not in names:
            raise NotIndexedError(f"Not in {session.name}.")
        return str(session.name)

    return read


def test_only_the_services_are_made_that_are_needed_to_read(main: tuple[Backend, Indexed]) -> None:
    backend, service = main
    assert backend.read(None, reads("main")) == "main" and service.made == []
    assert backend.read(None, reads("8.4.0")) == "8.4.0" and [each.name for each in service.made] == ["8.4.0"]


def test_a_codebase_that_is_gone_is_a_side_that_fails(main: tuple[Backend, Indexed]) -> None:
    backend, _ = main
    with backend.side("nowhere") as side:
        assert isinstance(side.opened, UnknownIndexError) and side.of_codebase
    with pytest.raises(UnknownIndexError), backend.side("nowhere", strict=True):
        pass


def test_a_damaged_index_hides_no_other_one(main: tuple[Backend, Indexed], monkeypatch: pytest.MonkeyPatch) -> None:
    backend, _ = main
    monkeypatch.setattr(Indexed, "damaged", {"main", "8.4.0"})
    assert backend.read(None, reads("8.1.0")) == "8.1.0"
    with pytest.raises(StoreError, match="The index main is damaged"):
        backend.read(None, reads())
    monkeypatch.setattr(Indexed, "damaged", {"8.4.0"})
    with pytest.raises(NotIndexedError, match="Not in main"):
        backend.read(None, reads())


def test_the_service_of_a_version_that_is_deleted_is_closed_with_the_last_request(
    tmp_path: Path, versions: list[str]
) -> None:
    backend = Backend(Indexed)
    backend.configure(at(tmp_path))
    with backend.use() as (service, _):
        assert isinstance(service, Indexed)
        assert backend.read(None, reads("8.1.0")) == "8.1.0"
        versions.remove("8.1.0")
        backend.read(None, reads("main"))
        newer, gone = service.made
        assert (newer.closed, gone.closed) == (0, 0)
    assert (newer.closed, gone.closed) == (0, 1)
    backend.close()
    assert (newer.closed, gone.closed, service.closed) == (1, 1, 1)


def test_symbols_of_the_workspace_look_for_a_projects_version_only_now_and_then(
    tmp_path: Path, versions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Project] = []
    monkeypatch.setattr(backend_module, "used_adk", lambda settings, project: looked.append(project))
    now = [0.0]
    backend = Backend(Indexed, lambda: now[0])
    backend.configure(at(tmp_path))
    projects = [Project((tmp_path / name).as_uri(), tmp_path / name) for name in ("a", "b")]
    for _ in range(3):
        # Neither project uses google-adk: one index answers both.
        assert backend.ask_versions(projects, lambda pinned: pinned.session.name) == [(None, "main")]  # type: ignore[attr-defined]
    assert looked == projects
    now[0] += 2 * LOOK_AGAIN_SECONDS
    backend.ask_versions(projects, lambda pinned: None)
    assert looked == 2 * projects
    backend.close()


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
