"""What a function takes: by the table of versions, or by its code."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from adk_evidence.readers.python import parameters
from adk_evidence.text.identifiers import to_camel


@dataclass
class Parameters:
    """What a function takes: `positional` in their order, and `named`, all that may be given by name."""

    positional: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    required: set[str] = field(default_factory=set)
    any_positional: bool = False
    any_named: bool = False

    @classmethod
    def of_table(cls, payload: str) -> Parameters:
        """The parameters of a function as the table of versions writes them; `self` is not among them."""
        found = cls()
        only_named = False
        for item in payload[2:].split(", ") if payload[2:] else ():
            if item.startswith("**"):
                found.any_named = True
            elif item.startswith("*"):
                found.any_positional = item != "*"
                only_named = True
            elif item == "/":
                found.named.clear()
            else:
                name = item.rstrip("=")
                found.named.append(name)
                found.positional += [] if only_named else [name]
                found.required |= set() if item.endswith("=") else {name}
        return found

    @classmethod
    def of_code(cls, arguments: ast.arguments, *, bound: bool = True) -> Parameters:
        """The parameters of a function in code; of a `bound` one, such as a method, without its first one."""
        given = parameters(arguments)
        given = given[1:] if bound and given and given[0].is_positional else given
        plain = [item for item in given if item.kind not in ("rest", "more")]
        return cls(
            [item.name for item in plain if item.is_positional],
            [item.name for item in plain if item.can_be_named],
            {item.name for item in plain if item.default is None},
            any(item.kind == "rest" for item in given),
            any(item.kind == "more" for item in given),
        )

    def fits(self, called: Parameters) -> bool:
        """Whether a function with these parameters can be called as one with the other parameters can."""
        only_named = [name for name in called.named if name not in called.positional]
        if any(name not in self.named for name in only_named) and not self.any_named:
            return False
        # What is behind these may be given by name where nothing says otherwise.
        beyond = called.positional[len(self.positional) :]
        if any(name not in self.named and not (self.any_named and name in called.named) for name in beyond):
            return self.any_positional
        if called.any_named or called.any_positional:
            return True
        given = {*self.positional[: len(called.positional)], *called.named}
        return self.required <= given

    def written(self, item: Callable[[str], str] | None = None, more: Iterable[str] = ()) -> str:
        """The parameters of a method that fits.

        `item` writes those called `self`, `*args` and `**kwargs`, too, and others by their names; by default, what a
        call may leave out is `None`. Behind the others stand `more`, which are given by name.
        """
        write = item or (lambda name: name if name[0] == "*" or name in {"self", *self.required} else f"{name}=None")
        only_named = [*(write(name) for name in self.named if name not in self.positional), *more]
        parts = ["self", *self.positional, *(["*args"] if self.any_positional else [])]
        star = ["*"] if only_named and not self.any_positional else []
        last = [write("**kwargs")] if self.any_named else []
        return ", ".join([*map(write, parts), *star, *only_named, *last])


@dataclass(frozen=True)
class Keywords:
    """What a call may name. An `open` callable may take others, too, which the table does not know.

    `hidden` are names that pydantic takes, too: fields that are declared as not to be set, and what a validator of the
    class may read before the fields are.
    """

    names: frozenset[str]
    required: frozenset[str] = frozenset()
    open: bool = False
    hidden: frozenset[str] = frozenset()

    @classmethod
    def of_table(cls, payload: str) -> Keywords:
        """The keywords of a function as the table of versions writes it."""
        found = Parameters.of_table(payload)
        return cls(frozenset(found.named), frozenset(found.required.intersection(found.named)), found.any_named)

    def lacking(self, given: Collection[str]) -> set[str]:
        """The required names that a call does not give, also not in camel case where the class takes that."""
        known = self.names.intersection(given)
        return {name for name in self.required if known.isdisjoint((name, to_camel(name)))}

    @functools.cached_property
    def shown(self) -> list[str]:
        """The names in their order, each field once: not in camel case where the class takes it in snake case, too."""
        camel = {to_camel(name) for name in self.names if "_" in name}
        return sorted(self.names - camel)
