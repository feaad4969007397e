"""What objects of a class are passed to."""

from __future__ import annotations

from typing import Any

import pytest

from adk_evidence.models.lines import LineSpan
from adk_evidence.render.signatures import parameters
from adk_evidence.symbols.fields import Fields
from adk_evidence.symbols.takers import HANDED_TO, MAX_RANK, Takers
from adk_evidence.symbols.target import RankParts, Target, TargetType

PARTS = RankParts(centrality=0, docs_mentions=0, documented=0, exported=True, deprecated=False, weight=1)


def target(rank: int, symbol: str, *signatures: str, type: TargetType = "class", **more: Any) -> Target:
    module = more.pop("module", "kit.parts")
    values: dict[str, Any] = {
        "rank": rank,
        "score": 0.5,
        "fqn": f"{module}.{symbol}",
        "name": symbol.rpartition(".")[2],
        "symbol": symbol,
        "type": type,
        "import_path": f"{module}.{symbol}",
        "summary": "",
        "signatures": signatures or (f"class {symbol}",),
        "path": "src/kit/parts.py",
        "lines": LineSpan(start=1, end=2),
        "parts": PARTS,
    }
    return Target(**{**values, **more})


BASE = target(1, "BasePlugin")
PLUGIN = target(30, "RetryPlugin", "RetryPlugin(name: str)", bases=(BASE.fqn,))
CONFIG = target(31, "RunConfig")
RUNNER = target(3, "Runner", "Runner(*, app: App, plugins: list[BasePlugin] | None = None, config: RunConfig = ...)")
APP = target(2, "App", "class App(BaseModel)", "name: str", "plugins: list[BasePlugin] = []", is_model=True)
RUN = target(4, "Runner.run", "async run(text: str, config: 'RunConfig' = None) -> Event", type="method")


def taken(cls: Target, *targets: Target) -> tuple[str, ...]:
    both = [cls, *(one for one in targets if one is not cls)]
    return Takers(both, Fields(both)).of(cls)


def test_constructors_fields_and_methods_that_take_a_class_or_its_bases_are_told_by_rank() -> None:
    assert taken(PLUGIN, BASE, RUNNER, APP, RUN) == ("App(plugins=)", "Runner(plugins=)")
    assert taken(CONFIG, RUNNER, RUN) == ("Runner(config=)",)
    unquoted = RUN.model_copy(update={"signatures": ("run(text: str, config: RunConfig = None)",)})
    assert taken(CONFIG, RUNNER, unquoted) == ("Runner(config=)", "Runner.run(config=)")


def test_several_parameters_of_one_function_are_told_together() -> None:
    edge = target(5, "Edge", "Edge(start: RunConfig, end: Optional[RunConfig])")
    assert taken(CONFIG, edge) == ("Edge(start=, end=)",)


def test_what_few_people_use_and_the_class_itself_are_not_told() -> None:
    known = PARTS.model_copy(update={"docs_mentions": 1})
    rare = target(MAX_RANK + 1, "Rare", "Rare(config: RunConfig)", parts=known)
    less_rare = rare.model_copy(update={"rank": MAX_RANK})
    assert taken(CONFIG, less_rare) == ("Rare(config=)",)
    assert taken(CONFIG, less_rare.model_copy(update={"parts": PARTS})) == ()
    itself = target(6, "RunConfig", "RunConfig(parent: RunConfig)")
    assert taken(CONFIG, rare) == () and taken(itself) == ()


def test_a_class_that_the_framework_hands_out_takes_nothing_and_is_passed_to_nothing() -> None:
    context = target(7, "Context", "Context(config: RunConfig)")
    hooks = [target(40 + n, f"Base.on_{n}", "on(context: Context)", type="method") for n in range(HANDED_TO)]
    assert taken(CONFIG, context) == ("Context(config=)",)
    assert taken(CONFIG, context, *hooks) == ()
    assert taken(context, *hooks) == ()


def test_what_is_deprecated_is_not_told() -> None:
    old = PARTS.model_copy(update={"deprecated": True})
    assert taken(CONFIG, RUNNER.model_copy(update={"parts": old})) == ()
    assert taken(PLUGIN, BASE, RUNNER.model_copy(update={"deprecated_parameters": ("plugins",)})) == ()
    field = target(50, "App.plugins", "plugins: list[BasePlugin] = []", type="attribute", parts=old)
    assert taken(PLUGIN, BASE, APP, field) == ()


def test_of_two_classes_of_one_name_the_imported_one_is_meant() -> None:
    other = target(8, "RunConfig", module="kit.other")
    takes = target(9, "Taker", "Taker(config: RunConfig)", types=("kit.other.RunConfig",))
    assert taken(other, CONFIG, takes) == ("Taker(config=)",)
    assert taken(CONFIG, other, takes) == ()


def test_what_a_class_names_beside_its_fields_is_not_passed() -> None:
    constants = target(10, "Holder", "class Holder(BaseModel)", "LIMIT: ClassVar[RunConfig]", "make() -> RunConfig")
    assert taken(CONFIG, constants.model_copy(update={"is_model": True})) == ()


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("f(a, *, b: int = 1, **more: Any)", [("b", "int"), ("more", "Any")]),
        ("f(a: dict[str, int] = {'x': 1}, b: 'A' = ',')", [("a", "dict[str, int]"), ("b", "'A'")]),
        ("class A", []),
        ("f(", []),
    ],
)
def test_parameters_have_their_annotations(signature: str, expected: list[tuple[str, str]]) -> None:
    assert parameters(signature) == expected
