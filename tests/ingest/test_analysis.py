"""What an analysis tells of an index: copies, files without evidence, and age."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from adk_evidence.models.analysis import AnalysisOptions, IndexAnalysis
from adk_evidence_cli.analyzing import analyze_index
from adk_evidence_cli.main import app
from adk_ingest.commands.codebase import codebase_from
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from tests.corpora import DOCS, HashEmbedder, Workplace, change, git, shared_sparse, write_docs, write_files

pytestmark = pytest.mark.slow

LICENCE = "# Copyright 2026 The shop\n#\n# Licensed under the Apache License, Version 2.0.\n\n"


def function(name: str, seed: int = 1, lines: int = 12) -> str:
    """A function of its own words."""
    words = random.Random(seed)
    body = "".join(f"    step_{words.randint(0, 999)}(order, tax={words.randint(0, 999)})\n" for _ in range(lines))
    return f"def {name}(order):\n{body}    return order\n"


SUM = function("sum_up", 1)
SHOP: dict[str, str | bytes] = {
    "shop/__init__.py": LICENCE + "import shop.bill\n",
    "shop/bill.py": LICENCE + "import shop.money\n\n\n" + SUM + "\n\n" + function("other", 2),
    "shop/copied.py": LICENCE + "import shop.tax\n\n\n" + SUM,
    "shop/near.py": LICENCE + "import shop.near\n\n\n" + function("add_up", 4),
    "shop/only_licence.py": LICENCE,
    "shop/nothing.py": "",
    "shop/picture.py": b"\x00\x01",
    "shop/key.py": f"KEY = {'AKIA' + 'Q7RM2XVB9TLC4KPW'!r}\n",
    ".env": "PASSWORD=1\n",
    "node_modules/left.js": "module.exports = 1;\n",
    "docs/use.md": "# Use\n\nCall `sum_up` on an order to have the bill of the order.\n",
}


def index(place: Workplace, name: str = "shop", **options: object) -> None:
    indexer = CodebaseIndexer(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
    indexer.build(codebase_from(place.settings, place.root / "shop", name, options), Progress())


def analyze(place: Workplace, name: str = "shop", **options: object) -> IndexAnalysis:
    return analyze_index(place.settings, name, AnalysisOptions.model_validate(options), Console(stderr=True))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A shop in an index of its own; tests only read it."""
    place = Workplace(tmp_path_factory.mktemp("analysis"))
    write_files(place.root / "shop", SHOP)
    index(place)
    return place


@pytest.fixture(scope="module")
def found(shop: Workplace) -> IndexAnalysis:
    return analyze(shop)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Workplace]:
    """A checkout of the shop, to change."""
    place = Workplace(tmp_path)
    folder = write_files(place.root / "shop", SHOP)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "shop", "docs")
    git(folder, "commit", "--quiet", "-m", "first")
    index(place)
    yield place


def test_copies_are_told_and_cited_with_their_places(shop: Workplace, found: IndexAnalysis) -> None:
    before = {path: path.stat().st_mtime_ns for path in shop.home.rglob("[mf]*.json")}
    assert analyze(shop).duplicates == found.duplicates
    assert {path: path.stat().st_mtime_ns for path in shop.home.rglob("[mf]*.json")} == before
    (group,) = found.duplicates.listed
    for place in group.places:
        lines = (shop.root / "shop" / place.path).read_text().split("\n")[place.lines.start - 1 : place.lines.end]
        assert lines[0] == "def sum_up(order):"
        assert place.citation.endswith(f"{place.path}#L{place.lines.start}-L{place.lines.end}")
    assert {place.path for place in group.places} == {"shop/bill.py", "shop/copied.py"}
    assert group.places[0].symbol == "sum_up" and group.files == group.chunks == 2
    assert group.bytes == len(SUM.rstrip("\n")) == found.duplicates.bytes
    assert (found.duplicates.groups, found.duplicates.chunks) == (1, 1)


def test_files_without_evidence_are_told_with_the_reason(found: IndexAnalysis) -> None:
    reasons = {left.reason: left for left in found.without_evidence}
    assert {reason: left.listed for reason, left in reasons.items()} == {
        "binary": ("shop/picture.py",),
        "credential_file": (".env",),
        "credential_text": ("shop/key.py",),
        "empty": ("shop/nothing.py",),
        "excluded": ("node_modules/",),
        "nothing_to_cite": ("shop/only_licence.py",),
    }
    assert (reasons["excluded"].files, reasons["excluded"].folders) == (0, 1)


