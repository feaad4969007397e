"""One question to the ADK's index and a project's, on small real indexes: what is merged, what has room, what fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from adk_evidence.citations.saved import check_pack, codebases_of, indexed_sources, read_pack
from adk_evidence.errors import IndexMissingError, InvalidRequestError, UnknownIndexError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.registry import codebase_at, name_for_folder, name_of_index, register, settings_of
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import AskingPlace, EvidenceFilters, EvidenceRequest, ProjectVersion
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search import together
from adk_evidence.search.calibration import MINILM
from adk_evidence.search.context import Context
from adk_evidence.search.session import EvidenceService, Session
from adk_evidence.search.together import Side, _Merge, ask_together, open_side
from adk_evidence.settings import load_settings
from adk_evidence.store.factory import open_generations
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from tests.answers import told
from tests.corpora import HashEmbedder, Workplace, change, shared_sparse, write_files

pytestmark = pytest.mark.slow

SHOP: dict[str, str | bytes] = {
    "README.md": "# Shop\n\nOrders and refunds.\n\n## Refunds\n\nA refund above the limit needs a person.\n",
    "shop/orders.py": '''\
"""Orders of the shop."""


class OrderDesk:
    """Finds the orders of a customer."""

    def find_order(self, number: str) -> str:
        """Look up an order in the database of the shop."""
        return load_order(number)


def load_order(number: str) -> str:
    """Read an order; unknown numbers are an error."""
    raise LookupError(f"there is no order {number}")
''',
    "shop/retries.py": '''\
"""How the shop retries when a tool throws."""

from google.adk.plugins import RetryPlugin


def shop_retry_plugin() -> RetryPlugin:
    """The plugin that retries when a tool of the shop throws."""
    return RetryPlugin(max_retries=5)
''',
}
BOTH = "how do I retry when a tool throws?"
OF_THE_SHOP = "look up an order of a customer in the database of the shop"


class Place:
    """A home folder with the index of the small ADK and that of the shop."""

    def __init__(self, root: Path) -> None:
        self.workplace = Workplace(root)
        self.workplace.ingest()
        self.shop = write_files(root / "shop", SHOP)
        self.index()

    def index(self) -> None:
        indexer = CodebaseIndexer(self.workplace.settings, dense=HashEmbedder(), sparse=shared_sparse())
        indexer.build(Codebase(name="shop", path=self.shop), Progress())

    @contextmanager
    def services(self, *names: str) -> Iterator[list[EvidenceService]]:
        settings = self.workplace.settings
        with ExitStack() as stack:
            main = EvidenceService(settings, dense=HashEmbedder(), sparse=shared_sparse())
            stack.enter_context(closing(main))
            yield [
                main if name == "adk" else stack.enter_context(closing(main.beside(settings_of(settings, name))))
                for name in names
            ]

    def ask(self, query: str = BOTH, names: tuple[str, str] = ("adk", "shop"), **values: Any) -> EvidencePack:
        request = EvidenceRequest(query=query, **values)
        with self.services(*names) as services, ExitStack() as stack:
            first, second = (
                stack.enter_context(open_side(service, Context(), strict=request.strict)) for service in services
            )
            return ask_together(request, first, second)

    def merge(
        self,
        similarities: tuple[float, float],
        *,
        size: int,
        relevant: float | None,
        models: tuple[str, str] = ("one", "one"),
        adapted: tuple[str, ...] = (),
    ) -> dict[str | None, list[str]]:
        """The merged results of eight of each index, all of one similarity and named by nothing."""
        found = []
        for name, similarity, model in zip(("adk", "shop"), similarities, models, strict=True):
            pack = self.alone(name)
            assert pack.index is not None
            index = pack.index.model_copy(update={"dense_model": model})
            why = pack.candidates[0].why.model_copy(
                update={"branches": (), "role": None, "named": None, "similarity": similarity}
            )
            plain = pack.candidates[0].model_copy(update={"why": why, "same_as": None, "error": None})
            candidates = tuple(plain.model_copy(update={"rank": rank}) for rank in range(1, 9))
            assert pack.retrieval_plan is not None
            encoder = "questions-test" if name in adapted else None
            plan = pack.retrieval_plan.model_copy(update={"question_model": encoder})
            changed = {"candidates": candidates, "index": index, "retrieval_plan": plan}
            found.append(pack.model_copy(update=changed))
        with self.services("adk", "shop") as services, ExitStack() as stack:
            sides = [stack.enter_context(open_side(service, Context())) for service in services]
            request = EvidenceRequest(query=BOTH, max_results_final=size)
            calibration = None if relevant is None else replace(MINILM, relevant=relevant)
            with mock.patch.object(together, "calibration_of", lambda settings: calibration):
                return of(_Merge(request, (sides[0], sides[1]), (found[0], found[1])).pack())

    def alone(self, name: str, query: str = BOTH) -> EvidencePack:
        with self.services(name) as (service,):
            return service.find(EvidenceRequest(query=query))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Two indexes, and the name of one that was never built."""
    place = Place(tmp_path_factory.mktemp("together"))
    register(place.workplace.settings, Codebase(name="unbuilt", path=place.shop / "shop"))
    return place


