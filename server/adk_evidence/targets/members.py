"""Finds `Class.member` in the class that defines the member: the class itself or one of its bases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adk_evidence.readers.python import call_form
from adk_evidence.targets.names import Names, compact
from adk_evidence.targets.target import Target, Targets
from adk_evidence.text.identifiers import is_private

_DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_MEMBER_NAME = re.compile(r"(?:async )?(?:with )?(\w+)")
_METHOD_NAME = re.compile(rf"{_MEMBER_NAME.pattern}\(")
_WORD = re.compile(r"[^\W_]+")
# How many words of a question may be the name of one class, and up to how many heirs of a member all are named.
MAX_WORDS = 6
MAX_HEIRS = 3


@dataclass(frozen=True)
class Member:
    """A member that was found.

    `target` may be made for the answer: a field without a docstring has no target. `place` is that of the member, or
    of its class, in the list of targets; -1 of one without either. `inherited_from` is the base that defines the
    member, by its `symbol`. `inherited_by` are other classes that have it from there, the one that was asked for first.
    """

    target: Target
    place: int
    inherited_from: str | None = None
    inherited_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Membership:
    """What a query of the form `Class.member` means.

    `owners` are the places of the classes, or of other names of classes, that the query names. `found` is empty where
    none of these classes has a public member of that name.
    """

    owners: tuple[int, ...]
    owner: str
    name: str
    found: tuple[Member, ...]


class Members:
    """The members of the classes among targets, those that a class inherits among them."""

    def __init__(self, known: Targets) -> None:
        self._known = known
        self._targets = targets = known.listed
        self._places = {target.fqn: place for place, target in enumerate(targets)}
        self._owners: list[tuple[int, Target]] = []
        self._members: dict[str, dict[str, int]] = defaultdict(dict)
        for place, target in enumerate(targets):
            meant = known.meant(target)
            if meant.type == "class":
                self._owners.append((place, meant))
            if "." in target.symbol:
                self._members[target.fqn.rpartition(".")[0]][target.name] = place
        self._names = Names((targets[place].fqn, targets[place].import_path) for place, _ in self._owners)
        self._compact: dict[str, str] = {}
        for place, _ in self._owners:
            # The highest ranked of those that are called alike.
            self._compact.setdefault(compact(targets[place].symbol), targets[place].symbol)
        # What has the members of a class: the class itself, its heirs, and other names of these.
        self._heirs: dict[str, list[tuple[int, Target]]] = defaultdict(list)
        for place, cls in self._owners:
            for fqn in dict.fromkeys((cls.fqn, *cls.bases)):
                self._heirs[fqn].append((place, cls))

    def owners_in(self, query: str) -> list[str]:
        """The classes that a question names, also in words: `callback context` is `CallbackContext`. Longest first."""
        words = _WORD.findall(query)
        runs = (words[start : start + length] for length in range(MAX_WORDS, 0, -1) for start in range(len(words)))
        found = (self._compact.get("".join(run).lower()) for run in runs)
        return list(dict.fromkeys(name for name in found if name is not None))

    def constructed(self, query: str) -> list[int]:
        """Places of the classes whose constructor a query names, as `Agent.__init__` does."""
        owner, _, name = query.strip().removesuffix("()").rpartition(".")
        if name != "__init__":
            return []
        return [self._owners[row][0] for row in self._names.ending(owner, any_case=True)]

    def bases(self, name: str) -> list[str]:
        """The classes that a name may mean and their bases, each by its `fqn`."""
        rows = self._names.ending(name)
        return [fqn for row in rows for fqn in (self._owners[row][1].fqn, *self._owners[row][1].bases)]

    def methods(self, cls: Target) -> tuple[str, ...]:
        """The methods of a class that users call, its own first, then those of its bases; none of what is no class.

        Each in the form in which it is called, as of `call_form`.
        """
        meant = self._known.meant(cls)
        if meant.type != "class":
            return ()
        found: dict[str, str] = {}
        for one in self._known.with_bases(meant):
            for member in (self._targets[place] for place in self._members.get(one.fqn, {}).values()):
                if member.type == "method":
                    found.setdefault(member.name, member.signatures[0])
            # Those without a docstring stand in the class alone.
            for signature in one.signatures[1:]:
                if (match := _METHOD_NAME.match(signature)) and not is_private(match[1]):
                    found.setdefault(match[1], signature)
        # Validators and hooks are called by pydantic alone.
        of_pydantic = ("validate_", "check_", "model_")
        return tuple(call_form(signature) for name, signature in found.items() if not name.startswith(of_pydantic))

    def look_up(self, query: str) -> Membership | None:
        """What a query means, or None where the query is no name of a member of a class that exists."""
        dotted = query.strip().removesuffix("()")
        if not _DOTTED_NAME.fullmatch(dotted):
            return None
        owner, _, name = dotted.rpartition(".")
        # Variables are called like their classes: `tool_context.state` is that of a `ToolContext`.
        variable = self._compact.get(compact(owner), "") if "_" in owner else ""
        for called, any_case in ((owner, False), (owner, True), (variable, True)):
            owners = [self._owners[row] for row in self._names.ending(called, any_case=any_case)]
            found = {member.target.fqn: member for _, cls in owners if (member := self._find(cls, name))}
            asked = [self._targets[place].symbol for place, _ in owners]
            found = {fqn: self._with_heirs(member, asked) for fqn, member in found.items()}
            # `agent.py` need not mean `Agent`.
            if found or (owners and not any_case and not is_private(name)):
                return Membership(tuple(place for place, _ in owners), called, name, tuple(found.values()))
        return None

    def _with_heirs(self, member: Member, asked: Sequence[str]) -> Member:
        """A member with the classes that have it from its own class: all of a few, else those that were asked for."""
        owner = member.target.fqn.rpartition(".")[0]
        heirs = [
            self._targets[place].symbol
            for place, cls in self._heirs.get(owner, ())
            if self._targets[place].fqn != owner
            and (found := self._find(cls, member.target.name)) is not None
            and found.target.fqn == member.target.fqn
        ]
        first = [name for name in asked if name in heirs]
        names = list(dict.fromkeys([*first, *heirs]))
        # What a dozen classes have is known of their base.
        return replace(member, inherited_by=tuple(names if len(names) <= MAX_HEIRS else first))

    def _find(self, owner: Target, name: str) -> Member | None:
        for cls in self._known.with_bases(owner):
            inherited_from = cls.symbol if cls is not owner else None
            place = self._members[cls.fqn].get(name) if cls.fqn in self._members else None
            if place is not None:
                return Member(self._targets[place], place, inherited_from)
            for signature in (*cls.signatures[1:], *cls.private_fields):
                match = _MEMBER_NAME.match(signature)
                if match and match[1] == name:
                    return Member(_field(cls, name, signature), self._places[cls.fqn], inherited_from)
        return None


def _field(owner: Target, name: str, signature: str) -> Target:
    """A field that only its class lists, with the lines of the class."""
    return owner.model_copy(
        update={
            "fqn": f"{owner.fqn}.{name}",
            "name": name,
            "symbol": f"{owner.symbol}.{name}",
            "type": "attribute",
            "import_path": f"{owner.import_path}.{name}",
            "summary": "",
            "signatures": (signature,),
            "bases": (),
            "outer_bases": (),
            "private_fields": (),
            "types": (),
            "takes_fields": False,
            "shortcuts": (),
        }
    )
