"""The desk: services that are replaced when the settings change, and closed with their last request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.desk import Desk, Indexes
from adk_evidence.errors import StoreError
from adk_evidence.index.versions import settings_for_version
from adk_evidence.search.read import NotIndexedError
from adk_evidence.settings import Settings, load_settings


class Service:
    """Counts how often it is closed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.paths.root
        self.closed = 0

    def close(self) -> None:
        self.closed += 1

    retire = close


def at(home: Path) -> Callable[[], Settings]:
    return lambda: load_settings({"home": home})


def no_adk(settings: Settings, project: object) -> None:
    return None


def test_a_replaced_service_stays_open_for_its_requests(tmp_path: Path) -> None:
    desk = Desk(at(tmp_path / "a"), no_adk, Service)
    with desk.use() as (first, _):
        with desk.use() as (again, _):
            assert again is first
            desk.change(at(tmp_path / "b"))
            with desk.use() as (second, _):
                assert (first.home, second.home) == (tmp_path / "a", tmp_path / "b")
        assert (first.closed, second.closed) == (0, 0)
    assert (first.closed, second.closed) == (1, 0)
    with desk.use() as (same, _):
        assert same is second
        desk.close()
        assert second.closed == 0
    assert (first.closed, second.closed) == (1, 1)


def test_settings_that_change_while_a_service_opens_leave_it_to_one_request(tmp_path: Path) -> None:
    def open_service(settings: Settings) -> Service:
        desk.change(at(tmp_path / "b"))
        return Service(settings)

    desk = Desk(at(tmp_path / "a"), no_adk, open_service)
    with desk.use() as (alone, _):
        assert alone.home == tmp_path / "a"
    assert alone.closed == 1
    desk.close()
    desk.close()


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
    monkeypatch.setattr("adk_evidence.index.versions.has_main", lambda settings: True)
    monkeypatch.setattr("adk_evidence.index.versions.indexed_versions", lambda settings: known)
    return known


@pytest.fixture
def main(tmp_path: Path, versions: list[str]) -> Iterator[tuple[Indexes, Indexed]]:
    desk = Desk(at(tmp_path), no_adk, Indexed)
    with desk.open() as indexes:
        service = indexes.service()
        assert isinstance(service, Indexed)
        yield indexes, service


def reads(*names: str) -> Any:
    """Reads what only these indexes hold."""

    def read(session: Any) -> str:
        if session.name not in names:
            raise NotIndexedError(f"Not in {session.name}.")
        return str(session.name)

    return read


def test_only_the_services_are_made_that_are_needed_to_read(main: tuple[Indexes, Indexed]) -> None:
    indexes, service = main
    assert indexes.read(reads("main")) == "main" and service.made == []
    assert indexes.read(reads("8.4.0")) == "8.4.0" and [each.name for each in service.made] == ["8.4.0"]


def test_a_damaged_index_hides_no_other_one(main: tuple[Indexes, Indexed], monkeypatch: pytest.MonkeyPatch) -> None:
    indexes, _ = main
    monkeypatch.setattr(Indexed, "damaged", {"main", "8.4.0"})
    assert indexes.read(reads("8.1.0")) == "8.1.0"
    with pytest.raises(StoreError, match="The index main is damaged"):
        indexes.read(reads())
    monkeypatch.setattr(Indexed, "damaged", {"8.4.0"})
    with pytest.raises(NotIndexedError, match="Not in main"):
        indexes.read(reads())


def test_the_service_of_a_version_that_is_deleted_is_closed_with_the_last_request(
    tmp_path: Path, versions: list[str]
) -> None:
    desk = Desk(at(tmp_path), no_adk, Indexed)
    with desk.open() as indexes:
        service = indexes.service()
        assert isinstance(service, Indexed)
        assert indexes.read(reads("8.1.0")) == "8.1.0"
        versions.remove("8.1.0")
        with desk.open():
            pass
        newer, gone = service.made
        assert (newer.closed, gone.closed) == (0, 0)
    assert (newer.closed, gone.closed) == (0, 1)
    desk.close()
    assert (newer.closed, gone.closed, service.closed) == (1, 1, 1)


def test_the_index_that_takes_the_name_of_another_gets_a_service_of_its_own(main: tuple[Indexes, Indexed]) -> None:
    indexes, _ = main
    settings = settings_for_version(indexes.settings, "8.1.0")
    first = indexes.service(settings)
    assert indexes.service(settings_for_version(indexes.settings, "8.1.0")) is first
    other = indexes.service(settings.model_copy(update={"profile": "other"}))
    assert isinstance(first, Indexed) and other is not first and first.closed == 1
