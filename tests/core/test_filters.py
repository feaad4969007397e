from __future__ import annotations

import pytest

from adk_evidence.models.request import EvidenceFilters
from adk_evidence.search.scope import build_filter
from adk_evidence.store.base import Filter, Match

PATHS = ("docs/a.md", "docs/tools/b.md", "src/google/adk/agents/llm_agent.py")
REFS = {"979a8fa9dba9": ("main",), "v2.13.0": ("v2.13.0",)}


def test_no_filter_constrains_nothing():
    assert build_filter(EvidenceFilters(), PATHS, REFS) == (Filter(), False)


def test_globs_and_folders_become_the_paths_that_the_index_holds():
    found, _ = build_filter(EvidenceFilters(path_allowlist=("docs/",), path_blocklist=("**/b.md",)), PATHS, REFS)
    assert found == Filter(must=(Match("path", ("docs/a.md",)),))


def test_a_filter_that_matches_no_file_matches_no_chunk():
    found, _ = build_filter(EvidenceFilters(path_allowlist=("nowhere/",)), PATHS, REFS)
    assert found == Filter(must=(Match("path", ()),))


def test_a_language_is_that_of_the_file_or_of_a_tab():
    found, _ = build_filter(EvidenceFilters(languages=("Python",)), PATHS, REFS)
    assert found.must == (Filter(should=(Match("lang", ("py",)), Match("code_langs", ("python",)))),)


@pytest.mark.parametrize("hint", ["2.13.0", "v2.13.0", "V2.13.0"])
def test_a_version_is_found_with_and_without_its_v(hint):
    found, known = build_filter(EvidenceFilters(repo_ref_hint=hint), PATHS, REFS)
    assert known
    assert found.must == (Match("commit", ("v2.13.0",)),)


def test_a_commit_is_found_by_its_beginning_and_a_branch_by_its_name():
    for hint in ("979a8fa", "main"):
        found, known = build_filter(EvidenceFilters(repo_ref_hint=hint), PATHS, REFS)
        assert known
        assert found.must == (Match("commit", ("979a8fa9dba9",)),)


def test_an_unknown_ref_filters_nothing_and_says_so():
    assert build_filter(EvidenceFilters(repo_ref_hint="v9"), PATHS, REFS) == (Filter(), False)


def test_a_decorator_is_found_by_its_name_in_its_own_case():
    found, _ = build_filter(EvidenceFilters(tags=("@app.Route",)), PATHS, REFS)
    assert found.must == (Filter(should=(Match("decorators", ("app.Route",)),)),)
    found, _ = build_filter(EvidenceFilters(tags=("Class",)), PATHS, REFS)
    (condition,) = found.must
    assert {Match("symbol_kind", ("class",)), Match("decorators", ("Class",))} <= set(condition.should)
