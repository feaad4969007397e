"""A cited text is found in another version of its corpus: elsewhere in its file, in another file, or by its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adk_evidence.citations.anchor import Corpus, Texts, anchor
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan, Verification

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


def place(found: Verification) -> tuple[str, str | None, int, int]:
    assert found.lines is not None
    return found.state, found.path, found.lines.start, found.lines.end


def corpus(texts: dict[str, str]) -> Corpus:
    return Corpus(Texts(texts))


class TestSameFile:
    def test_of_equal_texts_the_one_under_the_cited_name_counts_not_the_nearest(self) -> None:
        twin = WORKER.replace("class Worker", "class Other")
        assert place(anchor(RUN, corpus({OLD: f"{twin}\n\n{WORKER}"}))) == ("moved", None, 18, 23)

    def test_equal_lines_of_another_class_are_not_the_cited_ones_when_the_cited_ones_moved(self) -> None:
        twin = WORKER.replace("class Worker", "class Other")
        assert anchor(RUN, corpus({OLD: f"{WORKER}\n\n{twin}"})).state == "exact"
        assert anchor(RUN, corpus({OLD: f"{twin}\n\n{WORKER}"})).state == "moved"

    def test_the_text_under_another_name_does_not_stand_in_for_a_definition_that_changed(self) -> None:
        twin = WORKER.replace("class Worker", "class Other")
        text = f"# new\n{twin}\n\nclass Worker:\n    def run(self, jobs):\n        ...\n"
        assert place(anchor(RUN, corpus({OLD: text}))) == ("changed", None, 17, 18)

    def test_a_class_that_was_renamed_moves_its_methods(self) -> None:
        text = "# new\n" + WORKER.replace("class Worker", "class Labourer")
        assert place(anchor(RUN, corpus({OLD: text}))) == ("moved", None, 5, 10)

    def test_of_equal_sections_the_one_below_the_cited_headings_counts(self) -> None:
        text = GUIDE.replace("# Queues", "# Stacks") + "\n" * 20 + GUIDE
        assert place(anchor(SECTION, corpus({"docs/queue.md": text}))) == ("moved", None, 32, 34)

    @pytest.mark.parametrize(
        "change", [lambda text: text.replace("jobs:", "jobs: "), lambda text: text.replace("    ", "\t")]
    )
    def test_text_with_other_spaces_is_not_the_same_text(self, change: object) -> None:
        assert callable(change)
        assert anchor(RUN, corpus({OLD: change(WORKER)})).state == "same_tree"
        assert anchor(replace(RUN, lang="txt"), corpus({OLD: change(WORKER)})).state == "gone"

    def test_lines_after_the_end_of_the_file_are_not_found(self) -> None:
        cited = Cited(path="a.txt", lang="txt", body="last\n", start_line=1, end_line=2)
        assert anchor(cited, corpus({"a.txt": "last\n"})).state == "gone"
        assert anchor(cited, corpus({"a.txt": "last\n\n"})).state == "exact"


class TestOtherFile:
    def test_the_same_definition_in_another_file_has_moved_there(self) -> None:
        texts = {"pkg/work/_worker.py": "import os\n\n" + WORKER}
        assert place(anchor(RUN, corpus(texts))) == ("moved", "pkg/work/_worker.py", 6, 11)

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

    def test_other_formatting_in_another_file_is_the_same_tree(self) -> None:
        texts = {"pkg/b.py": WORKER.replace('print("starting", job)', "pass").replace("in jobs:", "in  jobs:")}
        assert place(anchor(RUN, corpus(texts))) == ("same_tree", "pkg/b.py", 4, 9)

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
        new = GUIDE.replace("one after the other", "together")
        found = anchor(SECTION, corpus({"docs/queues/index.md": new, "docs/other.md": "# Order of jobs\n\nText.\n"}))
        assert place(found) == ("changed", "docs/queues/index.md", 5, 7)

    def test_headings_that_several_pages_have_name_none_of_them(self) -> None:
        new = GUIDE.replace("one after the other", "together")
        assert anchor(SECTION, corpus({"docs/a.md": new, "docs/b.md": new})).state == "gone"

    def test_a_place_in_the_cited_file_comes_before_other_files(self) -> None:
        texts = {OLD: WORKER.replace("job.wait()", "job.join()"), "pkg/b.py": WORKER}
        found = anchor(RUN, corpus(texts))
        assert (found.state, found.path, found.lines) == ("changed", None, LineSpan(start=4, end=9))
