"""Which texts are changelogs, which questions ask for one, and where changelogs stand among other results."""

from __future__ import annotations

import pytest

from adk_evidence.search.question.query import normalise
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.changelog import asks_for_changes, is_changelog
from adk_evidence.search.rerankers.local import LocalReranker
from tests.core.factories import payload


@pytest.mark.parametrize(
    "path",
    [
        "CHANGELOG.md",
        "CHANGELOG-4.0.md",
        "History.md",
        "docs/release-notes.md",
        ".changeset/brave-dogs.md",
        "MIGRATION.md",
    ],
)
def test_a_changelog_is_known_by_its_name(path: str) -> None:
    assert is_changelog(path, ())


@pytest.mark.parametrize(
    "path", ["docs/sessions/history.md", "docs/upgrading/v6.md", "src/changelog.py", "news.ts", "README.md"]
)
def test_guides_and_code_of_such_names_are_none(path: str) -> None:
    assert not is_changelog(path, ())


@pytest.mark.parametrize(
    "heading",
    [
        "v7.18.5",
        "[1.2.0] - 2024-03-01",
        "1.0.0 (2020-01-02)",
        "3.2 (March 4, 2021)",
        "Version 2.0",
        "What's new in 2.0",
        "router@1.2.3-beta.1",
        "Unreleased",
    ],
)
def test_a_changelog_is_known_by_headings_that_are_versions(heading: str) -> None:
    assert is_changelog("docs/a.md", ("All of it", heading, "Fixes"))


@pytest.mark.parametrize("heading", ["1.1 What is streaming?", "Upgrade to v6", "2.0", "v2", "Python 3.11.2 support"])
def test_a_heading_that_holds_a_number_is_no_version(heading: str) -> None:
    assert not is_changelog("docs/a.md", (heading,))


@pytest.mark.parametrize(
    "question",
    [
        "What changed in the router?",
        "release notes of view transitions",
        "is json() deprecated",
        "What is in 7.9.0?",
        "how do I get from v6 to v7",
        "runner of adk 2.0",
        "what features are new in ADK",
    ],
)
def test_a_question_for_changes_is_known(question: str) -> None:
    assert asks_for_changes(question)


@pytest.mark.parametrize(
    "question",
    [
        "what releases the lock",
        "How do I show the history of a session?",
        "How do I set temperature 0.2?",
        "serve the agent at 10.0.0.1:8080",
        "I am new in ADK, where do I begin?",
        "POST to /v1/chat fails",
    ],
)
def test_other_questions_ask_for_no_changes(question: str) -> None:
    assert not asks_for_changes(question)


GUIDE = payload("doc", "docs/blockers.md", "How to block a navigation.")
LOG = payload("doc", "CHANGELOG.md", "Fix useBlocker, which blocks a navigation.", headings=("v7.1.0",))


def _order(question: str) -> list[str]:
    scores = [{"dense": 0.5, "sparse": 4.0}, {"dense": 0.6, "sparse": 5.0}, {"dense": 0.1, "sparse": 1.0}]
    chunks = [GUIDE, LOG, payload("doc", "docs/other.md", "Another page.")]
    documents = [RerankDocument(chunk, 100, score) for chunk, score in zip(chunks, scores, strict=True)]
    ranked = LocalReranker().rerank(normalise(question), "build", documents)
    return [chunks[place].path for place in sorted(range(3), key=lambda place: -ranked[place])]


def test_a_changelog_stands_behind_guides_unless_the_question_asks_for_changes() -> None:
    assert _order("How do I block a navigation?")[0] == "docs/blockers.md"
    assert _order("Which version fixed the blocking of a navigation?")[0] == "CHANGELOG.md"
