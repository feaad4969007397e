"""The search for ranked targets: names, slips, words, meaning, and what the user has installed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.errors import InvalidRequestError, ModelError, StoreError, TargetsMissingError
from adk_evidence.index.project import ProjectAdk
from adk_evidence.models.pack import LineSpan
from adk_evidence.settings import load_settings
from adk_evidence.symbols.current import CurrentSymbols
from adk_evidence.targets.about import About
from adk_evidence.targets.installation import availability
from adk_evidence.targets.internals import HiddenSymbol, standing
from adk_evidence.targets.search import TargetSearch
from adk_evidence.targets.sets import OUTSIDE, TargetSet
from adk_evidence.targets.target import Target, rich_text
from adk_ingest.progress import Progress
from adk_ingest.targets.build import build_targets
from tests.core import factories
from tests.corpora import HashEmbedder, Workplace, embed_all, forget_vectors_of_symbols
from tests.environments import write_environment

pytestmark = pytest.mark.slow


def target(rank: int, symbol: str, summary: str, kind: Any = "class", package: str = "google.adk.kit") -> Target:
    return factories.target(
        symbol,
        f"{symbol}()",
        module=package,
        rank=rank,
        score=round(1 / (rank + 1), 4),
        fqn=f"{package}.module.{symbol}",
        type=kind,
        summary=summary,
        path=f"src/{package.replace('.', '/')}/module.py",
    )


TARGETS = [
    target(1, "Agent", "Answers a person."),
    target(2, "LlmAgent", "Asks a model."),
    target(3, "LlmAgent.output_key", "Where the answer is kept in the state of a session.", "attribute"),
    target(4, "LlmAgentConfig", "Settings of an agent."),
    target(5, "ReflectAndRetryToolPlugin", "Lets the model reflect on a failed call, then tries again."),
    target(6, "InMemorySessionService", "Keeps sessions in the memory of the process."),
    target(7, "DatabaseSessionService", "Keeps sessions in a relational database."),
    target(8, "google_search", "Looks something up on the web.", "variable"),
    target(9, "Runner.run", "Runs it.", "method"),
    target(10, "Other.run", "Runs another.", "method"),
]
PLACES = {item.symbol: place for place, item in enumerate(TARGETS)}


class Lookup(HashEmbedder):
    """Counts questions."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.questions.append(text)
        return super().embed_query(text)


class Broken(HashEmbedder):
    def embed_query(self, text: str) -> list[float]:
        raise ModelError("The model is away.")


def loaded(embedder: Any = None, *, of: list[Target] = TARGETS, folder: Path | None = None) -> TargetSearch:
    about = About(
        repo="google/adk-python",
        commit="v2.13.0",
        ref="v2.13.0",
        corpora="c",
        code="c",
        model="m",
        dimension=HashEmbedder.dimension,
        built_at="2026-01-01T00:00:00+00:00",
        targets=len(of),
    )
    vectors: FloatMatrix = embed_all(HashEmbedder(), [rich_text(item) for item in of])
    found = TargetSet(about, of, vectors, folder=folder)
    return TargetSearch(found, load_settings(), (embedder or HashEmbedder()).embed_query)


@pytest.fixture(scope="module")
def kit() -> TargetSearch:
    return loaded()


def symbols(kit: TargetSearch, query: str, mode: Any = "hybrid", limit: int = 5) -> list[str]:
    return [TARGETS[item.place].symbol for item in kit.rank(query, limit, mode)]


# Names


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
@pytest.mark.parametrize("place", range(len(TARGETS)))
def test_an_exact_name_is_always_first(kit: TargetSearch, place: int, mode: Any) -> None:
    item = TARGETS[place]
    for name in (item.symbol, item.import_path, item.fqn, f"{item.symbol}()"):
        assert symbols(kit, name, mode)[0] == item.symbol


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("run", ["Runner.run", "Other.run"]),
        ("llmagent", ["LlmAgent"]),
        ("LLMAGENT", ["LlmAgent"]),
        ("llm agent", ["LlmAgent"]),
        ("llm_agent", ["LlmAgent"]),
        ("LlmAg", ["LlmAgent", "LlmAgentConfig", "LlmAgent.output_key"]),
        ("LlmAgent.out", ["LlmAgent.output_key"]),
        ("what does google_search do", ["google_search"]),
    ],
)
def test_names_come_first_whatever_their_letters_and_the_higher_ranked_before_others(
    kit: TargetSearch, query: str, found: list[str]
) -> None:
    assert symbols(kit, query)[: len(found)] == found


