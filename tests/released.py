"""A table of released versions in place of the one that ships."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from adk_evidence.api.history import History
from adk_evidence.api.table import HistoryTable, Snapshot, make_table

_shipped = History.load


@contextmanager
def released(folder: Path, versions: Mapping[str, Snapshot]) -> Iterator[None]:
    """What each version has, for this process and for those that `follow` the folder."""
    file = _file(folder)
    file.write_bytes(make_table("google-adk", versions).dump())
    follow(folder)
    try:
        yield
    finally:
        History.load = _shipped  # type: ignore[method-assign]
        file.unlink()


def follow(folder: Path) -> None:
    """Take the table of a folder for the one that ships, while there is one."""
    kept: dict[bytes, History] = {}

    def load() -> History:
        if not _file(folder).is_file():
            return _shipped()
        data = _file(folder).read_bytes()
        if data not in kept:
            kept[data] = History(HistoryTable.parse(data))
        return kept[data]

    History.load = staticmethod(load)  # type: ignore[method-assign, assignment]


def _file(folder: Path) -> Path:
    return folder / "released.json.gz"
