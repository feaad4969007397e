"""Questions that corpora answer themselves: where they come from, what they expect, and what gives them away."""

from __future__ import annotations

from adk_evidence.models.chunk import sha256_text
from adk_evidence_eval.chunks import IndexedFiles
from adk_evidence_eval.definitions import module_definitions, overrides
from adk_evidence_eval.golden import GoldenQuestion, golden_lines
from adk_evidence_eval.pages import adk_imports, page_sections, resolve_link
from adk_evidence_eval.selfsupervised import KINDS, Corpora, describe, make_questions

BASE = '''\
class BaseStore:
  """Keeps what an agent has learned between two talks."""

  def save(self, note):
    """Writes one note down so that later talks can find it. More of it."""
    raise NotImplementedError
'''
FILES = '''\
from .base import BaseStore


class FileStore(BaseStore):
  """Notes in a folder."""

  def save(self, note):
    (self.folder / note.name).write_text(note.text)
'''
GUIDE = """\
# Remember things

## Keep notes in a folder

To keep the notes where you can read them, give the runner a store of files. See [what a note is](notes.md#parts).

```python
from google.adk.stores.files import FileStore

store = FileStore("notes")
```

## Next steps

Read [what a note is](notes.md#parts).
"""
NOTES = """\
# Notes

What they are.

## Parts of one { #parts }

A name and a text.
"""
CHANGELOG = """\
# Changes

* Let the folder of `FileStore` be read only ([abc1234](https://example.org/abc1234))
* Tidy up a lot of things
"""

CORPORA = Corpora(
    docs={"docs/remember.md": GUIDE, "docs/notes.md": NOTES},
    code={
        "src/google/adk/stores/base.py": BASE,
        "src/google/adk/stores/files.py": FILES,
        "CHANGELOG.md": CHANGELOG,
    },
)


def by_kind(corpora: Corpora) -> dict[str, list[GoldenQuestion]]:
    found: dict[str, list[GoldenQuestion]] = {}
    for question in make_questions(corpora, 10):
        found.setdefault(question.category, []).append(question)
    return found


def expected(question: GoldenQuestion) -> list[tuple[str, int, int]]:
    return [(target.path.rpartition("/")[2], target.start_line, target.end_line) for target in question.expected]


def test_each_kind_asks_with_words_of_one_place_for_another():
    found = by_kind(CORPORA)
    assert {kind: [question.query for question in questions] for kind, questions in found.items()} == {
        "docstring": ["Writes one note down so that later talks can find it."],
        "heading": ["Remember things: Keep notes in a folder"],
        "example": [
            "Keep notes in a folder: To keep the notes where you can read them, give the runner a store of files. "
            "See what a note is."
        ],
        "changelog": ["Let the folder of FileStore be read only"],
    }
    assert expected(found["docstring"][0]) == [("files.py", 7, 8)]
    assert expected(found["heading"][0]) == [("notes.md", 5, 7)]
    assert expected(found["example"][0]) == expected(found["changelog"][0]) == [("files.py", 4, 8)]
    for questions in found.values():
        for question in questions:
            assert question.source is not None
            assert question.source.path not in {target.path for target in question.expected}


def test_a_definition_is_asked_for_by_the_pages_that_import_it():
    documented = FILES.replace("Notes in a folder.", "Keeps every note in a file of its own.")
    corpora = Corpora(CORPORA.docs, {**CORPORA.code, "src/google/adk/stores/files.py": documented})
    (question,) = by_kind(corpora)["import"]
    assert question.query == "Keeps every note in a file of its own."
    assert expected(question) == [("remember.md", 3, 12)]


def test_a_target_whose_file_holds_the_question_is_left_out():
    told = FILES.replace("    (self", '    """Writes one note down so that\n    later talks can find it."""\n    (self')
    corpora = Corpora(CORPORA.docs, {**CORPORA.code, "src/google/adk/stores/files.py": told})
    assert "docstring" not in by_kind(corpora)
    copied = Corpora(
        {**CORPORA.docs, "docs/notes.md": NOTES + "\nRemember things: keep notes in a folder!\n"}, CORPORA.code
    )
    assert "heading" not in by_kind(copied)