@pytest.mark.parametrize("query", ["LlmAgent", "LlmAgentC", "Agent", "google.adk.kit.Agent"])
def test_names_are_answered_without_the_model(query: str) -> None:
    embedder = Lookup()
    kit = loaded(embedder)
    assert kit.rank(query, 3, "hybrid")
    assert embedder.questions == []


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("LlmAgnet", "LlmAgent"),
        ("ReflectAndRetyToolPlugin", "ReflectAndRetryToolPlugin"),
        ("gogle_search", "google_search"),
        ("databse session service", "DatabaseSessionService"),
        ("sesions in a relatoinal databse", "DatabaseSessionService"),
    ],
)
@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_slips_are_forgiven(kit: TargetSearch, query: str, meant: str, mode: Any) -> None:
    assert symbols(kit, query, mode)[0] == meant


# Members and other names of classes

CONTEXT = target(1, "Context", "What a tool is given.")
READER = target(4, "Reader", "Reads.").model_copy(update={"signatures": ("Reader()", "limit: int = 3")})
FAMILY = [
    CONTEXT.model_copy(update={"bases": (READER.fqn,)}),
    target(2, "OtherContext.user", "Who asks, elsewhere.", "property"),
    target(3, "Context.state", "What is kept.", "property"),
    READER,
    target(5, "Reader.user", "Who asks.", "property"),
    target(6, "ToolContext", "", "variable").model_copy(
        update={"alias_of": CONTEXT.fqn, "signatures": ("ToolContext = Context",)}
    ),
]


def found_in_family(query: str) -> tuple[list[str], list[str | None], str]:
    search = loaded(of=FAMILY)
    found, _ = search.find(query, 5, "auto", [])
    named = [item for item in found if item.why.match == "exact"]
    shown = [(item.member.target if item.member else FAMILY[item.place]).symbol for item in found]
    return shown, [item.member.inherited_from if item.member else None for item in named], search.lacking(query)


@pytest.mark.parametrize(
    ("query", "shown", "inherited_from"),
    [
        ("Context.user", ["Reader.user", "Context"], "Reader"),
        ("Context.user()", ["Reader.user", "Context"], "Reader"),
        ("google.adk.kit.Context.user", ["Reader.user", "Context"], "Reader"),
        ("ToolContext.user", ["Reader.user", "ToolContext"], "Reader"),
        ("ToolContext.state", ["Context.state", "ToolContext"], None),
        ("ToolContext.limit", ["Reader.limit", "ToolContext"], "Reader"),
        ("context.user", ["Reader.user", "Context"], "Reader"),
        # As a variable is called.
        ("tool_context.user", ["Reader.user", "ToolContext"], "Reader"),
        ("tool_context.state", ["Context.state", "ToolContext"], None),
    ],
)
def test_a_member_is_found_in_the_bases_of_its_class_and_by_other_names_of_the_class(
    query: str, shown: list[str], inherited_from: str | None
) -> None:
    assert found_in_family(query) == (shown, [inherited_from], "")


def test_a_class_stands_before_the_members_of_others_that_are_called_like_one_it_lacks() -> None:
    shown, named, lacking = found_in_family("Reader.state")
    assert shown[0] == "Reader" and "Context.state" in shown and len(shown) == len(set(shown)) and not named
    assert lacking == "Neither `Reader` nor its public bases in the ADK have a public member `state`; the nearest:"


def found(query: str, mode: Any = "lexical", limit: int = 5, *, of: list[Target] = FAMILY) -> list[tuple[str, Any]]:
    """Symbols in the order of an answer, each with its heirs where it is the member that was asked for."""
    search = loaded(of=of)
    items, _ = search.find(query, limit, mode, [])
    return [
        ((item.member.target if item.member else of[item.place]).symbol, item.member and item.member.inherited_by)
        for item in items
    ]


HEIRS = [
    target(10 + number, f"Reader{number}", "Reads.").model_copy(update={"bases": (READER.fqn,)}) for number in range(3)
]


