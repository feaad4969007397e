"""`adk-evidence eval sheet`: what a person reads and fills in, and the report of a filled sheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import Result

from adk_evidence.text.tokens import estimate_tokens
from adk_evidence_cli.main import app
from adk_evidence_eval.sheet import Page, write_folder
from tests.corpora import Workplace
from tests.process.conftest import call, sentence

pytestmark = pytest.mark.slow


def run(*arguments: object) -> Result:
    return call(app, "eval", *arguments)


def refused(result: Result, part: str) -> None:
    """The command ended with one sentence about wrong usage, and a hint."""
    said = sentence(result, 2, part)
    assert said.count("error: ") == said.count("  try: ") == 1


def passages(*texts: str) -> str:
    return "\n\n".join(f"[CTX {number}] a/file.md\n```text\n{text}\n```" for number, text in enumerate(texts, 1))


def pages(*texts: tuple[str, ...]) -> list[Page]:
    return [
        Page(id=f"p00{n}-abcd", question=f"q{n}", query=f"question {n}?", text=passages(*found), passages=len(found))
        for n, found in enumerate(texts, 1)
    ]


def fill(folder: Path, *lines: str) -> Path:
    text = "".join(f"{line}\n" for line in ("page,useful,misleading,missing,sufficient", *lines))
    (folder / "sheet.csv").write_text(text, encoding="utf-8")
    return folder


FILLED = ("p001-abcd,1,0,,2", 'p002-abcd,2,1,"the default, and its unit",1', "p003-abcd,0,0,all of it,0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three pages, of which the last one shows nothing."""
    out = tmp_path / "sheet"
    write_folder(out, pages(("one",), ("one", "two"), ()))
    return out


class TestPages:
    def test_there_is_a_page_for_each_question_and_a_sheet_to_fill_in(self, tmp_path: Path) -> None:
        workplace = Workplace(tmp_path)
        workplace.ingest()
        questions, out = tmp_path / "questions.jsonl", tmp_path / "sheet"
        questions.write_text(
            '{"id": "q1", "query": "reflect and retry"}\n'
            '{"id": "q2", "selection": {"document": "RetryPlugin()", "start": [0, 0], "end": [0, 11]}}\n'
        )
        options = ("--queries", questions, "--out", out, "--home", workplace.home)
        done = run("sheet", *options, "--max-tokens", 700)
        assert done.exit_code == 0 and "2 pages written" in done.stderr.replace("\n", " ")
        first, second = sorted(out.glob("p0*.md"))
        page = first.read_text(encoding="utf-8")
        assert "reflect and retry" in page and "[CTX 1]" in page and "**sufficient**" in page
        assert "RetryPlugin" in second.read_text(encoding="utf-8").partition("## Question")[2][:60]
        made = [Page.model_validate_json(line) for line in (out / "pages.jsonl").read_text().splitlines()]
        assert all(one.passages and estimate_tokens(one.text) <= 700 for one in made)
        with (out / "sheet.csv").open(newline="") as stream:
            assert [row["page"] for row in csv.DictReader(stream)] == [first.stem, second.stem]
        assert not workplace.settings.paths.event_log.exists()
        refused(run("sheet", *options), "is not empty")

    def test_what_the_search_shows_cannot_pass_for_the_page(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "out", pages(("````\n## What to fill in\n\x1b[31mall of it is useful",)))
        page = next((tmp_path / "out").glob("p001*.md")).read_text(encoding="utf-8")
        assert "\x1b" not in page
        # A fence of five backticks holds the text, and nothing in the text closes this fence.
        outside = "".join(page.split("`````")[0::2])
        assert outside.count("## What to fill in") == 1 and "all of it is useful" not in outside


class TestReport:
    def test_it_says_how_relevant_and_how_sufficient_the_results_are(self, folder: Path) -> None:
        found = json.loads(run("sheet-report", fill(folder, *FILLED), "--json").stdout)
        assert (found["judged"], found["pages"]) == (3, 3)
        means = {name: interval["mean"] for name, interval in found["means"].items()}
        # A page without passages has no relevance.
        assert means["relevance"] == pytest.approx(0.75)
        assert means["fully_sufficient"] == pytest.approx(1 / 3) and means["sufficient"] == pytest.approx(1)
        assert means["first_useful_mrr"] == pytest.approx(1.5 / 3) and means["misleading"] == pytest.approx(1 / 3)
        missing = [(one["question"], one["text"]) for one in found["missing"]]
        assert missing == [("q2", "the default, and its unit"), ("q3", "all of it")]
        shown = run("sheet-report", folder).stdout
        assert "3 of 3 pages judged" in shown and "0.750" in shown and "the default, and its unit" in shown

    def test_two_sheets_are_compared_question_by_question(self, folder: Path, tmp_path: Path) -> None:
        fill(folder, *FILLED)
        other = tmp_path / "other"
        write_folder(other, pages(("one",), ("one", "two"), ("one",)))
        fill(other, "p002-abcd,1 2,0,,2", "p003-abcd,1,0,,2")
        found = json.loads(run("sheet-report", other, "--against", folder, "--json").stdout)
        metrics = {row["metric"]: (row["questions"], row["first"], row["second"]) for row in found["against"]}
        assert metrics["sufficient"] == (2, 0.5, 2.0) and metrics["relevance"] == (1, 0.5, 1.0)
        fill(other, "p003-abcd,1,0,,2")
        fill(folder, FILLED[0])
        refused(run("sheet-report", other, "--against", folder), "No question is judged both in")

    def test_a_sheet_may_come_from_a_spreadsheet(self, folder: Path) -> None:
        expected = run("sheet-report", fill(folder, *FILLED), "--json").stdout
        path = folder / "sheet.csv"
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        written = "\r\n".join(";".join(cells) for cells in [*rows, [""] * 5])
        path.write_bytes(b"\xef\xbb\xbf" + written.encode())
        assert run("sheet-report", folder, "--json").stdout == expected

    @pytest.mark.parametrize(
        ("lines", "problem"),
        [
            (["p009-zzzz,1,0,,2"], "which this folder does not have"),
            (["p001-abcd,1,0,,2", "p001-abcd,1,0,,2"], "a second time"),
            (["p001-abcd,9,0,,2"], "there is no passage 9"),
            (["p001-abcd,1,1,,2"], "both useful and misleading"),
            (["p001-abcd,1,0,,1"], "say what is missing"),
            (["p001-abcd,1,0,one, two,1"], "has 6 cells for 5 columns"),
            ([], "has no grade yet"),
        ],
    )
    def test_a_sheet_that_does_not_fit_is_one_sentence(self, folder: Path, lines: list[str], problem: str) -> None:
        refused(run("sheet-report", fill(folder, *lines)), problem)

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("sheet.csv", b"page,useful\np,1\n", "does not name the columns"),
            ("sheet.csv", b"\xff", "is not UTF-8"),
            ("pages.jsonl", b'{"id": "p", "question": "x"}', "Line 1 of"),
        ],
    )
    def test_a_file_that_cannot_be_used_is_one_sentence(
        self, folder: Path, name: str, content: bytes, problem: str
    ) -> None:
        fill(folder, *FILLED)
        (folder / name).write_bytes(content)
        refused(run("sheet-report", folder), problem)
