"""`adk-evidence check` as a person, a hook or a workflow meets it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import Result

from adk_evidence.models.pack import content_id
from adk_evidence.search import session as door
from adk_evidence_cli.main import app
from tests.corpora import HashEmbedder, Workplace, change, write_checkout, write_wheel
from tests.process.conftest import Cli, call, sentence

RETRY = "src/google/adk/plugins/retry.py"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, str]:
    """A workplace and a pack of it; tests change copies."""
    place = Workplace(tmp_path_factory.mktemp("asked"))
    place.ingest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "make_dense", lambda settings: HashEmbedder())
        answer = call(app, "ask", "how do I retry a tool?", "--json", "--home", place.home)
    return place, answer.stdout


@pytest.fixture
def pack(asked: tuple[Workplace, str], tmp_path: Path) -> Path:
    file = tmp_path / "retry.evidence.json"
    file.write_text(asked[1])
    return file


@pytest.fixture
def sources(asked: tuple[Workplace, str], tmp_path: Path) -> Path:
    """Copies of the indexed folders, which a test may change."""
    for name in ("docs", "code"):
        shutil.copytree(asked[0].root / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def check(asked: tuple[Workplace, str]) -> Cli:
    return lambda *arguments, home=asked[0].home: call(app, "check", *arguments, "--home", home)


def states(result: Result) -> dict[str, str]:
    (file,) = json.loads(result.stdout)["packs"]
    return {one["citation"]: one["state"] for one in file["citations"]}


def test_what_the_index_still_finds_in_its_sources_stands(check: Cli, pack: Path) -> None:
    result = check(pack)
    assert result.exit_code == 0 and "citations stand." in result.stderr
    assert set(states(check(pack, "--format", "json")).values()) == {"exact"}


def test_a_text_that_moved_stands_unless_lines_must_be_the_same(check: Cli, pack: Path, sources: Path) -> None:
    file = sources / "code" / RETRY
    file.write_text("# new\n" + file.read_text())
    against = ("--against", sources / "code", "--source", "code")
    assert check(pack, *against).exit_code == 0
    assert "moved" in states(check(pack, *against, "--format", "json")).values()
    assert check(pack, *against, "--strict-lines").exit_code == 1


def test_a_text_that_changed_or_is_gone_fails_the_check(check: Cli, pack: Path, sources: Path) -> None:
    change(sources / "code" / RETRY, "return attempt < self.max_retries", "return attempt <= self.max_retries")
    (sources / "docs/docs/tools/retry.md").unlink()
    result = check(pack, "--against", sources / "code", "--against", sources / "docs", "--format", "json")
    assert result.exit_code == 1
    assert {"changed", "gone"} <= set(states(result).values())


def test_repositories_of_which_no_source_is_named_are_compared_with_the_index(
    check: Cli, pack: Path, sources: Path
) -> None:
    (sources / "docs/docs/tools/retry.md").unlink()
    found = states(check(pack, "--against", sources / "docs", "--format", "json"))
    assert {state for citation, state in found.items() if citation.startswith("adk-python@")} == {"exact"}


def test_without_a_source_a_citation_does_not_pass_unseen(check: Cli, pack: Path, sources: Path) -> None:
    result = check(pack, "--against", sources / "code", "--format", "json", home=sources / "empty")
    assert result.exit_code == 1 and "unverified" in states(result).values()
    assert check(pack, "--against", sources / "code", "--source", "code", home=sources / "empty").exit_code == 0


@pytest.mark.parametrize("form", ["wheel", "packages", "checkout", "part of a checkout"])
def test_the_code_may_be_a_wheel_an_installation_or_a_checkout(
    check: Cli, pack: Path, tmp_path: Path, form: str
) -> None:
    match form:
        case "wheel":
            against = write_wheel(tmp_path / "wheels")
        case "packages":
            import zipfile

            against = tmp_path / "site-packages"
            zipfile.ZipFile(write_wheel(tmp_path / "wheels")).extractall(against)
        case "checkout":
            against = tmp_path / "checkout"
            write_checkout(against)
        case _:
            write_checkout(tmp_path / "checkout")
            against = tmp_path / "checkout/src/google/adk"
    found = states(check(pack, "--against", against, "--source", "code", "--format", "json", home=tmp_path / "home"))
    assert {state for citation, state in found.items() if "README.md" not in citation} == {"exact"}


def test_code_scanning_and_workflows_get_the_line_of_the_pack(
    check: Cli, pack: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pack.parent)
    change(sources / "code" / RETRY, "return attempt < self.max_retries", "return attempt <= self.max_retries")
    against = ("--against", sources / "code", "--source", "code")
    (run,) = json.loads(check(pack, *against, "--format", "sarif").stdout)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == pack.name
    assert '"candidate_id"' in pack.read_text().split("\n")[place["region"]["startLine"] - 1]
    annotation = check(pack, *against, "--format", "github").stdout
    assert annotation.startswith(f"::error file={pack.name},line={place['region']['startLine']},")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not an evidence pack"),
        ('{"candidates": [{}], "pack_id": "x", "query": ""}', "is not an evidence pack"),
        (b"\xff", "is not UTF-8 text"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_pack_is_told_in_a_sentence(check: Cli, tmp_path: Path, text: str | bytes | None, said: str) -> None:
    file = tmp_path / "a.json"
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    sentence(check(file), 2, said)


def test_a_pack_that_somebody_edited_is_refused_unless_it_says_the_same(check: Cli, pack: Path) -> None:
    text = pack.read_text()
    data = json.loads(text, parse_float=lambda text: int(float(text)) if float(text) % 1 == 0 else float(text))
    # An editor wrote it anew.
    pack.write_text(json.dumps({**data, "queryUsed": "how do I retry a tool?"}))
    assert check(pack).exit_code == 0
    pack.write_text(text.replace("RetryPlugin", "OtherPlugin", 1))
    result = check(pack)
    assert result.exit_code == 2 and "changed after the pack was made" in result.stderr


def test_a_source_without_any_cited_file_is_a_mistake(check: Cli, pack: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert "none of the files" in check(pack, "--against", tmp_path / "other").stderr
    assert "neither a version nor a folder" in check(pack, "--against", "other").stderr


def test_the_index_answers_where_it_is_named_even_beside_a_folder(check: Cli, pack: Path, sources: Path) -> None:
    change(sources / "code" / RETRY, "return attempt < self.max_retries", "return attempt <= self.max_retries")
    folder = ("--against", sources / "code", "--source", "code", "--format", "json")
    assert "changed" in states(check(pack, *folder)).values()
    result = check(pack, *folder, "--against", "index")
    assert result.exit_code == 0 and set(states(result).values()) == {"exact"}
    assert check(pack, *folder, "--against", "index", home=sources / "empty").exit_code != 0


@pytest.mark.parametrize("place", ["above", "absolute"])
def test_nothing_outside_a_named_folder_is_looked_for(check: Cli, pack: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "named").mkdir()
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1\n")
    data = json.loads(pack.read_text())
    path = "../outside.py" if place == "above" else str(outside)
    data["candidates"] = [{**one, "path": path} for one in data["candidates"]]
    pack.write_text(json.dumps({**data, "pack_id": content_id(data)}))
    assert "none of the files" in check(pack, "--against", tmp_path / "named").stderr
