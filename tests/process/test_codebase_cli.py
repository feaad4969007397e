"""Named indexes as a person or a script meets them: index, list, ask and delete from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adk_evidence_cli.main import app as evidence_app
from adk_ingest.commands.cli import app as ingest_app
from tests.corpora import change, write_files
from tests.process.conftest import Cli, call, sentence

QUESTION = "how does a user log in with a token"
FILES: dict[str, str | bytes] = {
    "README.md": "# Shop\n\n## Log in\n\nA user logs in with a token from the mail.\n",
    "auth.py": "def log_in(token):\n    return token.strip()\n",
    "login.ts": "export function logIn(token: string) {\n  return token.trim();\n}\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_files(tmp_path / "My Shop", FILES)


@pytest.fixture
def ingest(tmp_path: Path) -> Cli:
    """`adk-ingest`, called in this process."""
    return lambda *arguments: call(ingest_app, *arguments, "--home", tmp_path / "home")


@pytest.fixture
def ask(tmp_path: Path) -> Cli:
    """`adk-evidence ask`, called in this process."""
    return lambda *arguments: call(evidence_app, "ask", *arguments, "--home", tmp_path / "home")


def test_from_a_folder_to_an_answer_and_back(shop: Path, ingest: Cli, ask: Cli) -> None:
    indexed = ingest("codebase", shop, "--exclude", "*.ts", "--chunk-tokens", 300, "--overlap-tokens", 30)
    assert indexed.exit_code == 0, indexed.output
    assert "The index my-shop holds 2 files" in indexed.stdout

    answer = ask(QUESTION, "--index", "my-shop", "--json")
    pack = json.loads(answer.stdout)
    assert {candidate["path"] for candidate in pack["candidates"]} == {"README.md", "auth.py"}
    assert {candidate["verification"]["state"] for candidate in pack["candidates"]} == {"exact"}
    assert all(candidate["citation"].startswith("my-shop@tree-") for candidate in pack["candidates"])

    # What the command line does not say again stays as it was.
    change(shop / "auth.py", "strip", "lower")
    report = json.loads(ingest("codebase", shop, "--json").stdout)
    assert (report["status"], report["files"], report["changed_files"]) == ("success", 2, 1)
    (listed,) = json.loads(ingest("indexes", "--json").stdout)
    assert (listed["name"], listed["path"], listed["files"]) == ("my-shop", str(shop), 2)
    assert "my-shop" in ingest("indexes").stdout

    sentence(ingest("delete", "my-shop"), 2, "nobody to ask", "--yes")
    assert ingest("delete", "my-shop", "--yes").exit_code == 0
    sentence(ask(QUESTION, "--index", "my-shop"), 5, "no index called 'my-shop'")
    assert "no index yet" in ingest("indexes").stdout


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (["--name", "../x"], 2, ["name of the index is not valid", "--name"]),
        (["--name", "CON"], 2, ["name of the index is not valid"]),
        (["--name", "adk"], 2, ["main index"]),
        (["--chunk-tokens", "100"], 2, ["--overlap-tokens is not valid", "smaller"]),
        (["--chunk-tokens", "0"], 2, ["--chunk-tokens is not valid"]),
        (["--include", "!"], 2, ["--include is not valid"]),
    ],
)
def test_a_wrong_option_is_named(options: list[str], code: int, parts: list[str], shop: Path, ingest: Cli) -> None:
    sentence(ingest("codebase", shop, *options), code, *parts)
    assert json.loads(ingest("indexes", "--json").stdout) == []


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path, ingest: Cli) -> None:
    sentence(ingest("codebase", tmp_path / "nowhere"), 3, "does not exist")
    sentence(ingest("delete", "nowhere", "--yes"), 5, "no index called")
    sentence(ingest("delete", "adk", "--yes"), 2, "main index")


class TestTogether:
    def test_two_indexes_answer_in_one_pack_that_can_be_checked(
        self, shop: Path, tmp_path: Path, ingest: Cli, ask: Cli
    ) -> None:
        other = write_files(tmp_path / "other", {"tokens.py": 'def user_of(token):\n    """The user of a token."""\n'})
        for folder in (shop, other):
            assert ingest("codebase", folder).exit_code == 0
        # A place in the folder names its index, too.
        answer = ask(QUESTION, "--index", "my-shop", "--with", other / "tokens.py", "--json")
        pack = json.loads(answer.stdout)
        assert {candidate["index"] for candidate in pack["candidates"]} == {"my-shop", "other"}
        assert (pack["beside"]["beside"], pack["beside"]["name"]) == ("my-shop", "other")
        saved = tmp_path / "pack.json"
        saved.write_text(answer.stdout)
        home = ("--home", tmp_path / "home")
        checked = call(evidence_app, "check", saved, "--index", "my-shop", *home)
        assert "No source of other is at hand" in checked.output
        # Nothing of the ADK is indexed, nor is anything of it cited.
        checked = call(evidence_app, "check", saved, *home)
        assert checked.exit_code == 0 and "No source" not in checked.output
        shown = ask(QUESTION, "--index", "my-shop", "--with", "other").stdout
        assert "of my-shop" in shown and "of other" in shown
        assert "of my-shop" not in ask(QUESTION, "--index", "my-shop").stdout


class TestChangedSince:
    def test_an_answer_is_of_the_files_as_they_are_or_says_how_to_get_it(
        self, shop: Path, ingest: Cli, ask: Cli
    ) -> None:
        assert ingest("codebase", shop).exit_code == 0
        change(shop / "auth.py", "strip", "lower")
        answer = ask("log_in", "--index", "my-shop", "--json")
        (found,) = (one for one in json.loads(answer.stdout)["candidates"] if one["path"] == "auth.py")
        assert found["verification"]["state"] == "exact" and "lower" in found["text"]
        assert "index_older" not in answer.stderr

        write_files(shop, {f"new_{number}.py": f"NUMBER = {number}\n" for number in range(100)})
        answer = ask("log_in", "--index", "my-shop", "--json")
        assert "100 files were changed, added or deleted since" in answer.stderr
        assert f"adk-ingest codebase '{shop}' --name my-shop --home" in answer.stderr


def test_a_home_folder_is_no_codebase(shop: Path, ingest: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(shop))
    monkeypatch.setenv("USERPROFILE", str(shop))
    for folder in (shop, shop.parent):
        sentence(ingest("codebase", folder), 2, "home folder", "one project")
    assert "My Shop" not in ingest("indexes").stdout


def test_the_uses_of_a_name_of_a_codebase(shop: Path, ingest: Cli, tmp_path: Path) -> None:
    write_files(shop, {"page.ts": 'import { logIn } from "./login";\n\nlogIn("1");\n'})
    assert ingest("codebase", shop, "--name", "shop").exit_code == 0
    symbol: Cli = lambda *arguments: call(evidence_app, "symbol", *arguments, "--home", tmp_path / "home")  # noqa: E731
    shown = symbol("logIn", "--uses", "--index", "shop").stdout
    assert "Call it (1):" in shown and "page.ts#L3-L3; by name alone" in shown and "\u2502 logIn(" in shown
    found = json.loads(symbol("log_in", "--uses", "--index", "shop", "--json").stdout)
    assert (found["totals"], found["uses"]) == ({}, [])
    sentence(symbol("logIn", "--index", "shop"), 2, "--uses")
    sentence(symbol("nothing", "--uses", "--index", "shop"), 2, "no definition")
