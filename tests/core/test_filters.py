from __future__ import annotations

from adk_evidence.models.request import EvidenceFilters
from adk_evidence.search.question.scope import build_filter
from adk_evidence.store.base import Filter, Match

PATHS = ("docs/a.md", "docs/tools/b.md", "src/google/adk/agents/llm_agent.py")


def test_no_filter_constrains_nothing():
    assert build_filter(EvidenceFilters(), PATHS) == Filter()


def test_globs_and_folders_become_the_paths_that_the_index_holds():
    found = build_filter(EvidenceFilters(path_allowlist=("docs/",), path_blocklist=("**/b.md",)), PATHS)
    assert found == Filter(must=(Match("path", ("docs/a.md",)),))


def test_a_filter_that_matches_no_file_matches_no_chunk():
    found = build_filter(EvidenceFilters(path_allowlist=("nowhere/",)), PATHS)
    assert found == Filter(must=(Match("path", ()),))


def test_a_language_is_that_of_the_file_or_of_a_tab():
    found = build_filter(EvidenceFilters(languages=("Python",)), PATHS)
    assert found.must == (Filter(should=(Match("lang", ("py",)), Match("code_langs", ("python",)))),)


def test_a_commit_is_one_of_those_that_were_found_by_its_name():
    assert build_filter(EvidenceFilters(), PATHS, ("v2.13.0",)).must == (Match("commit", ("v2.13.0",)),)


def test_all_names_of_a_language_mean_its_files():
    for name in ("markdown", ".md", "MD"):
        found = build_filter(EvidenceFilters(languages=(name,)), PATHS)
        (condition,) = found.must
        assert Match("lang", ("md",)) in condition.should
    found = build_filter(EvidenceFilters(languages=("typescript",)), PATHS)
    (condition,) = found.must
    assert condition.should == (Match("lang", ("ts", "tsx")), Match("code_langs", ("typescript",)))


def test_a_decorator_is_found_by_its_name_in_its_own_case():
    found = build_filter(EvidenceFilters(tags=("@app.Route",)), PATHS)
    assert found.must == (Filter(should=(Match("decorators", ("app.Route",)),)),)
    found = build_filter(EvidenceFilters(tags=("Class",)), PATHS)
    (condition,) = found.must
    assert {Match("symbol_kind", ("class",)), Match("decorators", ("Class",))} <= set(condition.should)
