"""Opening a citation: the text as it was cited, or what became of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from adk_evidence.errors import SourceError
from adk_evidence.models.pack import LineSpan
from adk_evidence.search.read import CitedSource, NotIndexedError
from tests.corpora import CODE, CODE_COMMIT, Workplace, change, git, write_checkout

pytestmark = pytest.mark.slow

PATH = "src/google/adk/plugins/retry.py"
LINES = LineSpan(start=6, end=18)


class GitWorkplace(Workplace):
    """The code is a git checkout."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.code / ".git").exists():
            (self.code / "corpus.json").unlink()
            write_checkout(self.code)


def read(workplace: Workplace, path: str = PATH, lines: LineSpan | None = LINES) -> CitedSource:
    with closing(workplace.service()) as service, service.session() as session:
        return session.read_file(path, lines=lines)


def test_an_unchanged_file_is_the_local_one(workplace: Workplace) -> None:
    workplace.ingest()
    source = read(workplace)
    assert source.text == CODE[PATH]
    assert (source.matches_index, source.local_matches, source.verification) == (True, True, None)
    assert source.local_file is not None and source.local_file.samefile(workplace.code / PATH)
    assert (source.lines, source.cited_lines, source.language) == (LINES, LINES, "py")


def test_a_place_that_an_outline_names_is_read(workplace: Workplace) -> None:
    workplace.ingest()
    with closing(workplace.service()) as service, service.session() as session:
        place = session.read(f"{PATH}:{LINES.start}-{LINES.end}")
        assert (place.path, place.lines, place.text) == (PATH, LINES, CODE[PATH])
        with pytest.raises(NotIndexedError):
            session.read("docs/none.md:1-2")


def test_of_a_changed_folder_the_text_is_shown_as_it_is_with_the_lines_where_it_is_now(workplace: Workplace) -> None:
    workplace.ingest()
    change(workplace.code / PATH, "MAX_RETRIES = 3", "# One\n# Two\nMAX_RETRIES = 3")
    source = read(workplace)
    assert (source.matches_index, source.local_matches) == (False, False)
    assert source.verification is not None and source.verification.state == "moved"
    assert source.lines is not None and source.lines.start == LINES.start + 2
    assert source.cited_lines == LINES


def test_of_a_changed_checkout_the_text_is_that_of_the_commit(tmp_path: Path) -> None:
    workplace = GitWorkplace(tmp_path)
    workplace.ingest()
    change(workplace.code / PATH, "MAX_RETRIES = 3", "# One\nMAX_RETRIES = 4")
    git(workplace.code, "commit", "--quiet", "-a", "-m", "later")
    source = read(workplace)
    assert source.text == CODE[PATH]
    assert (source.matches_index, source.local_matches, source.lines) == (True, False, LINES)
    (workplace.code / PATH).unlink()
    source = read(workplace)
    assert (source.text, source.local_file) == (CODE[PATH], None)


def test_a_file_that_is_gone_is_an_error(workplace: Workplace) -> None:
    workplace.ingest()
    (workplace.code / PATH).unlink()
    with pytest.raises(SourceError, match="gone"):
        read(workplace)


@pytest.mark.parametrize("path", ["corpus.json", "/etc/passwd", "../x", f"{PATH}/..", "", "src"])
def test_what_is_not_indexed_is_not_opened(workplace: Workplace, path: str) -> None:
    workplace.ingest()
    with pytest.raises(NotIndexedError):
        read(workplace, path)


class TestAnEarlierIndex:
    """A candidate of a pack that an earlier index answered."""

    def opened(self, workplace: Workplace, candidate_id: str) -> CitedSource:
        with closing(workplace.service()) as service, service.session() as session:
            return session.read_candidate(candidate_id)

    def candidate_id(self, workplace: Workplace) -> str:
        return next(p.candidate_id for p in workplace.points().values() if p.path == PATH and p.symbol == "back_off")

    def test_the_same_text_is_opened_at_the_commit_that_is_indexed(self, tmp_path: Path) -> None:
        workplace = GitWorkplace(tmp_path)
        workplace.ingest()
        named = self.candidate_id(workplace)
        change(workplace.code / "src/google/adk/runners.py", "class", "# New.\nclass")
        git(workplace.code, "commit", "--quiet", "--all", "-m", "more")
        workplace.ingest()
        now = self.candidate_id(workplace)
        assert now != named and self.opened(workplace, named) == self.opened(workplace, now)
        change(workplace.code / PATH, "def back_off(", "def pause(")
        git(workplace.code, "commit", "--quiet", "--all", "-m", "more")
        workplace.ingest()
        with pytest.raises(NotIndexedError):
            self.opened(workplace, named)

    def test_a_release_is_opened_in_that_release_alone(self, workplace: Workplace) -> None:
        workplace.ingest()
        named = self.candidate_id(workplace)
        assert self.opened(workplace, named).path == PATH
        for commit in ("v1.0.0", "1.0.0"):
            with pytest.raises(NotIndexedError):
                self.opened(workplace, named.replace(CODE_COMMIT, commit))


def test_of_a_text_that_left_its_file_the_other_indexed_file_is_opened(workplace: Workplace) -> None:
    workplace.ingest()
    file, other = workplace.code / PATH, workplace.code / "src/google/adk/runners.py"
    other.write_text(other.read_text() + "\n\n" + file.read_text())
    file.unlink()
    source = read(workplace)
    assert source.path == "src/google/adk/runners.py" and source.verification is not None
    assert (source.verification.state, source.lines) == ("moved", source.verification.lines)


def test_of_a_text_in_a_file_that_is_not_indexed_only_the_place_is_told(workplace: Workplace) -> None:
    workplace.ingest()
    (workplace.code / PATH).rename(workplace.code / "src/google/adk/moved.py")
    with pytest.raises(SourceError, match=r"src/google/adk/moved\.py"):
        read(workplace)
