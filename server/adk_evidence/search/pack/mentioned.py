"""What the names of a question stand for: the public symbols that it mentions, as they are called and imported.

Who names something knows of it already, and asks how it is used. So its signature answers, or corrects a wrong belief,
in a line, also where the results are about something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from adk_evidence.models.pack import Mentioned
from adk_evidence.render.signatures import parameter_names, with_parameters
from adk_evidence.search.stages import Hit, Question
from adk_evidence.targets.constructors import made
from adk_evidence.targets.search import TargetSearch
from adk_evidence.targets.target import Target

# The most symbols, and the most that a bare name stands for: a field of agents and a method of plugins.
MOST = 8
MOST_OF_NAME = 2
# The most tokens of a signature with parameters that the question names, and of another one.
MAX_TOKENS = 100
MAX_OTHER_TOKENS = 60


def mentioned_symbols(question: Question, final: Sequence[Hit]) -> tuple[Mentioned, ...]:
    """The public symbols that a question names, in the order of its text.

    A name that several classes have is that of the classes in the question, else of those in the results. The signature
    of a class stands for its fields that are named, if the class or several of them are.
    """
    search = question.targets()
    # Lines of an earlier state of the files may be others.
    if search is None or search.set.stale:
        return ()
    names = question.query.names
    parts = {part for name in question.query.code_identifiers for part in name.split(".")}
    meant = [search.meant(search.targets[place]) for part in sorted(parts) for place in search.names.ending(part)]
    asked = frozenset(target.symbol for target in meant if target.type == "class")
    owners = (asked, frozenset((hit.payload.symbol or "").partition(".")[0] for hit in final))
    found = {name: _meant(search, name, owners) for name in question.query.code_identifiers}
    every = {target.fqn: target for targets in found.values() for target in targets}
    classes = Counter(_class_of_field(search, target) or target.fqn for target in every.values())
    told: dict[str, Mentioned] = {}
    for name, targets in found.items():
        for target in targets:
            cls = _class_of_field(search, target)
            shown = search.by_fqn[cls] if cls and classes[cls] > 1 else target
            told.setdefault(shown.fqn, _mentioned(search, shown, names))
        if not targets and (statement := search.elsewhere(name)):
            told.setdefault(name, Mentioned(symbol=name, signature=name, import_statement=statement))
    return tuple(told.values())[:MOST]


def _class_of_field(search: TargetSearch, target: Target) -> str:
    """The class that is made with a field; "" of all else."""
    cls = search.by_fqn.get(target.fqn.rpartition(".")[0])
    return cls.fqn if target.type == "attribute" and cls is not None and cls.takes_fields else ""


def _meant(search: TargetSearch, name: str, owners: Sequence[Collection[str]]) -> list[Target]:
    named = [search.targets[place] for place in search.names.ending(name)]
    if not named and (member := search.members.look_up(name)) is not None:
        named = [one.target for one in member.found]
    for preferred in owners:
        of_these = [target for target in named if target.symbol.partition(".")[0] in preferred]
        named = of_these or named
    return named[:MOST_OF_NAME] if named and "." in named[0].symbol else named[:1]


def _mentioned(search: TargetSearch, target: Target, names: Collection[str]) -> Mentioned:
    signature = _signature(search, target)
    is_asked = not {*parameter_names(signature)}.isdisjoint(names)
    return Mentioned(
        symbol=target.symbol,
        signature=with_parameters(signature, MAX_TOKENS if is_asked else MAX_OTHER_TOKENS, names),
        import_statement=target.import_statement,
        path=target.path,
        lines=target.lines,
    )


def _signature(search: TargetSearch, target: Target) -> str:
    """How a symbol is called, a member with its class."""
    cls = search.meant(target)
    constructor = made(search, cls) if cls.type == "class" else None
    if constructor is not None:
        return constructor.signature
    fields = search.fields.of(cls) if cls.type == "class" else []
    own = target.signatures[0].replace(target.name, target.symbol, 1)
    return f"{own}({'; '.join(fields)})" if fields and not own.endswith(")") else own
