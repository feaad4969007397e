"""What takes an object of a class: parameters and fields whose type the class or one of its bases is.

Who finds a plugin or a configuration still needs to know where that goes: `App(plugins=)`,
`Runner.run_async(run_config=)`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from adk_evidence.render.signatures import parameters
from adk_evidence.symbols.fields import Fields
from adk_evidence.symbols.imports import annotated_types
from adk_evidence.symbols.target import Target

MAX_TAKERS = 3
# Few people call what ranks lower, and what no page mentions has to rank higher.
MAX_RANK = 1000
MAX_RANK_UNMENTIONED = 100
# The framework hands an object to its users where so many functions take one, and so many for each class that is made
# with one: `InvocationContext`, which nobody makes.
HANDED_TO = 10
HANDED_SHARE = 3


class Takers:
    """Looks up what takes an object of a class, the higher-ranking first; what is deprecated is left out."""

    def __init__(self, targets: Sequence[Target], fields: Fields) -> None:
        self._named: dict[str, list[Target]] = defaultdict(list)
        for target in targets:
            if target.type == "class":
                self._named[target.name].append(target)
        self._takers: dict[str, dict[Target, list[str]]] = defaultdict(dict)
        for target in sorted(targets, key=lambda one: one.rank):
            for name, annotation in _taken(target, fields) if not target.parts.deprecated else ():
                if name in target.deprecated_parameters:
                    continue
                for cls in self._meant(annotation, target):
                    self._takers[cls.fqn].setdefault(target, []).append(name)
        self._handed = {fqn for fqn, takers in self._takers.items() if _is_handed(takers)}

    def of(self, target: Target) -> tuple[str, ...]:
        """The first takers of a class, e.g. `App(plugins=)`; none of a class whose objects the framework hands out."""
        found: dict[Target, list[str]] = {}
        for fqn in (target.fqn, *target.bases):
            if fqn not in self._handed:
                for taker, names in self._takers.get(fqn, {}).items():
                    own = found.setdefault(taker, [])
                    own += [name for name in names if name not in own]
        usual = [one for one in found if _is_usual(one) and one.fqn not in {target.fqn, *self._handed}]
        best = sorted(usual, key=lambda one: one.rank)[:MAX_TAKERS]
        return tuple(f"{one.symbol}({', '.join(f'{name}=' for name in found[one])})" for one in best)

    def _meant(self, annotation: str, target: Target) -> Iterable[Target]:
        """The classes that an annotation names; of several that are called alike, the one that the target imports."""
        for name in annotated_types(annotation):
            named = self._named.get(name.rpartition(".")[2], [])
            if len(named) > 1:
                named = [one for one in named if one.import_path in target.types or one.fqn in target.types]
            yield from named[:1]


def _taken(target: Target, fields: Fields) -> Iterable[tuple[str, str]]:
    """What a target takes: names of parameters, or of the fields that a class is made with, and their annotations."""
    if target.is_bare_class:
        return fields.own(target) if target.is_model else ()
    if target.type in ("class", "method", "function"):
        return parameters(target.signatures[0])
    return ()


def _is_usual(taker: Target) -> bool:
    return taker.rank <= (MAX_RANK if taker.parts.docs_mentions else MAX_RANK_UNMENTIONED)


def _is_handed(takers: Mapping[Target, object]) -> bool:
    made = sum(one.type == "class" for one in takers)
    called = len(takers) - made
    return called >= HANDED_TO and called >= HANDED_SHARE * made
