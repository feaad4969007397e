"""What a class that has no constructor of its own is made with."""

from __future__ import annotations

from typing import Any

from adk_evidence.models.pack import LineSpan
from adk_evidence.symbols.fields import Fields
from adk_evidence.symbols.target import RankParts, Target


def target(symbol: str, *signatures: str, kind: Any = "class", module: str = "kit.agents", **changes: Any) -> Target:
    parts = RankParts(centrality=0, docs_mentions=0, documented=0, exported=True, deprecated=False, weight=1)
    return Target(
        rank=1,
        score=0.5,
        fqn=f"{module}.{symbol}",
        name=symbol.rpartition(".")[2],
        symbol=symbol,
        type=kind,
        import_path=f"{module}.{symbol}",
        summary="",
        signatures=signatures or (f"{symbol}()",),
        path="src/kit/agents.py",
        lines=LineSpan(start=1, end=1),
        parts=parts,
        **changes,
    )


BASE = target("Base", "class Base(BaseModel)", "model_config = ConfigDict()", "name: str", "note: str = ''")
AGENT = target(
    "Agent",
    "class Agent(Base, abc.ABC)",
    "DEFAULT_MODEL: str = 'm'",
    "model: str = ''",
    "note: str = 'own'",
    "parent: Base | None = Field(default=None, init=False)",
    "canonical_model: str",
    "run(self, message: str) -> str",
)
PROPERTY = target("Agent.canonical_model", "canonical_model: str", kind="property")


def fields(wanted: Target, *others: Target) -> tuple[str, ...]:
    return Fields([wanted, *others]).of(wanted)


def test_own_and_inherited_fields_come_with_the_required_ones_first():
    assert fields(AGENT, BASE, PROPERTY) == ("name: str", "model: str = ''", "note: str = 'own'")


def test_a_constructor_speaks_for_itself():
    assert fields(target("Runner", "Runner(app: App)", "app: App = app")) == ()
    assert fields(target("run", "run(app: App)", kind="function")) == ()


def test_another_name_of_a_class_has_its_fields():
    alias = target("Helper", "Helper: TypeAlias = Agent", kind="variable", alias_of=AGENT.fqn)
    assert fields(alias, AGENT, BASE, PROPERTY) == fields(AGENT, BASE, PROPERTY)
    assert fields(alias) == ()


def test_the_members_of_an_enumeration_are_its_values():
    assert fields(target("Mode", "class Mode(Enum)", "NONE = None", "SSE = 'sse'")) == ("NONE = None", "SSE = 'sse'")


def test_a_base_that_two_classes_may_be_is_not_guessed():
    other = target("Base", "class Base", "colour: str", module="kit.colours")
    assert fields(AGENT, BASE, other, PROPERTY) == ("model: str = ''", "note: str = 'own'")


def test_classes_that_inherit_from_each_other_end():
    first, second = target("A", "class A(B)", "a: int"), target("B", "class B(A)", "b: int")
    assert fields(first, second) == ("a: int", "b: int")