@pytest.mark.parametrize(
    ("query", "others", "heirs"),
    [
        ("Reader.user", [], ("Context", "ToolContext")),
        ("google.adk.kit.module.Reader.user", [], ("Context", "ToolContext")),
        # Of many, only the one that was asked for.
        ("Reader.user", HEIRS, ()),
        ("ToolContext.user", HEIRS, ("ToolContext",)),
        # A class that has the member itself is no heir.
        ("Reader.user", [target(9, "Context.user", "Who asks, here.", "property")], ()),
    ],
)
def test_a_member_that_was_asked_for_with_its_class_names_the_few_classes_that_inherit_it(
    query: str, others: list[Target], heirs: tuple[str, ...]
) -> None:
    assert found(query, of=[*FAMILY, *others])[0] == ("Reader.user", heirs)
    # Whoever asks for a bare name did not ask for a class.
    assert ("Reader.user", None) in found("user")


@pytest.mark.parametrize("query", ["user_name of the tool context", "what is user_name in ToolContext"])
def test_a_question_that_names_a_class_in_words_means_the_member_of_that_class(query: str) -> None:
    name = target(7, "Reader.user_name", "Who asks.", "property")
    elsewhere = target(8, "Other.user_name", "Who asks.", "property")
    first, *others = found(query, of=[*FAMILY, elsewhere, name])
    assert first == ("Reader.user_name", ("ToolContext", "Context"))
    assert "Reader.user_name" not in [symbol for symbol, _ in others]


def test_names_beside_each_other_are_each_looked_up_and_nothing_else_comes() -> None:
    name = target(7, "Reader.user_name", "Who asks.", "property")
    elsewhere = target(8, "Other.user_name", "Who asks.", "property")
    family = [*FAMILY, name, elsewhere]
    assert [symbol for symbol, _ in found("Context user_name", of=family)] == ["Context", "Reader.user_name"]
    assert [symbol for symbol, _ in found("user_name Context.state", of=family)] == [
        "Reader.user_name",
        "Other.user_name",
        "Context.state",
    ]
    assert len(found("Context user_name nothing_at_all", of=family)) > 2


@pytest.mark.parametrize("query", ["Reader.__init__", "Reader.__init__()", "google.adk.kit.Reader.__init__"])
def test_the_constructor_of_a_class_is_the_class(query: str) -> None:
    assert found(query) == [("Reader", None)]
    answer, mode = loaded(of=FAMILY).find(query, 5, "auto", [])
    assert (answer[0].why.match, mode) == ("exact", "lookup")


def test_members_that_begin_so_come_before_their_class(kit: TargetSearch) -> None:
    assert [TARGETS[item.place].symbol for item in kit.find("LlmAgent.out", 2, "auto", [])[0]] == [
        "LlmAgent.output_key",
        "LlmAgent",
    ]


@pytest.mark.parametrize("query", ["read_state", "reader.py", "Nowhere.user", "tool_context.py", "tool_user.state"])
def test_a_name_that_no_symbol_has_is_said_to_be_none(query: str) -> None:
    assert found_in_family(query)[2] == f"No public symbol is called `{query}`; the nearest:"


@pytest.mark.parametrize("query", ["HttpOptions", "HttpOptions.timeout"])
def test_of_a_name_of_another_package_is_said_where_the_code_takes_it_from(query: str) -> None:
    takes = target(9, "Client", "Asks.").model_copy(update={"types": ("kit.Context", "elsewhere.web.HttpOptions")})
    assert loaded(of=[*FAMILY, takes]).lacking(query) == (
        f"No public symbol is called `{query}`: the code takes `HttpOptions` from another package "
        "(`from elsewhere.web import HttpOptions`); the nearest:"
    )


@pytest.mark.parametrize("query", ["ApiKey", "ApiKey.name", "ApiKey()"])
def test_of_a_name_that_only_the_code_inside_of_functions_uses_the_import_is_told(query: str, tmp_path: Path) -> None:
    (tmp_path / OUTSIDE).write_text('{"ApiKey": "from web.models import ApiKey", "Context": "from web import Context"}')
    search = loaded(of=FAMILY, folder=tmp_path)
    assert search.lacking(query) == (
        f"No public symbol is called `{query.removesuffix('()')}`: the code takes `ApiKey` from another package "
        "(`from web.models import ApiKey`); the nearest:"
    )
    assert search.lacking("Context") == "", "the code has a class of that name itself"
    (tmp_path / OUTSIDE).write_text('{"kit": "from web import kit"}')
    own = loaded(of=FAMILY, folder=tmp_path).lacking("kit.ApiKey")
    assert own == "No public symbol is called `kit.ApiKey`; the nearest:", "`kit` is a package of the code"
    (tmp_path / OUTSIDE).write_text("[")
    assert loaded(of=FAMILY, folder=tmp_path).lacking("ApiKey") == "No public symbol is called `ApiKey`; the nearest:"


