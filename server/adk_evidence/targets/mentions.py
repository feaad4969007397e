"""What names in the words of a question mean for sure: public classes and functions, and members of such classes.

A name counts as it is defined, letter by letter. The name of a member counts where the question also names a class that
has the member, whether under the class's own name or under another one, and whether the class defines or inherits it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adk_evidence.identifiers import is_private
from adk_evidence.targets.target import Target

if TYPE_CHECKING:
    from adk_evidence.targets.search import TargetSearch

_WORD = re.compile(r"(?<![\w.])[A-Z]\w*")


@dataclass(frozen=True)
class Mention:
    """A definition that a question names. `name` is how: `McpToolset`, `ToolContext.save_artifact`."""

    name: str
    target: Target

    @property
    def is_member(self) -> bool:
        """Whether the question names a class and a member of it."""
        return "." in self.target.symbol


def mentions(search: TargetSearch, text: str, names: Sequence[str]) -> list[Mention]:
    """What a question names, in the order of its words; a class whose members are named stands for them alone.

    Args:
        search: The public symbols.
        text: The question.
        names: What of the question can only be meant as code, as in `Query.code_identifiers`.
    """
    # `App` may be a plain word, but not before a name that is a member of the class `App`.
    plain = (word for word in _WORD.findall(text) if word not in names)
    said = {name: target for name in (*names, *plain) if (target := _defined(search, name)) is not None}
    owners = [name for name, target in said.items() if target.type == "class"]
    members: dict[str, list[Mention]] = {}
    for name in names:
        for owner, member in _members(search, name, owners):
            members.setdefault(owner, []).append(member)
    whole = {name: [Mention(name, said[name])] for name in names if name in said}
    found: dict[str, Mention] = {}
    for name in sorted({**whole, **members}, key=text.find):
        for mention in members.get(name, whole.get(name, [])):
            found.setdefault(mention.target.fqn, mention)
    return list(found.values())


def _defined(search: TargetSearch, name: str) -> Target | None:
    """The one public class or function that has a name, also as another name; of several, the one that is exported.

    Who writes `google_search` rarely asks where this instance is made.
    """
    called = [search.targets[place] for place in search.names.ending(name)]
    named = [target for target in called if "." not in target.symbol]
    if len(named) > 1:
        named = [target for target in named if target.parts.exported]
    if len(named) != 1:
        return None
    (target,) = named
    if target.type != "variable":
        return target
    return search.by_fqn.get(target.alias_of or "") if target.is_other_name else None


def _members(search: TargetSearch, name: str, owners: Iterable[str]) -> Iterator[tuple[str, Mention]]:
    """The members of that name of the classes that the question names, each behind the name of its class.

    A dotted name says its class itself.
    """
    if is_private(name):
        return
    owner, _, last = name.rpartition(".")
    if owner:
        # A variable such as `session` in `session.state` may be anything.
        owners = (owner,) if _defined(search, owner) is not None else ()
    for of in owners:
        called = search.members.look_up(f"{of}.{last}")
        for member in called.found if called is not None and len(called.found) == 1 else ():
            yield of, Mention(f"{of}.{last}", member.target)