def of(pack: EvidencePack) -> dict[str | None, list[str]]:
    """The citations of each index in their order."""
    found: dict[str | None, list[str]] = {}
    for one in pack.candidates:
        found.setdefault(one.index, []).append(one.citation)
    return found


ASKING = "# How do I stop the model before it is called?"
AGENTS: dict[str, str | bytes] = {
    "shop/agents.py": f'''\
from google.adk.agents import Agent


def make_agent() -> Agent:
    """The agent that talks with the customers of the shop."""
    {ASKING}
    return Agent(
        name="shop",
        model="gemini-2.5-flash",
    )
''',
    "shop/guards.py": '''\
def guard(callback_context, llm_request):
    """Stop the model before it is called, where a customer is rude."""
    return None
''',
    "shop/todo.py": f"{ASKING}\n",
}


def test_the_place_that_asks_is_no_answer(tmp_path: Path) -> None:
    place = Place(tmp_path)
    write_files(place.shop, AGENTS)
    place.index()

    def own(query: str, **values: Any) -> list[str]:
        return [one.path for one in place.ask(query, **values).candidates if one.index == "shop"]

    comment, todo = ASKING.removeprefix("# "), place.shop / "shop/todo.py"
    assert own(comment)[0] == "shop/todo.py"
    # A bare comment is of no use.
    assert "shop/todo.py" not in own(comment, asked_at=AskingPlace(path=todo, lines=LineSpan(start=1, end=1)))
    # What else the function around the lines does may be, behind all that answers.
    code = 'return Agent(name="shop", model="gemini-2.5-flash") (in make_agent)'
    assert own(code)[0] == "shop/agents.py"
    agents = place.shop / "shop/agents.py"
    found = own(code, asked_at=AskingPlace(path=agents, lines=LineSpan(start=7, end=10)))
    assert found[0] != "shop/agents.py" == found[-1]
    assert "shop/agents.py" not in own(code, asked_at=AskingPlace(path=agents, lines=LineSpan(start=1, end=10)))


class TestMerge:
    def test_both_have_room_in_their_own_order_within_the_one_number_of_results(self, place: Place) -> None:
        pack = place.ask(max_results_final=6)
        found = of(pack)
        assert {name: len(cited) >= 1 for name, cited in found.items()} == {"adk": True, "shop": True}
        assert [one.rank for one in pack.candidates] == [1, 2, 3, 4, 5, 6]
        for name, cited in found.items():
            alone = [one.citation for one in place.alone(str(name)).candidates]
            assert cited == alone[: len(cited)]
        assert {one.verification.state for one in pack.candidates} == {"exact"}
        docs = sum(one.source_type == "docs" for one in pack.candidates)
        assert (pack.coverage.docs_in_top_k, pack.coverage.code_in_top_k) == (docs, 6 - docs)

    def test_an_index_without_a_close_match_takes_no_room(self, place: Place) -> None:
        assert set(of(place.ask(OF_THE_SHOP))) == {"shop"}
        assert "adk has nothing that is close" in place.ask(OF_THE_SHOP).quality.note
        # Neither has: then the first shows its nearest, as it does alone.
        pack = place.ask("quantum chromodynamics")
        assert set(of(pack)) <= {"adk"} and pack.quality.level == "none"

    def test_where_else_a_file_of_the_codebase_matches_is_told_at_its_result(self, place: Place) -> None:
        pack = place.ask()
        assert pack.places
        for outline in pack.places:
            of_file = [one for one in pack.candidates if one.rank in outline.ranks]
            assert {(one.index, one.path) for one in of_file} == {("shop", outline.path)}

    @pytest.mark.parametrize(("size", "floor"), [(2, 1), (3, 1), (4, 1), (5, 2), (8, 2)])
    def test_what_is_close_has_a_quarter_of_the_places_however_near_the_other_one_is(
        self, size: int, floor: int, place: Place
    ) -> None:
        merged = place.merge((0.9, 0.5), size=size, relevant=0.4)
        assert len(merged["shop"]) == floor and len(merged["adk"]) == size - floor
        # It has no more places than close results.
        assert set(place.merge((0.9, 0.3), size=size, relevant=0.4)) == {"adk"}

    def test_cosines_of_two_models_are_not_compared(self, place: Place) -> None:
        alike = place.merge((0.9, 0.5), size=8, relevant=None)
        assert len(alike["adk"]) > len(alike["shop"])
        unlike = place.merge((0.9, 0.5), size=8, relevant=None, models=("one", "other"))
        assert len(unlike["adk"]) == len(unlike["shop"]) == 4

    def test_the_lower_cosines_of_an_adapted_question_are_made_up_for(self, place: Place) -> None:
        plain = place.merge((0.50, 0.53), size=8, relevant=0.0)
        assert len(plain["shop"]) > len(plain.get("adk", []))
        adapted = place.merge((0.50, 0.53), size=8, relevant=0.0, adapted=("adk",))
        assert len(adapted["adk"]) > len(adapted.get("shop", []))
        # It is close to the question, too, where .55 is asked for.
        assert len(place.merge((0.50, 0.90), size=8, relevant=0.55, adapted=("adk",))["adk"]) == 2

    def test_the_same_question_gives_the_same_pack_of_both_states(self, place: Place) -> None:
        first, again = place.ask(), place.ask()
        assert first.model_dump(exclude={"query_id", "debug"}) == again.model_dump(exclude={"query_id", "debug"})
        assert first.index is not None and first.beside is not None and first.beside.index is not None
        assert (first.beside.beside, first.beside.name) == ("adk", "shop")
        assert set(first.beside.index.corpora) == {"shop-documentation", "shop-codebase"}
        assert place.alone("adk").beside is None
        assert {one.index for one in place.alone("adk").candidates} == {None}

    def test_one_index_twice_or_two_of_the_adk_are_no_pair(self, place: Place) -> None:
        with pytest.raises(InvalidRequestError, match="answers already"):
            place.ask(names=("shop", "shop"))
        with place.services("adk") as (main,), main.session() as session:
            first, second = (Side(name, session, of_codebase=False) for name in ("adk", "adk-2.1.0"))
            with pytest.raises(InvalidRequestError, match="both indexes of the ADK"):
                ask_together(EvidenceRequest(query=BOTH), first, second)


