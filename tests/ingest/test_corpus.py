"""Broken files cost themselves and nothing else; and in the real corpora every chunk stands where it says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adk_evidence.settings import Settings, load_settings
from adk_ingest.commands.reports import verify_published
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.forms import chunk_file
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import RunManifest
from adk_ingest.session import Sources, gather
from adk_ingest.sources.resolve import resolve_code
from tests.corpora import Workplace
from tests.ingest.exact import assert_exact

pytestmark = pytest.mark.slow

DOCS = Path(os.environ.get("ADK_EVIDENCE_DOCS") or Path(__file__).parents[3] / "shared" / "corpora" / "adk-docs")
LARGE_BYTES = 50_000_000

BROKEN: dict[str, bytes] = {
    "docs/latin1.md": "# Grüße\n\nÄÖÜ äöü ß ÄÖÜ äöü ß.\n".encode("latin-1"),
    "docs/one_bad_byte.md": b"# One bad byte\n\n" + b"A sentence that is fine. " * 20 + b"\xff and goes on.\n",
    "docs/nul.md": b"# NUL\n\nA \x00 byte.\n",
    "docs/empty.md": b"",
    "docs/blank.md": b" \n\n\t\n",
    "docs/utf16.md": "# Wide\n\nText in UTF-16.\n".encode("utf-16"),
    "docs/picture.png": b"\x89PNG\r\n",
    "docs/unclosed.md": b"---\ntitle: [unclosed\n---\n# Page\n\n```python\nnever closed\n",
    "docs/marks.md": b"\xef\xbb\xbf# Byte order mark\r\n\r\nOld Mac\rand Windows\r\nlines.\r\n",
    "docs/title.md": b'---\ntitle: "lone \\uD800"\n---\n# Page\n\nText.\n',
    "docs/no_page_of_words.md": b"# \n\n---\n\n```\n```\n",
}
BROKEN_CODE: dict[str, bytes] = {
    "src/google/adk/syntax_error.py": b"class Half:\n    def run(self:\n        return 1\n\n\ndef whole():\n    pass\n",
    "src/google/adk/python2.py": b"print 'old'\n",
    "src/google/adk/nul.py": b"x = 1\x00\n",
    "src/google/adk/empty.py": b"",
    "src/google/adk/deep.py": b"x = " + b"(" * 5_000 + b")" * 5_000 + b"\n",
    "src/google/adk/nested.py": b"".join(b" " * depth + b"if x:\n" for depth in range(150)) + b" " * 150 + b"y = 1\n",
    "src/google/adk/surrogate.py": b'S = "\\ud800"\n\n\ndef f():\n    """Lone \\ud800, NUL \\0, return \\r."""\n',
    "src/google/adk/coding.py": b"# -*- coding: latin-1 -*-\nNAME = 'na\xefve'\n",
    "src/google/adk/data.json": b'{"unclosed": [',
}


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, RunManifest]:
    workplace = Workplace(tmp_path_factory.mktemp("broken"))
    for root, files in ((workplace.docs, BROKEN), (workplace.code, BROKEN_CODE)):
        for name, data in files.items():
            (root / name).write_bytes(data)
    with (workplace.docs / "docs/large.md").open("wb") as large:
        large.truncate(LARGE_BYTES)
    if os.name == "posix":
        os.mkfifo(workplace.docs / "docs/pipe.md")
        (workplace.docs / "docs/up").symlink_to("..", target_is_directory=True)
        (workplace.docs / "docs/outside.md").symlink_to(workplace.root / "secret.md")
        (workplace.root / "secret.md").write_text("# Secret\n\nNot of this corpus.\n")
    return workplace, workplace.ingest()


class TestBrokenFiles:
    def test_they_are_skipped_with_reasons(self, ingested: tuple[Workplace, RunManifest]) -> None:
        _, run = ingested
        assert run.status == "complete"
        docs = run.corpora["adk_docs"].skipped_examples
        assert docs["undecodable"] == ["docs/latin1.md"]
        assert docs["binary"] == ["docs/nul.md"]
        assert any("Text in UTF-16." in payload.text for payload in ingested[0].points().values())
        assert docs["empty"] == ["docs/blank.md", "docs/empty.md"]
        assert docs["too_large"] == ["docs/large.md"]
        assert "docs/picture.png" in docs["extension"]
        counts = run.corpora["adk_docs"].skipped
        assert counts == {reason: len(paths) for reason, paths in docs.items()}
        code = run.corpora["adk_python"].skipped_examples
        assert code["binary"] == ["src/google/adk/nul.py"]
        assert code["empty"] == ["src/google/adk/empty.py"]
        warnings = run.corpora["adk_docs"].decode_warnings
        assert [warning.partition(":")[0] for warning in warnings] == ["docs/one_bad_byte.md"]
        assert ingested[0].ingest().status == "unchanged"

    @pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")
    def test_so_are_links_and_what_is_no_file(self, ingested: tuple[Workplace, RunManifest]) -> None:
        skipped = ingested[1].corpora["adk_docs"].skipped_examples
        assert skipped["special_file"] == ["docs/pipe.md"]
        assert skipped["symlink"] == ["docs/outside.md"]
        assert not any("Secret" in payload.text for payload in ingested[0].points().values())

    def test_files_that_do_not_parse_are_listed_and_searchable(self, ingested: tuple[Workplace, RunManifest]) -> None:
        workplace, run = ingested
        failures = run.corpora["adk_python"].parse_failures
        assert {"src/google/adk/syntax_error.py", "src/google/adk/python2.py"} <= set(failures)
        texts = [p.text for p in workplace.points().values() if p.path == "src/google/adk/syntax_error.py"]
        assert any("def whole():" in text for text in texts)

    def test_what_is_left_stands_at_its_lines(self, ingested: tuple[Workplace, RunManifest]) -> None:
        workplace, _ = ingested
        corpora = workplace.gather()
        assert_bodies_at_lines(corpora)
        paths = {payload.path for payload in workplace.points().values()}
        assert {"docs/marks.md", "docs/unclosed.md", "src/google/adk/data.json"} <= paths

    def test_pages_made_of_docstrings_can_be_cited(self, ingested: tuple[Workplace, RunManifest]) -> None:
        report = verify_published(ingested[0].settings, citations=True)
        assert report.ok
        assert set(report.citations) == {"exact"}
        assert any("Lone \ufffd, NUL \ufffd" in payload.text for payload in ingested[0].points().values())


def assert_bodies_at_lines(corpora: list[CorpusInput]) -> int:
    """Check that chunks are their lines to the letter and cover the files; returns how many chunks there are."""
    checked = 0
    for corpus in corpora:
        for file in corpus.files:
            chunked = chunk_file(corpus, file)
            checked += len(chunked.chunks)
            if chunked.chunks:
                # The text of a generated page is made when it is chunked.
                assert_exact(chunked.page or file.text, chunked.chunks)
    return checked


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"home": tmp_path / "home"}, user_file=tmp_path / "no-settings.yaml")


@pytest.mark.corpus
class TestTheRealCorpora:
    def test_every_chunk_of_the_code_and_its_reference_stands_at_its_lines(self, settings: Settings) -> None:
        found = resolve_code(settings, allow_network=True, notify=lambda _: None)
        if found.source is None:
            pytest.skip(f"NO ADK SOURCE: {' '.join(found.notices)}")
        corpora = gather(settings, "code", Sources(), Progress())
        assert {corpus.name for corpus in corpora} == {"adk_python", "api-reference"}
        assert assert_bodies_at_lines(corpora) > 5_000

    def test_every_chunk_of_the_docs_stands_at_its_lines_and_few_are_long(self, settings: Settings) -> None:
        if not DOCS.is_dir():
            pytest.skip(f"NOT RUN: there is no adk-docs snapshot at {DOCS}; set ADK_EVIDENCE_DOCS")
        corpora = gather(settings, "docs", Sources(docs=str(DOCS), allow_network=False), Progress())
        assert assert_bodies_at_lines(corpora) > 500
        chunked = [chunk_file(corpus, file) for corpus in corpora for file in corpus.files]
        assert not [warning for one in chunked for warning in one.warnings if "never closed" in warning]
        # The lines of other readers inside a chunk count for nobody.
        lengths = sorted(len(chunk.body) for one in chunked for chunk in one.chunks if not chunk.left_out)
        assert lengths[-1] <= 12000 and lengths[len(lengths) * 98 // 100] <= 12000 * 0.4