@pytest.mark.parametrize("query", ["Part", "Part()", "Part.text", "web.Part", "part", "Context", "Blob", "Rare"])
def test_a_class_that_signatures_name_through_a_module_is_said_with_the_module(query: str) -> None:
    # A field is called as the class is, but for the capital letter.
    field = target(9, "Client.part", "Sent first.", "attribute").model_copy(update={"signatures": ("part: str",)})
    modules = ("elsewhere.web", "elsewhere.web as its_web", "other", "third")
    sends = [
        target(place, f"Client.send{place}", "Sends.", "method").model_copy(
            update={
                "signatures": (f"send(part: {alias}.Part, reader: web.Context, blob: {blob}.Blob) -> {rare}",),
                "types": modules,
            }
        )
        for place, alias, blob, rare in (
            (10, "its_web", "web", "web.Rare"),
            (11, "its_web", "web", "None"),
            (12, "web", "other", "None"),
            (13, "third", "other", "None"),
        )
    ]
    name = query.removesuffix("()")
    sentence = (
        f"No public symbol is called `{name}`: the code has `web.Part` from another package "
        "(`from elsewhere import web`); the nearest:"
    )
    search = loaded(of=[*FAMILY, field, *sends])
    assert search.lacking(query) == (sentence if "Part" in query else "")


@pytest.mark.parametrize(
    "query", ["Context", "tool_context", "google.adk.kit", "state", "reads", "who asks for user_id"]
)
def test_names_modules_and_questions_lack_nothing(query: str) -> None:
    assert found_in_family(query)[2] == ""


# What is not public


@pytest.fixture
def with_hidden(tmp_path: Path) -> TargetSearch:
    rows = [
        HiddenSymbol(
            fqn=f"google.adk.kit.module.{symbol}",
            symbol=symbol,
            type=kind,
            signature=f"def {symbol}()",
            summary="",
            path="src/google/adk/kit/module.py",
            lines=LineSpan(start=place, end=place + 1),
        )
        for place, (symbol, kind) in enumerate(
            [
                ("Reader._open", "method"),
                ("_load", "function"),
                ("Context.__call__", "method"),
                ("LIMIT", "variable"),
                ("Reader.__read_all", "method"),
                ("Quiet.__call__", "method"),
                ("Graph", "class"),
                ("Reader", "class"),
                ("_ContextState", "variable"),
            ],
            1,
        )
    ]
    (tmp_path / "hidden_symbols.json").write_text(json.dumps([row.model_dump(mode="json") for row in rows]))
    search = loaded(of=FAMILY)
    return TargetSearch(replace(search.set, folder=tmp_path), load_settings(), HashEmbedder().embed_query)


@pytest.mark.parametrize(
    ("query", "symbol", "known_as"),
    [
        ("Reader._open", "Reader._open", "private"),
        ("_open", "Reader._open", "private"),
        ("Context._open", "Reader._open", "private"),
        ("ToolContext._open()", "Reader._open", "private"),
        ("google.adk.kit.module._load", "_load", "private"),
        ("Context.__call__", "Context.__call__", "public"),
        ("module.LIMIT", "LIMIT", "internal"),
        ("Reader.__read_all", "Reader.__read_all", "private"),
        ("Quiet.__call__", "Quiet.__call__", "internal"),
    ],
)
def test_an_exact_name_finds_what_is_not_public(
    with_hidden: TargetSearch, query: str, symbol: str, known_as: str
) -> None:
    (item,), mode = with_hidden.find(query, 5, "auto", [])
    assert item.member is not None and (item.member.target.symbol, mode) == (symbol, "lookup")
    assert standing(item.member.target, with_hidden.by_fqn) == known_as


def test_a_capitalised_word_and_a_private_name_are_not_what_is_spelt_alike(with_hidden: TargetSearch) -> None:
    first, *_ = with_hidden.find("Graph", 5, "auto", [])[0]
    assert first.member is not None and first.member.target.symbol == "Graph"
    items, _ = with_hidden.find("_ContextState", 5, "auto", [])
    assert [item.member.target.symbol for item in items if item.member] == ["_ContextState"]
    assert not with_hidden.lacking("Context_state") and "`_Contextstate`" in with_hidden.lacking("_Contextstate")


