"""What a function takes: by the table of versions, or by its code."""

from __future__ import annotations

from dataclasses import dataclass, field

from adk_evidence.readers.python import Function, parameters


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
    def of_method(cls, node: Function) -> Parameters:
        """The parameters of a method in code, without its first one."""
        given = parameters(node.args)
        given = given[1:] if given and given[0].is_positional else given
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

    def written(self) -> str:
        """The parameters of a method that fits."""
        only_named = [name for name in self.named if name not in self.positional]
        parts = ["self", *map(self._item, self.positional)]
        parts += ["*args"] if self.any_positional else ["*"] if only_named else []
        parts += [*map(self._item, only_named), *(["**kwargs"] if self.any_named else [])]
        return ", ".join(parts)

    def _item(self, name: str) -> str:
        return name if name in self.required else f"{name}=None"