class TestNames:
    def test_a_name_that_one_of_them_has_is_not_unknown(self, place: Place) -> None:
        assert any("load_order" in warning for warning in told(place.alone("adk", "RetryPlugin and load_order")))
        pack = place.ask("RetryPlugin and load_order")
        assert not any(warning.startswith("unknown_name") for warning in told(pack))
        assert set(of(pack)) == {"adk", "shop"}

    def test_a_version_is_asked_of_the_adk_alone(self, place: Place) -> None:
        filters = EvidenceFilters(repo_ref_hint="no-such-tag")
        pack = place.ask(project=ProjectVersion(version="1.2.3", taken_from="uv.lock"), filters=filters)
        assert pack.adk is not None and pack.adk.wanted == "1.2.3"
        said = [one for one in told(pack) if one.startswith(("ref_not_indexed", "version_not_indexed"))]
        assert said and not any("shop" in one for one in said)

    def test_the_words_of_the_adk_are_asked_of_the_adk_alone(self, place: Place) -> None:
        pack = place.ask(wordings=("RetryPlugin",))
        plans = (pack.retrieval_plan, pack.beside and pack.beside.retrieval_plan)
        assert [plan and plan.wordings for plan in plans] == [("RetryPlugin",), ()]

    def test_what_neither_has_is_told_once(self, place: Place) -> None:
        def missing(query: str, *paths: str) -> list[str]:
            pack = place.ask(query, filters=EvidenceFilters(path_allowlist=paths))
            return [one.partition(":")[0] for one in told(pack) if one.startswith(("path_not", "unknown_name"))]

        assert missing("what does InvoiceBureau do") == ["unknown_name"]
        assert missing(BOTH, "nosuch/**") == ["path_not_indexed"] and not missing(BOTH, "shop/**")


def test_a_traceback_through_both_leads_to_the_calls_of_both(place: Place) -> None:
    pasted = f"""Traceback (most recent call last):
  File "/venv/site-packages/google/adk/runners.py", line 24, in run
    return f"{{self.agent}}: {{message}}"
  File "{place.shop}/shop/orders.py", line 9, in find_order
    return load_order(number)
  File "{place.shop}/shop/orders.py", line 14, in load_order
    raise LookupError(f"there is no order {{number}}")
LookupError: there is no order 17
"""
    pack = place.ask(pasted)
    (error,) = pack.errors
    assert [frame.number for frame in error.frames] == [1, 2, 3]
    assert error.frames[0].path.endswith("runners.py")
    first = pack.candidates[0]
    assert (first.index, first.error.role if first.error else None) == ("shop", "raise_site")
    ranks = {one.rank: one.path for one in pack.candidates}
    assert all(ranks[frame.rank] == frame.path for frame in error.frames if frame.rank is not None)