@pytest.mark.parametrize("query", ["graph", "Graph of nodes", "Reader", "_ope", "reader._open", "Other._open"])
def test_less_than_the_exact_name_finds_nothing_hidden(with_hidden: TargetSearch, query: str) -> None:
    assert all(item.member is None for item in with_hidden.find(query, 5, "lexical", [])[0])


# Words and meaning


def test_words_of_the_docstring_find_it(kit: TargetSearch) -> None:
    assert symbols(kit, "relational database", "lexical")[0] == "DatabaseSessionService"
    assert "DatabaseSessionService" in symbols(kit, "relatio", "lexical"), "the word is still being typed"


def test_the_vector_search_is_the_exact_cosine(kit: TargetSearch) -> None:
    query = "keeps sessions"
    vectors = embed_all(HashEmbedder(), [rich_text(item) for item in TARGETS])
    expected = vectors @ np.array(HashEmbedder().embed_query(query), dtype=np.float32)
    found = kit.rank(query, len(TARGETS), "vector")
    assert [item.score for item in found] == pytest.approx(sorted(expected, reverse=True), abs=1e-6)
    assert found[0].score == pytest.approx(expected[found[0].place], abs=1e-6)


def test_the_hybrid_says_where_each_list_had_it(kit: TargetSearch) -> None:
    best = kit.rank("reflect on a failed call", 1, "hybrid")[0]
    assert TARGETS[best.place].symbol == "ReflectAndRetryToolPlugin"
    assert (best.why.lexical_rank, best.why.vector_rank) == (1, 1)
    assert best.why.similarity and best.why.lexical_score


@settings(max_examples=100)
@given(st.text(min_size=1, max_size=60))
def test_any_text_can_be_asked_for(text: str) -> None:
    for mode in ("lexical", "vector", "hybrid"):
        found = _KIT.rank(text, 4, mode)  # type: ignore[arg-type]
        assert len(found) <= 4 and len({item.place for item in found}) == len(found)


_KIT = loaded()


# The whole search


@pytest.fixture
def targets(indexed: Workplace) -> CurrentSymbols:
    return CurrentSymbols(indexed.settings, HashEmbedder())


def test_an_answer_names_the_import_the_place_and_the_citation(targets: CurrentSymbols) -> None:
    answer = targets.find("RetryPlugin", 1)
    (result,) = answer.results
    assert (answer.mode, answer.typed, answer.ref) == ("lookup", "name", "v9.9.0")
    assert result.import_statement == "from google.adk.plugins import RetryPlugin"
    assert result.citation.endswith(f":{result.path}#L{result.lines.start}-L{result.lines.end}")
    assert result.why.match == "exact" and result.standing == "public"
    assert targets.find("Runner.run", 1).results[0].import_statement == "from google.adk.runners import Runner"


def test_words_and_meaning_find_a_symbol_together(targets: CurrentSymbols) -> None:
    answer = targets.find("how to retry a tool", 3)
    assert answer.mode == "hybrid" and "RetryPlugin" in [result.name for result in answer.results]
    assert targets.find("seconds to wait", 1, "lexical").results[0].name == "back_off"


def test_where_the_model_fails_words_answer_and_the_answer_says_so(indexed: Workplace) -> None:
    targets = CurrentSymbols(indexed.settings, Broken())
    answer = targets.find("how to retry a tool")
    assert answer.mode == "lexical" and answer.warnings[0].startswith("The model is away.") and answer.results
    for mode in ("vector", "hybrid"):
        with pytest.raises(ModelError, match="away"):
            targets.find("how to retry a tool", mode=mode)  # type: ignore[arg-type]


@pytest.mark.parametrize(("query", "limit"), [("", 5), (" \n", 5), ("x" * 1001, 5), ("Agent", 0), ("Agent", 101)])
def test_bad_requests_get_a_sentence(targets: CurrentSymbols, query: str, limit: int) -> None:
    with pytest.raises(InvalidRequestError):
        targets.find(query, limit)


def damaged(indexed: Workplace, place: Path, name: str, damage: bytes) -> CurrentSymbols:
    shutil.copytree(indexed.home, place / "home")
    (folder,) = (place / "home" / "targets").iterdir()
    (folder / name).write_bytes(damage)
    return CurrentSymbols(load_settings({"home": place / "home"}, user_file=place / "none.yaml"), HashEmbedder())


