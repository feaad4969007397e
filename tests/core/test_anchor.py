"""A cited text is found in another version of its corpus: elsewhere in its file, in another file, or by its name."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from adk_evidence.citations.anchor import Corpus, anchor
from adk_evidence.citations.saved import cited_text
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan, Verification
from tests.corpora import Texts

OLD = "pkg/agents/worker.py"
WORKER = '''\
class Worker:
    """Works through a queue."""

    def run(self, jobs):
        for job in jobs:
            self.log(job)
            job.start()
            job.wait()
        return len(jobs)

    def log(self, job):
        print("starting", job)
'''
RUN = Cited(
    path=OLD,
    lang="py",
    body="\n".join(WORKER.split("\n")[3:9]),
    start_line=4,
    end_line=9,
    symbol="Worker.run",
    symbol_kind="method",
    symbols=("Worker.run",),
)
GUIDE = """\
# Queues

Intro.

## Order of jobs

Jobs are started one after the other, in the order in which they were put into the queue by their owners.
"""
SECTION = Cited(
    path="docs/queue.md",
    lang="md",
    body="\n".join(GUIDE.split("\n")[4:7]),
    start_line=5,
    end_line=7,
    headings=("Queues", "Order of jobs"),
)

# A section of two paragraphs, and its page after one of them has changed.
FIRST = "Jobs are started together."
SECOND = "Their owners are told when the last of them has ended."
LONG = replace(SECTION, body=f"## Order of jobs\n\n{FIRST}\n\n{SECOND}", end_line=9)
NEW = f"# Queues\n\nIntro.\n\n## Order of jobs\n\nJobs are started alone.\n\n{SECOND}\n"


def place(found: Verification) -> tuple[str, str | None, int, int]:
    assert found.lines is not None
    return found.state, found.path, found.lines.start, found.lines.end


def corpus(texts: dict[str, str]) -> Corpus:
    return Corpus(Texts(texts))


class TestSameFile:
    def test_of_equal_texts_the_one_under_the_cited_name_counts_not_the_nearest(self) -> None:
        twin = WORKER.replace("class Worker", "class Other")
        assert place(anchor(RUN, corpus({OLD: f"{twin}\n\n{WORKER}"}))) == ("moved", None, 18, 23)

    def test_the_text_under_another_name_does_not_stand_in_for_a_definition_that_changed(self) -> None:
        twin = WORKER.replace("class Worker", "class Other")
        text = f"# new\n{twin}\n\nclass Worker:\n    def run(self, jobs):\n        ...\n"
        assert place(anchor(RUN, corpus({OLD: text}))) == ("changed", None, 17, 18)

    def test_of_equal_sections_the_one_below_the_cited_headings_counts(self) -> None:
        text = GUIDE.replace("# Queues", "# Stacks") + "\n" * 20 + GUIDE
        assert place(anchor(SECTION, corpus({"docs/queue.md": text}))) == ("moved", None, 32, 34)

    @pytest.mark.parametrize(
        "change", [lambda text: text.replace("jobs:", "jobs: "), lambda text: text.replace("    ", "\t")]
    )
    def test_text_with_other_spaces_is_not_the_same_text(self, change: Callable[[str], str]) -> None:
        assert anchor(RUN, corpus({OLD: change(WORKER)})).state == "same_tree"
        assert anchor(replace(RUN, lang="txt"), corpus({OLD: change(WORKER)})).state == "gone"

    def test_a_text_in_very_many_places_is_not_said_to_be_at_one_of_them(self) -> None:
        cited = Cited(path="a.md", lang="md", body="filler", start_line=3_000, end_line=3_000, headings=("Section",))
        text = "filler\n" * 1_500 + "# Section\n\nOther.\n"
        assert place(anchor(cited, corpus({"a.md": text}))) == ("changed", None, 1_501, 1_503)
        assert anchor(replace(cited, headings=()), corpus({"a.md": text})).state == "gone"


class TestOtherFile:
    def test_where_the_old_file_imports_the_name_from_is_where_it_went(self) -> None:
        new = WORKER.replace("job.wait()", "job.join()")
        texts = {OLD: "from ..work.inner import Worker\n", "pkg/work/inner.py": new, "other/worker.py": WORKER}
        found = anchor(RUN, corpus(texts))
        assert place(found) == ("changed", "pkg/work/inner.py", 4, 9)
        assert found.reason == "Worker.run is in another file, and its code changed."

    def test_a_package_that_exports_the_name_tells_where_it_went(self) -> None:
        new = WORKER.replace("job.wait()", "job.join()")
        texts = {
            "src/pkg/agents/__init__.py": "from pkg.work import Worker\n",
            "src/pkg/work/__init__.py": "def __getattr__(name):\n    from .inner import Worker\n    return Worker\n",
            "src/pkg/work/inner.py": new,
            "src/pkg/other.py": new,
        }
        cited = replace(RUN, path=f"src/{OLD}")
        assert place(anchor(cited, corpus(texts))) == ("changed", "src/pkg/work/inner.py", 4, 9)

    def test_imports_in_a_circle_lead_nowhere(self) -> None:
        texts = {OLD: "from .a import Worker\n", "pkg/agents/a.py": "from .worker import Worker\n"}
        assert anchor(RUN, corpus(texts)).state == "gone"

    def test_a_package_may_export_another_definition_of_that_name(self) -> None:
        body = "def start(jobs):\n    for job in jobs:\n        job.start()"
        cited = cited_text(body, "pkg/old.py", "py", symbol="start", lines=LineSpan(start=1, end=3))
        texts = {
            "pkg/__init__.py": "from pkg.cli import start\n",
            "pkg/cli.py": "def start(jobs):\n    return parse_arguments()\n",
        }
        assert anchor(cited, corpus(texts)).state == "gone"
        texts["pkg/new.py"] = f"{body}\n    return jobs\n"
        assert place(anchor(cited, corpus(texts)))[1] == "pkg/new.py"

    @pytest.mark.parametrize("guard", ["try:\n{}\nexcept ImportError:\n    pass\n", "if FAST:\n{}\n"])
    def test_a_guarded_definition_is_found(self, guard: str) -> None:
        text = guard.format("\n".join(f"    {line}" if line else line for line in WORKER.split("\n")))
        assert place(anchor(RUN, corpus({"pkg/b.py": text})))[:2] == ("same_tree", "pkg/b.py")

    def test_a_namesake_with_other_code_is_not_the_cited_definition(self) -> None:
        texts = {"pkg/b.py": "class Worker:\n    def run(self, cart):\n        return cart.total\n"}
        assert anchor(RUN, corpus(texts)).state == "gone"

    def test_changed_code_in_several_files_is_nowhere_for_sure(self) -> None:
        new = WORKER.replace("job.wait()", "job.join()")
        assert anchor(RUN, corpus({"pkg/b.py": new})).state == "changed"
        assert anchor(RUN, corpus({"pkg/b.py": new, "pkg/c.py": new})).state == "gone"

    def test_of_equal_copies_the_one_in_the_likeliest_folder_counts(self) -> None:
        texts = {"pkg/agents/inner/worker.py": WORKER, "vendored/a.py": WORKER}
        assert place(anchor(RUN, corpus(texts)))[1] == "pkg/agents/inner/worker.py"

    def test_a_text_that_is_too_short_to_tell_is_not_looked_for(self) -> None:
        cited = Cited(path="a.txt", lang="txt", body="yes", start_line=1, end_line=1)
        assert anchor(cited, corpus({"b.txt": "yes\n"})).state == "gone"

    def test_a_renamed_page_is_found_by_its_text(self) -> None:
        found = anchor(SECTION, corpus({"docs/queues/index.md": f"\n{GUIDE}", "docs/queue.txt": GUIDE}))
        assert place(found) == ("moved", "docs/queues/index.md", 6, 8)

    def test_a_renamed_page_is_found_by_its_headings(self) -> None:
        found = anchor(LONG, corpus({"docs/queues/index.md": NEW, "docs/other.md": "# Order of jobs\n\nText.\n"}))
        assert place(found) == ("changed", "docs/queues/index.md", 5, 9)

    def test_other_text_below_the_same_heading_is_not_the_cited_section(self) -> None:
        page = "# Queues\n\n## Order of jobs\n\nOld jobs come first.\n"
        assert anchor(LONG, corpus({"docs/queue.md": "# Queues\n", "docs/b.md": page})).state == "gone"
        assert anchor(SECTION, corpus({"docs/b.md": page})).state == "gone"

    def test_headings_that_several_pages_have_name_none_of_them(self) -> None:
        assert anchor(LONG, corpus({"docs/a.md": NEW})).state == "changed"
        assert anchor(LONG, corpus({"docs/a.md": NEW, "docs/b.md": NEW})).state == "gone"


class Counted(Texts):
    """Counts the files that are read, and cannot list them."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__(texts)
        self.read_paths: list[str] = []

    def read(self, path: str) -> str | None:
        text = super().read(path)
        if text is not None:
            self.read_paths.append(path)
        return text

    def paths(self) -> list[str]:
        raise AssertionError


