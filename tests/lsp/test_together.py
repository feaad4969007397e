"""The project's code beside the ADK: indexed with `adk/index`, searched by `adk/evidence`, opened and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpora import Workplace, change, write_files
from tests.lsp.conftest import Start

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
RETRIES = '''\
"""How the shop retries when a tool throws."""


def shop_retries(attempt: int) -> bool:
    """Whether to retry when a tool of the shop throws."""
    return attempt < 5
'''


def of(pack: dict[str, Any]) -> set[str | None]:
    return {candidate["index"] for candidate in pack["candidates"]}


def test_a_folder_is_indexed_and_searched_beside_the_adk(start: Start, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    shop = write_files(tmp_path / "My Shop", {"retries.py": RETRIES, "README.md": "# Shop\n\nA shop.\n"})
    server = start(place)
    asked = {"query": QUESTION, "folder": shop.as_uri()}
    assert of(server.result("adk/evidence", asked)) == {None}

    report = server.result("adk/index", {"folder": shop.as_uri()})
    assert (report["name"], report["files"], report["status"]) == ("my-shop", 2, "success")
    pack = server.result("adk/evidence", asked)
    assert of(pack) == {"adk", "my-shop"} and pack["beside"]["name"] == "my-shop"
    # A document of the folder, and no other folder.
    assert of(server.result("adk/evidence", {"query": QUESTION, "folder": tmp_path.as_uri()})) == {None}

    own = next(one for one in pack["candidates"] if one["index"] == "my-shop" and "attempt < 5" in one["text"])
    for named in ({"citation": own["citation"]}, {"candidateId": own["candidate_id"]}):
        read = server.result("adk/source", {**named, "folder": shop.as_uri()})
        assert read["text"] == RETRIES and read["path"] == "retries.py"

    def states() -> dict[str, str]:
        found = server.result("adk/check", {"pack": pack})
        assert found["intact"]
        return {one["candidate_id"]: one["verification"]["state"] for one in found["candidates"]}

    assert set(states().values()) == {"exact"}
    change(shop / "retries.py", "attempt < 5", "attempt < 6")
    assert states()[own["candidate_id"]] == "changed"
    again = server.result("adk/index", {"folder": shop.as_uri()})
    assert (again["name"], again["changed_files"]) == ("my-shop", 1)


def test_a_client_may_leave_the_project_out(start: Start, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    shop = write_files(tmp_path / "shop", {"retries.py": RETRIES})
    server = start(place, projectCode={"enabled": False})
    server.result("adk/index", {"folder": shop.as_uri()})
    assert of(server.result("adk/evidence", {"query": QUESTION, "folder": shop.as_uri()})) == {None}


def test_only_folders_on_a_disk_are_indexed(start: Start) -> None:
    server = start()
    error = server.request("adk/index", {"folder": "untitled:shop"})["error"]
    assert "not on a disk" in error["message"]
    assert "folder" in server.request("adk/index", {})["error"]["message"]
