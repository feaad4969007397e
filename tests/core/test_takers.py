"""What objects of a class are passed to."""

from __future__ import annotations

from typing import Any

import pytest

from adk_evidence.render.signatures import parameters
from adk_evidence.targets.fields import Fields
from adk_evidence.targets.takers import HANDED_TO, MAX_RANK, MAX_RANK_UNMENTIONED, Takers
from adk_evidence.targets.target import Target, Targets
from tests.core import factories
from tests.core.factories import PARTS


def target(rank: int, symbol: str, *signatures: str, **more: Any) -> Target:
    return factories.target(symbol, *signatures, rank=rank, **more)


BASE = target(1, "BasePlugin")
PLUGIN = target(30, "RetryPlugin", "RetryPlugin(name: str)", bases=(BASE.fqn,))
CONFIG = target(31, "RunConfig")
RUNNER = target(3, "Runner", "Runner(*, app: App, plugins: list[BasePlugin] | None = None, config: RunConfig = ...)")
APP = target(2, "App", "class App(BaseModel)", "name: str", "plugins: list[BasePlugin] = []", is_model=True)
RUN = target(4, "Runner.run", "async run(text: str, config: 'RunConfig' = None) -> Event", type="method")


def taken(cls: Target, *targets: Target) -> tuple[str, ...]:
    both = [cls, *(one for one in targets if one is not cls)]
    known = Targets(both)
    return Takers(known, Fields(known)).of(cls)


def test_constructors_fields_and_methods_that_take_a_class_or_its_bases_are_told_by_rank() -> None:
    assert taken(PLUGIN, BASE, RUNNER, APP, RUN) == ("App(plugins=)", "Runner(plugins=)")
    assert taken(CONFIG, RUNNER, RUN) == ("Runner(config=)", "Runner.run(config=)")


def test_of_two_parameters_the_one_that_is_closer_to_the_class_is_told() -> None:
    node = target(11, "Node")
    agent = target(12, "Agent", bases=(node.fqn,))
    own = target(13, "MyAgent", bases=(agent.fqn, node.fqn))
    runner = target(3, "Runner", "Runner(agent: Agent | None = None, node: Node | None = None)")
    assert taken(own, node, agent, runner) == ("Runner(agent=)",)
    assert taken(node, runner) == ("Runner(node=)",)


def test_in_place_of_a_base_its_first_heir_is_told() -> None:
    base = target(2, "BaseAgent", "class BaseAgent(BaseModel)", "sub_agents: list[BaseAgent] = []", is_model=True)
    heir = target(4, "LlmAgent", "class LlmAgent(BaseAgent)", bases=(base.fqn,), is_model=True)
    other = target(9, "LoopAgent", "class LoopAgent(BaseAgent)", bases=(base.fqn,), is_model=True)
    assert taken(other, base, heir) == taken(base, heir) == ("LlmAgent(sub_agents=)",)


def test_an_heir_with_a_constructor_of_its_own_is_not_told_in_place_of_its_base() -> None:
    base = target(2, "BaseTool", "BaseTool(config: RunConfig)")
    heir = target(4, "McpTool", "McpTool(name: str)", bases=(base.fqn,))
    assert taken(CONFIG, base, heir) == ("BaseTool(config=)",)


def test_fields_are_told_beside_the_parameters_of_a_constructor_that_takes_the_rest() -> None:
    both = target(5, "Managed", "Managed(*, client: str, **kwargs: Any)", "config: RunConfig", is_model=True)
    assert taken(CONFIG, both) == ("Managed(config=)",)


@pytest.mark.parametrize(
    "annotation",
    [
        "RunConfig",
        "'RunConfig'",
        "Optional['RunConfig']",
        "list[RunConfig] | None",
        "dict[str, RunConfig]",
        "Annotated[RunConfig, Field(gt=1)] = None",
        "Annotated[int, Field(gt=1)] | RunConfig",
        "Literal['x=y'] | RunConfig = 'x=y'",
        "Settings",
    ],
)
def test_an_annotation_takes_objects_of_the_classes_in_it(annotation: str) -> None:
    alias = target(20, "Settings", "Settings = RunConfig", type="variable", alias_of=CONFIG.fqn)
    assert taken(CONFIG, alias, target(5, "T", f"T(config: {annotation})")) == ("T(config=)",)