def test_changes_since_the_last_run_are_told_by_file_and_commit(own: Workplace) -> None:
    folder = own.root / "shop"
    before = git(folder, "rev-parse", "HEAD")
    change(folder / "shop/bill.py", "def other", "def another")
    (folder / "shop/near.py").unlink()
    write_files(folder, {"shop/new.py": "def new():\n    return 1\n"})
    git(folder, "add", "shop")
    git(folder, "commit", "--quiet", "-m", "second")
    found = analyze(own)
    assert (found.changed_files, found.missing_files, found.added_files) == (1, 1, 1)
    assert (found.stale_files, found.new_files) == (("shop/bill.py", "shop/near.py"), ("shop/new.py",))
    code = next(corpus for corpus in found.corpora if corpus.kind == "code")
    assert (code.commit, code.current_commit, code.commits_since) == (before, git(folder, "rev-parse", "HEAD"), 1)
    # To commit what is indexed changes no file.
    write_files(folder, {"shop/late.py": "def late():\n    return 1\n"})
    index(own)
    git(folder, "add", "shop")
    git(folder, "commit", "--quiet", "-m", "third")
    found = analyze(own)
    assert (found.changed_files, found.missing_files, found.added_files) == (0, 0, 0)


def test_sources_that_are_gone_are_not_compared(own: Workplace) -> None:
    (own.root / "shop").rename(own.root / "elsewhere")
    partly = CliRunner().invoke(app, ["analyze", "--index", "shop", "--home", str(own.home), "--json"])
    found = IndexAnalysis.model_validate_json(partly.stdout)
    assert found.changed_files is None and found.added_files is None and found.duplicates.groups == 1
    assert partly.exit_code == 0 and "The sources were not compared: " in partly.stderr


def test_the_main_index_knows_its_pages_with_includes(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    code = "```python\nfrom google.adk.nowhere import A\n```\n"
    page = f'# Snippet\n\nThis page includes a file:\n\n--8<-- "docs/part.md"\n\n{code}'
    write_docs(place.docs, {**DOCS, "docs/snippet.md": page, "docs/part.md": "What a session keeps.\n"})
    write_files(place.docs, {"docs/main.go": "package main\n"})
    about = {"corpus": "adk_python", "repo": "google/adk-python", "commit": "c0de" * 10, "ref": "v1.18.0"}
    write_files(place.code, {"corpus.json": json.dumps(about)})
    place.ingest()
    found = analyze(place, "adk")
    assert (found.changed_files, found.missing_files, found.added_files) == (0, 0, 0)
    assert {left.reason: left.listed for left in found.without_evidence}["extension"] == ("docs/main.go", "mkdocs.yml")
    assert not any(one.path.startswith("api-reference") for group in found.duplicates.listed for one in group.places)

    change(place.docs / "docs/part.md", "keeps", "forgets")
    found = analyze(place, "adk")
    assert found.stale_files == ("docs/part.md", "docs/snippet.md")


def test_names_of_files_forge_no_lines(own: Workplace) -> None:
    text = function("sum_up", 7)
    write_files(own.root / "shop", {"shop/a\nNothing.py": text, "shop/b\nNothing.py": text, "shop/c\nNothing.py": ""})
    index(own)
    change(own.root / "shop/shop/a\nNothing.py", "sum_up", "total")
    write_files(own.root / "shop", {"shop/e\nNothing.py": text})
    shown = CliRunner().invoke(app, ["analyze", "--index", "shop", "--home", str(own.home)])
    assert shown.exit_code == 0 and "shop/a Nothing.py" in shown.output
    assert not [line for line in shown.output.splitlines() if line.startswith("Nothing")]


def test_the_command_prints_sections_and_json(shop: Workplace, found: IndexAnalysis) -> None:
    arguments = ["analyze", "--index", "shop", "--home", str(shop.home), "--limit", "3"]
    first = found.duplicates.listed[0].places[0]
    text = CliRunner().invoke(app, arguments)
    assert text.exit_code == 0, text.output
    for words in ("Age", "Without evidence", "Copies", f"shop/bill.py:{first.lines.start}-{first.lines.end} sum_up"):
        assert words in text.output
    printed = CliRunner().invoke(app, [*arguments, "--json"])
    assert IndexAnalysis.model_validate_json(printed.stdout).duplicates.groups == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--index", "nothing"], "There is no index called 'nothing'"),
        (["--limit", "0"], "limit"),
        (["--similarity", "0.9"], "--similarity was removed"),
        (["--symbol-tokens", "9"], "--symbol-tokens was removed"),
    ],
)
def test_a_bad_request_is_refused_in_a_sentence(shop: Workplace, options: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["analyze", "--home", str(shop.home), *options])
    assert result.exit_code != 0 and words in result.stderr and "Traceback" not in result.output