def test_what_is_asked_too_broadly_is_left_out():
    many = {f"src/google/adk/stores/s{n}.py": FILES.replace("FileStore", f"Store{n}") for n in range(9)}
    assert "docstring" not in by_kind(Corpora(CORPORA.docs, {**CORPORA.code, **many}))


def test_the_same_corpora_give_the_same_questions_up_to_the_limit():
    assert make_questions(CORPORA, 10) == make_questions(Corpora(CORPORA.docs, CORPORA.code), 10)
    names = {question.id for question in make_questions(CORPORA, 1)}
    assert len(names) == 4 and names <= {question.id for question in make_questions(CORPORA, 10)}


def test_a_set_says_what_it_was_made_from():
    questions = make_questions(CORPORA, 10)
    about = describe(questions, {"adk_docs": IndexedFiles("abc", "Apache-2.0", CORPORA.docs)})
    assert about["sha256"] == sha256_text(golden_lines(questions))
    assert list(about["questions"]) == list(KINDS) and about["questions"]["docstring"] == 1
    changed = describe(
        questions, {"adk_docs": IndexedFiles("abc", "Apache-2.0", {**CORPORA.docs, "docs/notes.md": ""})}
    )
    assert changed["corpora"]["adk_docs"]["sha256"] != about["corpora"]["adk_docs"]["sha256"]


def test_no_corpora_give_no_questions():
    assert make_questions(Corpora({}, {}), 10) == []


def test_files_that_do_not_parse_are_passed_over():
    broken = {"src/a.py": "def (:\n", "src/b.py": "\x00", "src/c.py": "(" * 5000}
    assert make_questions(Corpora({"docs/a.md": "```python\nfrom google.adk import (\n```\n"}, broken), 10) == []


# Pages


def test_a_section_has_its_own_prose_links_and_code():
    first, second, third = page_sections("docs/remember.md", GUIDE)
    assert (first.heading, first.start, first.end, first.prose) == ("Remember things", 1, 2, ())
    assert second.prose[0][1].startswith("To keep the notes") and second.links == ("notes.md#parts",)
    assert second.imports() == (("google.adk.stores.files", "FileStore"),)
    assert (third.title, third.heading) == ("Remember things", "Next steps")


def test_links_are_resolved_as_the_site_does():
    page = "docs/tools/index.md"
    assert resolve_link(page, "../a.md#One-two") == resolve_link(page, "../a.md#one-two")
    assert resolve_link(page, "retry.md") == ("docs/tools/retry.md", "")
    assert resolve_link(page, "/sessions/") == ("docs/sessions/index.md", "")
    assert resolve_link(page, "#here") == (page, "here")
    assert resolve_link(page, "https://example.org/a.md") is None


def test_only_what_is_imported_from_the_adk_counts():
    code = "  from google.adk.tools import a, b as c\n  from google.genai import d\n  from . import e\n"
    assert adk_imports(code) == [("google.adk.tools", "a"), ("google.adk.tools", "b")]


# Definitions


def test_a_long_class_is_represented_by_what_stands_above_its_methods():
    body = "".join(f"  def m{n}(self):\n    return {n}\n\n" for n in range(40))
    ((owner, *_),) = [module_definitions("a.py", f"@mark\nclass Long:\n  x: int = 1\n\n{body}")]
    assert (owner.start, owner.head_end) == (1, 4) and owner.end > 100


def test_overrides_are_found_through_classes_between_but_not_through_ambiguous_names():
    far = "class Near(BaseStore):\n  pass\n\nclass Far(Near):\n  def save(self, note):\n    return 1\n"
    files = {"base.py": BASE, "far.py": far}
    definitions = [one for path, text in files.items() for one in module_definitions(path, text)]
    ((method, found),) = overrides(definitions)
    assert method.symbol == "BaseStore.save" and [one.symbol for one in found] == ["Far.save"]
    assert list(overrides([*definitions, *module_definitions("other.py", BASE)])) == []


def test_classes_that_inherit_in_a_circle_do_no_harm():
    definitions = module_definitions("a.py", "class A(B):\n  def m(self): ...\n\nclass B(A):\n  def m(self): ...\n")
    assert {method.symbol for method, _ in overrides(definitions)} == {"A.m", "B.m"}
