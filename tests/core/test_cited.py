"""Opening a citation: the text as it was cited, or what became of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from adk_evidence.citations.saved import cited_text
from adk_evidence.errors import SourceError
from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, Kind
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.read import CitedSource, NotIndexedError
from tests.corpora import CODE, CODE_COMMIT, DOCS_COMMIT, Workplace, change, git, write_checkout

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
    service = workplace.service()
    try:
        with service.session() as session:
            return session.read_file(path, lines=lines)
    finally:
        service.close()


def test_an_unchanged_file_is_the_local_one(workplace: Workplace) -> None:
    workplace.ingest()
    source = read(workplace)
    assert source.text == CODE[PATH]
    assert (source.matches_index, source.local_matches, source.verification) == (True, True, None)
    assert source.local_file is not None and source.local_file.samefile(workplace.code / PATH)
    assert (source.lines, source.cited_lines, source.language) == (LINES, LINES, "py")


def test_a_place_that_an_outline_names_is_read(workplace: Workplace) -> None:
    workplace.ingest()
    service = workplace.service()
    try:
        with service.session() as session:
            place = session.read(f"{PATH}:{LINES.start}-{LINES.end}")
            assert (place.path, place.lines, place.text) == (PATH, LINES, CODE[PATH])
            with pytest.raises(NotIndexedError):
                session.read("docs/none.md:1-2")
    finally:
        service.close()


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_candidate_is_read_while_the_other_collection_is_damaged(workplace: Workplace, kind: Kind) -> None:
    workplace.ingest()
    service = workplace.service()
    found = service.find(EvidenceRequest(query="how do I retry when a tool throws?")).candidates
    service.close()
    candidate = next(one for one in found if one.source_type == SOURCE_TYPES[kind])
    other = next(one for one in KINDS if one != kind)
    for damaged in workplace.settings.index_path.rglob(workplace.settings.store.collection(other)):
        shutil.rmtree(damaged)
    service = workplace.service()
    with service.session() as session:
        assert session.read_candidate(candidate.candidate_id).path == candidate.path
    service.close()


def test_a_file_that_is_gone_is_an_error(workplace: Workplace) -> None:
    workplace.ingest()
    (workplace.code / PATH).unlink()
    with pytest.raises(SourceError, match="gone"):
        read(workplace)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_out_of_the_corpus_is_not_followed(workplace: Workplace, tmp_path: Path) -> None:
    workplace.ingest()
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (workplace.code / PATH).unlink()
    (workplace.code / PATH).symlink_to(secret)
    with pytest.raises(SourceError, match="gone"):
        read(workplace)


@pytest.mark.parametrize("path", ["corpus.json", "/etc/passwd", "../x", f"{PATH}/..", "", "src"])
def test_what_is_not_indexed_is_not_opened(workplace: Workplace, path: str) -> None:
    workplace.ingest()
    with pytest.raises(NotIndexedError):
        read(workplace, path)


def test_lines_beyond_the_file_are_its_last(workplace: Workplace) -> None:
    workplace.ingest()
    source = read(workplace, lines=LineSpan(start=10**6, end=10**7))
    last = CODE[PATH].count("\n")
    assert source.lines == LineSpan(start=last, end=last)


class TestOtherVersions:
    """A citation of a version that is not indexed is opened in the indexed version."""

    def opened(self, workplace: Workplace, named: str, cited: Cited | None = None) -> CitedSource:
        service = workplace.service()
        try:
            with service.session() as session:
                return session.read_in_other_version(named, cited)
        finally:
            service.close()

    def test_its_lines_are_found_by_the_cited_text(self, workplace: Workplace) -> None:
        old = CODE[PATH]
        workplace.ingest()
        lines = old.split("\n")
        cited = cited_text("\n".join(lines[15:17]), PATH, "py", lines=LineSpan(start=99, end=100))
        found = self.opened(workplace, f"adk-python@v1.0.0:{PATH}#L99-L100", cited)
        assert (found.cited_commit, found.commit, found.text) == ("v1.0.0", CODE_COMMIT, old)
        assert found.lines == LineSpan(start=16, end=17) and found.cited_lines == LineSpan(start=99, end=100)
        assert found.verification is not None and found.verification.state == "moved"

    def test_a_text_that_is_in_another_file_by_now_is_opened_there(self, workplace: Workplace) -> None:
        workplace.ingest()
        lines = CODE[PATH].split("\n")
        cited = cited_text("\n".join(lines[20:23]), "src/google/adk/old.py", "py", symbol="back_off")
        found = self.opened(workplace, f"google/adk-python@v1.0.0:src/google/adk/old.py:{'0' * 40}", cited)
        assert found.path == PATH and found.lines == LineSpan(start=21, end=23)

    def test_without_the_text_nothing_is_said_of_its_lines(self, workplace: Workplace) -> None:
        workplace.ingest()
        found = self.opened(workplace, f"adk-python@v1.0.0:{PATH}#L6-L400")
        assert found.lines == LineSpan(start=6, end=CODE[PATH].count("\n"))
        assert found.verification is not None and found.verification.state == "unverified"

    def test_a_page_is_found_by_its_address(self, workplace: Workplace) -> None:
        workplace.ingest()
        found = self.opened(workplace, "adk-docs@0000000:https://docs.example.org/tools/retry/#back-off")
        assert (found.path, found.commit, found.cited_commit) == ("docs/tools/retry.md", DOCS_COMMIT, "0000000")

    @pytest.mark.parametrize(
        "named",
        ["adk-python@v1:src/none.py#L1-L2", "other@v1:README.md#L1-L2", "adk-docs@1:https://docs.example.org/x/"],
    )
    def test_what_no_version_has_is_not_indexed(self, workplace: Workplace, named: str) -> None:
        workplace.ingest()
        with pytest.raises(NotIndexedError):
            self.opened(workplace, named)


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
