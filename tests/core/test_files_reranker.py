"""Which files of a codebase come first: by their paths, by what several of their chunks say, and each once.

The first result of a file says where else the file matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_evidence.models.pack import Outline
from adk_evidence.search.pack.outlines import make_places
from adk_evidence.search.question.query import normalise
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.cascade import CascadeReranker
from adk_evidence.search.rerankers.factory import for_codebase
from adk_evidence.search.rerankers.local import LocalReranker
from adk_evidence.settings import Settings
from tests.core.factories import SETTINGS, hit, payload, placed, question


def order(query: str, *places: tuple[str, float]) -> list[str]:
    """The paths of some chunks as they are ranked; each has its similarity."""
    return [path for path, _ in ranked(query, places)]


def ranked(query: str, places: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    reranker = for_codebase(LocalReranker())
    assert reranker is not None
    documents = [
        RerankDocument(
            payload("doc" if path.endswith(".md") else "code", path, f"{path} {number}"), 100, {"dense": similarity}
        )
        for number, (path, similarity) in enumerate(places)
    ]
    scores = reranker.rerank(normalise(query), "explain", documents)
    return sorted(zip([path for path, _ in places], scores, strict=True), key=lambda one: -one[1])


def test_a_file_that_is_called_as_the_question_says_leads():
    assert order("session management", ("src/app.py", 0.5), ("src/sessions.py", 0.48), ("src/ctx.py", 0.1))[0] == (
        "src/sessions.py"
    )
    assert order("request binding", ("web/context.go", 0.5), ("binding/json.go", 0.48), ("web/tree.go", 0.1))[0] == (
        "binding/json.go"
    )


def test_a_file_that_is_called_by_what_it_is_to_its_folder_has_the_folders_name():
    assert order("how is json written", ("src/app.py", 0.5), ("src/json/__init__.py", 0.48), ("src/b.py", 0.1))[0] == (
        "src/json/__init__.py"
    )


def test_the_best_of_each_file_stands_before_more_of_the_same_file():
    found = order("route", ("a.py", 0.5), ("a.py", 0.49), ("a.py", 0.48), ("b.py", 0.47), ("c.py", 0.1))
    assert found[:2] == ["a.py", "b.py"]
    assert found.count("a.py") == 3


def test_several_near_places_in_a_file_raise_the_file():
    places = [("one.py", 0.5), ("many.py", 0.49), ("many.py", 0.49), ("many.py", 0.48), ("far.py", 0.1)]
    assert order("route", *places)[0] == "many.py"


@pytest.mark.parametrize(
    "aside",
    [
        "tests/router.py",
        "router_test.go",
        "src/router.spec.ts",
        "src/__tests__/router.ts",
        "src/test/java/RouterTest.java",
        "_examples/rest/router.go",
        "docs_src/examples/router.py",
        "benches/router.rs",
        "vendor/lib/router.go",
        "fixtures/router.js",
        "router.pb.go",
        "src/router.generated.ts",
    ],
)
def test_tests_examples_and_what_others_or_tools_wrote_stand_behind_unless_they_are_asked_for(aside: str):
    places = [(aside, 0.5), ("src/router.x", 0.4), ("src/far.x", 0.1)]
    assert order("router", *places)[0] == "src/router.x"
    assert order("tests, examples, fixtures of the router", *places)[0] == aside


@pytest.mark.parametrize("path", ["src/types/store.ts", "src/store.d.ts", "src/store.pyi", "src/types.ts"])
def test_declarations_stand_behind_what_they_declare(path: str):
    assert order("dispatch", (path, 0.41), ("src/create.ts", 0.4), ("src/far.ts", 0.1))[0] == "src/create.ts"


@pytest.mark.parametrize("path", ["src/contest.py", "src/latest.go", "src/testing_ground.py", "src/specification.ts"])
def test_names_that_only_look_like_those_of_tests_are_those_of_code(path: str):
    assert order("dispatch", (path, 0.41), ("src/create.ts", 0.4), ("src/far.ts", 0.1))[0] == path


def test_prose_does_not_stand_before_the_code_that_answers():
    places = [("README.md", 0.9), ("CONTRIBUTING.md", 0.2), ("src/router.go", 0.5), ("src/far.go", 0.1)]
    assert order("how does the router match", *places)[0] == "src/router.go"


def test_the_scores_of_the_adk_itself_do_not_depend_on_files():
    documents = [
        RerankDocument(payload("code", path, path), 100, {"dense": 0.5}) for path in ("tests/router.py", "router.py")
    ]
    one, other = LocalReranker().rerank(normalise("router"), "explain", documents)
    assert one == other


def test_a_second_stage_orders_again_what_comes_first_by_files():
    class Reversed:
        model = "reversed"

        def rerank(self, query, task_mode, documents):
            return [float(place) for place, _ in enumerate(documents)]

    chosen = for_codebase(CascadeReranker(LocalReranker(), Reversed(), size=2))
    assert isinstance(chosen, CascadeReranker) and isinstance(chosen.first, LocalReranker) and chosen.first.files
    assert for_codebase(None) is None


class TestWhereElseAFileMatches:
    """The best place of each file comes first, so that a file's further places stand far behind."""

    CODE = settings_for(SETTINGS, Codebase(name="shop", path=Path.cwd()))

    def places(
        self, *found: tuple[str, int, float], results: int = 4, settings: Settings = CODE
    ) -> tuple[Outline, ...]:
        """The places of a ranking's first results; each chunk of ten lines has a file, a first line and a score."""
        ranked = [
            placed(
                hit(payload("code", path, f"{path} {line}", symbol=f"at_{line}", start_line=line, end_line=line + 9)),
                at,
                score,
            )
            for at, (path, line, score) in enumerate(found, 1)
        ]
        asked = question(settings=settings, models=SimpleNamespace(reranker=for_codebase(LocalReranker())))
        return make_places(asked, ranked, ranked[:results])

    def test_its_first_result_names_them_in_the_order_of_their_lines(self):
        # `again` takes one from the second chunk of a file and two from the third.
        found = [("a.py", 50, 3.0), ("b.py", 1, 1.9), ("c.py", 1, 0.4), ("d.py", 1, 0.3), ("a.py", 80, 1.4)]
        (outline,) = self.places(*found, ("a.py", 20, 0.2), ("a.py", 1, -4.0))
        assert (outline.citation, outline.ranks, outline.more) == ("adk-python@abc:a.py", (1,), 0)
        assert [(part.name, part.lines.start, part.lines.end) for part in outline.parts] == [
            ("at_20", 20, 29),
            ("at_80", 80, 89),
        ]

    def test_the_best_five_are_named_and_the_others_counted(self):
        found = [("a.py", 20 * at, 9.0 - 1.1 * at) for at in range(1, 9)]
        (outline,) = self.places(*found, results=8)
        assert [part.lines.start for part in outline.parts] == [40, 60, 80, 100, 120]
        assert outline.more == 2

    def test_a_file_without_more_has_none(self):
        assert (
            self.places(("a.py", 1, 3.0), ("b.py", 1, 2.0), ("c.py", 1, 1.0), ("d.py", 1, 0.9), ("a.py", 30, -3.0))
            == ()
        )

    def test_answers_about_the_adk_have_none(self):
        assert self.places(("a.py", 1, 3.0), ("a.py", 30, 2.9), settings=SETTINGS) == ()