class TestFailures:
    @pytest.mark.parametrize(
        ("failing", "failure", "said"),
        [
            ("adk", OSError(5, "Input/output error"), "Input/output error"),
            ("shop", RuntimeError("what it says may be private"), "failed unexpectedly (RuntimeError)"),
        ],
    )
    def test_whatever_fails_in_one_of_them_the_other_one_answers(
        self, failing: str, failure: Exception, said: str, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        find = Session.find

        def broken(session: Session, request: EvidenceRequest) -> EvidencePack:
            if isinstance(session.settings, CodebaseSettings) == (failing == "shop"):
                raise failure
            return find(session, request)

        monkeypatch.setattr(Session, "find", broken)
        pack = place.ask()
        assert failing not in of(pack) and len(of(pack)) == 1
        (warning,) = [one for one in told(pack) if one.startswith("index_unavailable")]
        assert said in warning and "private" not in warning
        with pytest.raises(type(failure)):
            place.ask(strict=True)

    @pytest.mark.parametrize("names", [("adk", "unbuilt"), ("unbuilt", "shop")])
    def test_the_other_one_answers_with_a_warning(self, names: tuple[str, str], place: Place) -> None:
        pack = place.ask(names=names)
        (answering,) = set(names) - {"unbuilt"}
        assert set(of(pack)) == {answering}
        assert any(one.startswith("index_unavailable: unbuilt could not answer") for one in told(pack))
        assert pack.quality.level != "high" and "unbuilt could not answer" in pack.quality.note
        with pytest.raises(IndexMissingError):
            place.ask(names=names, strict=True)

    def test_a_file_that_has_changed_since_is_said(self, place: Place) -> None:
        file = place.shop / "shop" / "retries.py"
        before = file.read_text()
        try:
            change(file, "max_retries=5", "max_retries=6")
            warnings = told(place.ask())
        finally:
            file.write_text(before)
        assert any(one.startswith("index_older: shop") for one in warnings)
        assert not any(one.startswith("index_older") for one in told(place.ask()))


class TestKept:
    def test_each_citation_is_compared_with_the_sources_of_its_index(self, place: Place) -> None:
        saved = read_pack(place.ask().model_dump_json())
        main = place.workplace.settings
        sources = []
        for settings in (main, *codebases_of(main, saved)):
            with open_generations(settings).open_current() as lease:
                sources += indexed_sources(lease.manifest, lease.folder)
        assert {one.verification.state for one in check_pack(saved, sources)} == {"exact"}

    @pytest.mark.parametrize("render", [to_markdown, lambda pack: to_prompt(pack).text])
    def test_texts_say_which_index_a_result_is_of(self, place: Place, render: Any) -> None:
        text = render(place.ask())
        assert "of adk" in text and "of shop" in text and "of adk" not in render(place.alone("adk"))


def test_an_index_is_named_by_its_name_or_by_a_place_in_it(place: Place, tmp_path: Path) -> None:
    settings = place.workplace.settings
    assert name_of_index(settings, "shop") == "shop"
    assert name_of_index(settings, str(place.shop / "README.md")) == "shop"
    with pytest.raises(InvalidRequestError, match="in no codebase"):
        name_of_index(settings, str(tmp_path))
    with pytest.raises(UnknownIndexError):
        name_of_index(settings, "nowhere")
    # Only what was published can answer.
    assert codebase_at(settings, place.shop / "README.md", place.shop) == "shop"
    assert codebase_at(settings, place.shop / "shop" / "orders.py", place.shop.parent) == "shop"
    assert codebase_at(settings, tmp_path, tmp_path) is None
    # Of the folder of one customer, the index of all customers says nothing.
    assert codebase_at(settings, place.shop / "shop" / "orders.py", place.shop / "shop") is None
    assert name_for_folder(settings, place.shop) == "shop"
    assert name_for_folder(settings, tmp_path / "Shop") == "shop-2"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("adk", "project-adk"),
        ("adk-2.13.0", "project-adk-2.13.0"),
        ("con.old", "project-con.old"),
        ("a" * 70, "a" * 64),
    ],
)
def test_every_folder_gets_a_name_that_an_index_may_have(folder: str, name: str, tmp_path: Path) -> None:
    settings = load_settings({"home": str(tmp_path / "home")})
    for parent, expected in (("one", name), ("two", f"{name[:62]}-2")):
        place = (tmp_path / parent / folder).resolve()
        assert name_for_folder(settings, place) == expected
        assert register(settings, Codebase(name=expected, path=place))
        # From now on it is the name of this folder.
        assert name_for_folder(settings, place) == expected