@pytest.mark.parametrize(
    ("name", "damage"), [("targets_meta.json", b"{"), ("targets_vectors.npy", b"\x93NUMPY"), ("about.json", b"")]
)
def test_damaged_files_get_a_sentence(indexed: Workplace, tmp_path: Path, name: str, damage: bytes) -> None:
    with pytest.raises(StoreError) as caught:
        damaged(indexed, tmp_path, name, damage).find("Runner")
    assert caught.value.hint


def test_a_damaged_list_of_hidden_names_leaves_public_names_to_be_found(indexed: Workplace, tmp_path: Path) -> None:
    targets = damaged(indexed, tmp_path, "hidden_symbols.json", b"{")
    assert not targets.find("RetryPlugin").warnings
    for typed in ("RetryPlug", "RetryPlgin", "retry._nothing"):
        answer = targets.find(typed)
        assert answer.results[0].symbol == "RetryPlugin", typed
        assert any("cannot be read" in warning for warning in answer.warnings), typed


def test_without_vectors_words_answer_until_the_vectors_come(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    workplace.ingest()
    forget_vectors_of_symbols(workplace)
    targets = CurrentSymbols(workplace.settings, HashEmbedder())
    answer = targets.find("how to retry a tool")
    # A model that cannot be had leaves the vectors out: words find the targets.
    assert answer.mode == "lexical" and answer.results and not answer.warnings
    with pytest.raises(TargetsMissingError, match="by meaning"):
        targets.find("how to retry a tool", mode="vector")
    build_targets(workplace.settings, Progress(), dense=HashEmbedder())
    assert targets.find("how to retry").mode == "hybrid"


# What the user has installed


def in_use(version: str, exact: bool = True) -> ProjectAdk:
    return ProjectAdk(version, "the active environment", exact)


@pytest.mark.parametrize(
    ("path", "available"),
    [
        ("google.adk.agents.LlmAgent", "true"),
        ("google.adk.apps.App", "false"),
        ("google.adk.agents.LlmAgent.output_key", "true"),
        ("google.adk.agents.LlmAgent.no_field", "false"),
        # What pydantic brings is not in the table, nor are other packages.
        ("google.adk.agents.LlmAgent.model_dump", "unknown"),
        ("shop.Basket", "unknown"),
    ],
)
def test_what_another_version_lacks_is_marked(path: str, available: str) -> None:
    made = TARGETS[0].model_copy(update={"fqn": path, "import_path": path})
    assert availability(made, in_use("1.0.0"), "v2.13.0") == available
    unknown = (None, in_use("99.0.0"), in_use("1.0.0", exact=False))
    assert {availability(made, installed, "v2.13.0") for installed in unknown} == {"unknown"}
    assert availability(made, in_use("2.13.0"), "v2.13.0") == "true", "the indexed version"


def test_what_another_version_exports_elsewhere_is_there() -> None:
    fqn = "google.adk.agents.llm_agent.LlmAgent"
    moved = TARGETS[0].model_copy(update={"fqn": fqn, "import_path": "google.adk.nowhere.LlmAgent"})
    assert availability(moved, in_use("1.0.0"), "v2.13.0") == "true"


def test_a_member_is_there_where_a_class_has_it_that_inherits_it_or_is_another_name_of_its_class_now() -> None:
    fqn = "google.adk.agents.context.Context.state"
    member = TARGETS[0].model_copy(update={"fqn": fqn, "import_path": fqn})
    assert availability(member, in_use("1.18.0"), "v2.13.0", ("ToolContext.state",)) == "true"
    assert availability(member, in_use("1.18.0"), "v2.13.0", ("Context.state",)) == "false"


def test_answers_carry_the_mark_of_the_environment(
    targets: CurrentSymbols, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = write_environment(tmp_path / "venv", "1.0.0")
    named = targets.find("RetryPlugin", 1, python=older)
    monkeypatch.setenv("VIRTUAL_ENV", str(older))
    active = targets.find("RetryPlugin", 1)
    assert (named.installed, named.results[0].available) == ("1.0.0", "false") and active == named
    with pytest.raises(InvalidRequestError, match="neither"):
        targets.find("RetryPlugin", 1, python=tmp_path / "missing")
