"""What a class that has no constructor of its own is made with."""

from __future__ import annotations

from typing import Any

from adk_evidence.targets.fields import Fields
from adk_evidence.targets.target import Target, Targets
from tests.core import factories
from tests.core.factories import PARTS


def target(
    symbol: str,
    *signatures: str,
    kind: Any = "class",
    module: str = "kit.agents",
    deprecated: bool = False,
    takes_fields: bool = True,
    **changes: Any,
) -> Target:
    return factories.target(
        symbol,
        *(signatures or (f"{symbol}()",)),
        module=module,
        type=kind,
        parts=PARTS.model_copy(update={"deprecated": deprecated}),
        takes_fields=takes_fields and kind == "class",
        **changes,
    )


BASE = target("Base", "class Base(BaseModel)", "model_config = ConfigDict()", "name: str", "note: str = ''")
AGENT = target(
    "Agent",
    "class Agent(Base, abc.ABC)",
    "DEFAULT_MODEL: str = 'm'",
    "kind: typing.ClassVar[str] = 'k'",
    "model: str = ''",
    "note: str = 'own'",
    "parent: Base | None = Field(default=None, init=False)",
    "canonical_model: str",
    "run(self, message: str) -> str",
    bases=(BASE.fqn,),
)
PROPERTY = target("Agent.canonical_model", "canonical_model: str", kind="property")


def fields(wanted: Target, *others: Target) -> tuple[str, ...]:
    return Fields(Targets([wanted, *others])).of(wanted)


def test_own_and_inherited_fields_come_with_the_required_ones_first():
    expected = ("name: str", "model: str = ''", "note: str = 'own'")
    # A class of the same name elsewhere is no base.
    other = target("Base", "class Base", "colour: str", module="kit.colours")
    assert fields(AGENT, BASE, PROPERTY) == fields(AGENT, BASE, other, PROPERTY) == expected
    alias = target("Helper", "Helper: TypeAlias = Agent", kind="variable", alias_of=AGENT.fqn)
    assert fields(alias, AGENT, BASE, PROPERTY) == expected and fields(alias) == ()


def test_a_constructor_speaks_for_itself():
    runner = target("Runner", "Runner(app: App)", "app: App = app", takes_fields=False)
    assert fields(runner) == ()
    assert fields(target("Local", "class Local(Runner)", "speed: int", bases=(runner.fqn,)), runner) == ("speed: int",)
    assert fields(target("run", "run(app: App)", kind="function")) == ()


def test_the_members_of_an_enumeration_are_its_values():
    assert fields(target("Mode", "class Mode(Enum)", "NONE = None", "SSE = 'sse'")) == ("NONE = None", "SSE = 'sse'")


def test_a_constructor_that_passes_the_rest_on_leaves_out_what_it_names():
    made = target("Made", "Made(name: str, *, retries: int = 3, **kwargs: Any)", "depth: int = 1", bases=(BASE.fqn,))
    assert fields(made, BASE) == ("depth: int = 1", "note: str = ''")


def test_what_is_taken_beside_the_fields_stands_behind_the_required_ones():
    signatures = ("class Step(Model)", "path: str = ''", "name: str", "size: int = Field(..., ge=1)", "text: str")
    step = target("Step", *signatures, shortcuts=("route: value -> path", "text: str -> name"))
    late = target("Late", "class Late(Step)", bases=(step.fqn,))
    wanted = ("name: str", "size: int = Field(..., ge=1)", "text: str", "route: value -> path", "path: str = ''")
    assert fields(step) == fields(late, step) == wanted


def test_deprecated_fields_come_last_and_say_so():
    metric = target("Metric", "class Metric(Model)", "limit: float | None = None", "name: str")
    limit = target("Metric.limit", "limit: float | None = None", kind="attribute", deprecated=True)
    assert fields(metric, limit) == ("name: str", "limit: float | None = None (deprecated)")
    old = metric.model_copy(update={"parts": limit.parts})
    assert fields(old, limit) == ("name: str", "limit: float | None = None")


def test_what_the_code_says_of_fields_is_told_in_a_sentence_each() -> None:
    def said(symbol: str, summary: str, **changes: Any) -> Target:
        return target(symbol, f"{symbol}: int", kind="attribute", **changes).model_copy(update={"summary": summary})

    base = target("Base", "class Base(BaseModel)", "seconds: int = 60")
    config = target("Config", "class Config(Base)", "size: int", "old: int = 0", "bare: int = 0", bases=(base.fqn,))
    alias = target("Settings", "Settings = Config", kind="variable", alias_of=config.fqn)
    targets = [
        base,
        config,
        alias,
        said("Base.seconds", "Time to live, e.g. of a cache"),
        said("Config.size", "How many `events` are kept, e.g. `10`. If none is given, all of them are."),
        said("Config.old", "No longer used.", deprecated=True),
    ]
    fields = Fields(Targets(targets))
    expected = ("size: How many `events` are kept, e.g. `10`.", "seconds: Time to live, e.g. of a cache")
    assert fields.notes(config) == fields.notes(alias) == expected
    assert fields.notes(target("Other", "class Other(BaseModel)", "size: int")) == ()