@pytest.mark.parametrize(
    "parameter",
    [
        "make: Callable[[], RunConfig]",
        "call: Callable[[RunConfig], None]",
        "schema: type[RunConfig]",
        "by: dict[RunConfig, str]",
        "key=lambda e: RunConfig",
        "other={'x': RunConfig}",
        "kind: Annotated[str, RunConfig]",
        "kind: Literal['RunConfig']",
        "*args: RunConfig",
        "**more: RunConfig",
        "foreign: orm.RunConfig",
        "broken: list[RunConfig",
    ],
)
def test_other_types_take_no_object_of_the_classes_in_them(parameter: str) -> None:
    assert taken(CONFIG, target(5, "T", f"T({parameter})")) == ()


def test_a_class_of_another_package_with_the_same_name_is_not_meant() -> None:
    takes = target(5, "Repo", "Repo(config: RunConfig)", types=("sqlalchemy.orm.RunConfig",))
    assert taken(CONFIG, takes) == ()


def test_of_two_classes_of_one_name_that_of_the_same_file_is_meant() -> None:
    other = target(8, "RunConfig", module="kit.other", path="src/kit/other.py")
    takes = target(9, "Taker", "Taker(config: RunConfig)", path="src/kit/other.py")
    assert taken(other, CONFIG, takes) == ("Taker(config=)",) and taken(CONFIG, other, takes) == ()
    beside = target(9, "Taker", "Taker(config: RunConfig)", path="src/kit/elsewhere.py")
    apart = other.model_copy(update={"path": "src/other/config.py"})
    assert taken(CONFIG, apart, beside) == ("Taker(config=)",) and taken(apart, CONFIG, beside) == ()


def test_parameters_that_a_base_calls_deprecated_are_not_told_of_its_heirs() -> None:
    runner = RUNNER.model_copy(update={"deprecated_parameters": ("config",)})
    heir = target(7, "SmallRunner", "SmallRunner(config: RunConfig)", bases=(runner.fqn,))
    assert taken(CONFIG, runner, heir) == ()


def test_several_parameters_of_one_function_are_told_together() -> None:
    edge = target(5, "Edge", "Edge(start: RunConfig, end: Optional[RunConfig])")
    assert taken(CONFIG, edge) == ("Edge(start=, end=)",)


def test_what_few_people_use_and_the_class_itself_are_not_told() -> None:
    known = PARTS.model_copy(update={"docs_mentions": 1})
    rare = target(MAX_RANK + 1, "Rare", "Rare(config: RunConfig)", parts=known)
    unmentioned = target(MAX_RANK_UNMENTIONED + 1, "Inner", "Inner(config: RunConfig)")
    assert taken(CONFIG, rare, unmentioned, RUNNER) == ("Runner(config=)",)
    assert taken(CONFIG, rare.model_copy(update={"rank": MAX_RANK})) == ("Rare(config=)",)
    itself = target(6, "RunConfig", "RunConfig(parent: RunConfig)")
    assert taken(itself) == ()


def test_a_constructor_is_told_whatever_its_rank_is_where_nothing_else_takes_the_class() -> None:
    rare = target(5000, "Rare", "Rare(config: RunConfig)")
    function = target(5001, "use", "use(config: RunConfig)", type="function")
    assert taken(CONFIG, rare, function) == ("Rare(config=)",)
    assert taken(CONFIG, function) == ()
    kin = target(14, "LoadTool", "LoadTool(toolset: Toolset)")
    assert taken(target(13, "Toolset", bases=("kit.parts.BaseToolset",)), kin, target(12, "BaseToolset")) == (
        "LoadTool(toolset=)",
    )
    rare_kin = kin.model_copy(update={"rank": 5000})
    assert taken(target(13, "Toolset", bases=("kit.parts.BaseToolset",)), rare_kin) == ()


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
        ("f(a, *, b: int = 1, **more: Any)", [("b", "int")]),
        ("f(key=lambda e: e, a: Annotated[int, F(x=1)] = 2)", [("a", "Annotated[int, F(x=1)]")]),
        ("f(a: dict[str, int] = {'x': 1}, b: 'A' = ',')", [("a", "dict[str, int]"), ("b", "'A'")]),
        ("class A", []),
        ("f(", []),
    ],
)
def test_parameters_have_their_annotations(signature: str, expected: list[tuple[str, str]]) -> None:
    assert parameters(signature) == expected
