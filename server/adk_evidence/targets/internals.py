"""What the indexed code defines beside its public symbols: who asks for such a name exactly is told its place."""

from __future__ import annotations

from collections.abc import Container, Sequence

from adk_evidence.models.base import Frozen
from adk_evidence.models.lines import LineSpan
from adk_evidence.targets.names import Names
from adk_evidence.targets.target import RankParts, Standing, Target, TargetType
from adk_evidence.text.identifiers import is_internal, is_special

_NO_RANK = RankParts(centrality=0, docs_mentions=0, documented=0, exported=False, deprecated=False, weight=0)


class HiddenSymbol(Frozen):
    """A definition that is no public symbol. `symbol` is its name within its module."""

    fqn: str
    symbol: str
    type: TargetType
    signature: str
    summary: str
    path: str
    lines: LineSpan

    @property
    def target(self) -> Target:
        """The definition as a target of an answer, which has no rank."""
        return Target(
            rank=0,
            score=0,
            fqn=self.fqn,
            name=self.symbol.rpartition(".")[2],
            symbol=self.symbol,
            type=self.type,
            import_path=self.fqn,
            summary=self.summary,
            signatures=(self.signature,),
            path=self.path,
            lines=self.lines,
            parts=_NO_RANK,
        )


class HiddenNames:
    """Looks hidden definitions up by their exact names."""

    def __init__(self, symbols: Sequence[HiddenSymbol]) -> None:
        self._symbols = symbols
        self._names = Names((symbol.fqn,) for symbol in symbols)

    def look_up(self, name: str) -> list[Target]:
        """The definitions whose dotted path is `name` or ends with it."""
        return [self._symbols[row].target for row in self._names.ending(name)]


def standing(target: Target, public: Container[str]) -> Standing:
    """What a definition is to its users; a method such as `__call__` is as public as its class.

    Args:
        target: The definition.
        public: The names of the public symbols, each its `fqn`.
    """
    if is_internal(target.fqn):
        return "private"
    owner = target.fqn.rpartition(".")[0] if "." in target.symbol else ""
    is_as_owner = is_special(target.name) and (not owner or owner in public)
    return "public" if target.rank or is_as_owner else "internal"
