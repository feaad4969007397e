"""What a class without a constructor of its own is made with: its fields and those that it inherits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from adk_evidence.symbols.target import Target

_CLASS = re.compile(r"class \w+(?:\((?P<bases>.*)\))?", re.DOTALL)
# `name: type = value`, with or without its type or value; a method has a bracket behind its name.
_FIELD = re.compile(r"(?P<name>[A-Za-z]\w*)(?P<type>:[^=]+)?\s*(?:=.*)?", re.DOTALL)
_CONFIGURATION = "model_config"
_NOT_SET = re.compile(r"\binit=False\b")


class Fields:
    """The fields of the classes among targets, read from the signatures that the targets have."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._by_fqn = {target.fqn: target for target in targets}
        self._classes: dict[str, list[Target]] = defaultdict(list)
        for target in targets:
            if target.type == "class":
                self._classes[target.name].append(target)
        self._properties = {target.fqn for target in targets if target.type == "property"}

    def of(self, target: Target) -> tuple[str, ...]:
        """The fields of a class or of what is another name for a class, e.g. `model: str = ''`, required ones first.

        Empty where the class has a constructor, which its signature shows. A base that several classes are called like
        is left out.
        """
        if target.type == "variable" and target.alias_of is not None:
            target = self._by_fqn.get(target.alias_of, target)
        found: dict[str, str] = {}
        waiting, seen = [target], {target.fqn}
        while waiting:
            one = waiting.pop(0)
            match = _CLASS.fullmatch(one.signatures[0]) if one.type == "class" else None
            if match is None:
                continue
            for signature in one.signatures[1:]:
                name = self._field(one, signature)
                if name is not None:
                    found.setdefault(name, signature)
            for base in re.findall(r"[\w.]+", match["bases"] or ""):
                called = self._classes.get(base.rpartition(".")[2], [])
                if len(called) == 1 and called[0].fqn not in seen:
                    seen.add(called[0].fqn)
                    waiting.append(called[0])
        return tuple(sorted(found.values(), key=lambda signature: "=" in signature))

    def _field(self, owner: Target, signature: str) -> str | None:
        """The name of a field that a caller may set, or None of another member."""
        match = _FIELD.fullmatch(signature)
        if match is None:
            return None
        name = match["name"]
        is_constant = name.isupper() and match["type"] is not None
        is_property = f"{owner.fqn}.{name}" in self._properties
        if is_constant or is_property or name == _CONFIGURATION or _NOT_SET.search(signature):
            return None
        return name
