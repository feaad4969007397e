"""The project's code beside the ADK: indexed with `adk/index`, searched by `adk/evidence`, opened and checked."""

from __future__ import annotations

import shutil
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


RUNNERS = '''\
"""Runs agents of the shop."""


def run_in_the_shop(message: str) -> str:
    """Answer one message of a customer."""
    return message
'''


def of(pack: dict[str, Any]) -> set[str | None]:
    return {candidate["index"] for candidate in pack["candidates"]}


def test_a_folder_is_indexed_and_searched_beside_the_adk(start: Start, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    left_out = {"error.txt": "It broke.\n", "logo.md": "a\0b", "id_rsa": "x"}
    files = {"retries.py": RETRIES, "README.md": "# Shop\n\nA shop.\n", "requirements.txt": "google-adk\n"}
    shop = write_files(tmp_path / "My Shop", files | left_out)
    server = start(place)
    asked = {"query": QUESTION, "folder": shop.as_uri()}
    assert of(server.result("adk/evidence", asked)) == {None}

    report = server.result("adk/index", {"folder": shop.as_uri()})
    assert (report["name"], report["files"], report["status"]) == ("my-shop", 2, "success")
    assert report["skipped"] == [
        "error.txt (text that somebody saved)",
        "id_rsa (may hold a secret, by its name)",
        "logo.md (binary)",
    ]
    pack = server.result("adk/evidence", asked)
    assert of(pack) == {"adk", "my-shop"} and pack["beside"]["name"] == "my-shop"
    # Neither of the folder around it, nor of one in it, which is not all that the index holds.
    (shop / "customers").mkdir()
    for other in (tmp_path, shop / "customers"):
        assert of(server.result("adk/evidence", {"query": QUESTION, "folder": other.as_uri()})) == {None}

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
    assert (again["name"], again["status"]) == ("my-shop", "success")
    # Without the index of the ADK, what is cited of the project is compared all the same.
    shutil.rmtree(place.settings.index_path)
    server = start(place)
    assert states()[own["candidate_id"]] == "changed" and "unverified" in states().values()


def test_what_an_older_index_of_the_project_cited_opens_where_its_text_is_the_same(
    start: Start, tmp_path: Path
) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    # A fork of the ADK, whose citations begin as those of the ADK do.
    runners = "src/google/adk/runners.py"
    fork = write_files(tmp_path / "adk-python", {"retries.py": RETRIES, runners: RUNNERS})
    server = start(place)
    assert server.result("adk/index", {"folder": fork.as_uri()})["name"] == "adk-python"
    asked = {"query": "what do run_in_the_shop and shop_retries do?", "folder": fork.as_uri()}
    found = server.result("adk/evidence", asked)["candidates"]
    old = {one["symbol"]: one["candidate_id"] for one in found if one["index"] == "adk-python"}
    change(fork / "retries.py", "attempt < 5", "attempt < 6")
    server.result("adk/index", {"folder": fork.as_uri()})
    read = server.result("adk/source", {"candidateId": old["run_in_the_shop"], "folder": fork.as_uri()})
    assert (read["repo"], read["text"]) == ("adk-python", (fork / runners).read_text())

    # What it has no more is not opened in the ADK, which has a file of that path.
    (fork / runners).unlink()
    server.result("adk/index", {"folder": fork.as_uri()})
    for symbol in ("run_in_the_shop", "shop_retries"):
        error = server.request("adk/source", {"candidateId": old[symbol], "folder": fork.as_uri()})["error"]
        assert "not hold this candidate" in error["message"]


def test_the_lines_that_ask_are_no_answer(start: Start, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.ingest()
    used = "from retries import shop_retries\n\nprint(shop_retries(3))\n"
    shop = write_files(tmp_path / "shop", {"retries.py": RETRIES, "main.py": used})
    server = start(place)
    server.result("adk/index", {"folder": shop.as_uri()})
    uri = (shop / "main.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": used}
    server.notify("textDocument/didOpen", {"textDocument": item})

    def own(**asked: Any) -> list[str]:
        pack = server.result("adk/evidence", {"folder": shop.as_uri(), **asked})
        return [one["path"] for one in pack["candidates"] if one["index"] == "shop"]

    whole = {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}
    assert "main.py" in own(query="print(shop_retries(3))")
    assert own(textDocument={"uri": uri}, range=whole) == ["retries.py", "retries.py"]


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