class TestOnlyFollow:
    def test_only_what_imports_lead_to_is_read(self) -> None:
        new = WORKER.replace("job.wait()", "job.join()")
        others = {f"pkg/other{number}.py": WORKER for number in range(100)}
        source = Counted({OLD: "from ..work.inner import Worker\n", "pkg/work/inner.py": new, **others})
        found = anchor(RUN, Corpus(source, only_follow=True))
        assert place(found) == ("changed", "pkg/work/inner.py", 4, 9)
        assert set(source.read_paths) == {OLD, "pkg/work/inner.py"}

    def test_what_nothing_leads_to_is_gone(self) -> None:
        source = Counted({"pkg/other.py": WORKER, "docs/queues.md": GUIDE})
        for cited in (RUN, SECTION):
            assert anchor(cited, Corpus(source, only_follow=True)).state == "gone"
        assert source.read_paths == []


def test_a_corpus_that_is_too_large_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"pkg/b.py": WORKER, "pkg/c.py": "x = 1\n" * 100}
    assert anchor(RUN, corpus(texts)).state == "moved"
    monkeypatch.setattr("adk_evidence.citations.anchor._MAX_SEARCHED_CHARS", 500)
    assert anchor(RUN, corpus(texts)).state == "gone"


def test_a_line_of_spaces_is_read_in_linear_time() -> None:
    # Where the time grows with the square, this takes minutes.
    cited = cited_text(" " * 200_000 + "x(", "a.py", "py", symbol="x", lines=LineSpan(start=1, end=1))
    assert (cited.symbol_kind, cited.symbols) == ("block", ())


def test_a_file_that_repeats_one_line_is_searched_in_linear_time() -> None:
    lines = 200_000
    cited = Cited(path="a.txt", lang="txt", body="\n".join(["a"] * 2_000), start_line=9, end_line=2_008)
    begin = time.process_time()
    assert anchor(cited, corpus({"a.txt": "a\n" * lines})).state == "exact"
    assert time.process_time() - begin < 5
