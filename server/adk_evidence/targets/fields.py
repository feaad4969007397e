"""What a class is made with beside the parameters of a constructor: its fields and those that it inherits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adk_evidence.render.signatures import DEPRECATED, name_of, parameter_names, without_default
from adk_evidence.targets.target import Target, Targets

# `name: type = value`, with or without its type or value; a method has a bracket behind its name.
_FIELD = re.compile(r"(?P<name>[A-Za-z]\w*)(?P<type>:[^=]+)?\s*(?:=.*)?", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`])")
_CONFIGURATION = "model_config"
_SHARED = re.compile(r":\s*['\"]?(?:\w+\.)*(?:ClassVar|TypeAlias)\b")
_NOT_SET = re.compile(r"\binit=False\b")
# A field with conditions for its value, but without a default.
_REQUIRED = re.compile(r"= \w+\(\.\.\.")


class Fields:
    """The fields of the classes among targets, read from the signatures that the targets have."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def of(self, target: Target) -> tuple[str, ...]:
        """The fields of a class or of what is another name for a class, e.g. `model: str = ''`, required ones first.

        Behind the required ones stands what the class takes beside its fields, and at the end what is deprecated.
        Empty where the class has a constructor that says all; of one that passes the rest on, what it does not name.
        """
        target = self._targets.meant(target)
        found: dict[str, tuple[int, str]] = {}
        taken = () if target.is_bare_class else parameter_names(target.signatures[0])
        classes = list(self._made_of(target))
        for cls in classes:
            for signature in (*cls.signatures[1:], *cls.private_fields):
                name = self._field(cls, signature)
                if name is not None:
                    found.setdefault(name, self._ranked(cls, name, signature))
        for cls in classes:
            for shortcut in cls.shortcuts:
                found.setdefault(shortcut.partition(":")[0], (1, shortcut))
        shown = (place for name, place in found.items() if name not in taken)
        return tuple(text for _, text in sorted(shown, key=lambda place: place[0]))

    def notes(self, target: Target) -> tuple[str, ...]:
        """What the code says of the fields of a class, e.g. `ttl_seconds: Time-to-live for cache in seconds`.

        The first sentence for each field that is not deprecated; in the order of `of`.
        """
        target = self._targets.meant(target)
        found = []
        for name in map(name_of, self.of(target)):
            members = (self._targets.by_fqn.get(f"{fqn}.{name}") for fqn in (target.fqn, *target.bases))
            member = next((one for one in members if one is not None), None)
            if member is not None and member.summary and not member.parts.deprecated:
                found.append(f"{name}: {_SENTENCE_END.split(member.summary, maxsplit=1)[0]}")
        return tuple(found)

    def own(self, target: Target) -> list[tuple[str, str]]:
        """The fields that a class itself has for callers to set, each with its annotation; no deprecated ones."""
        named = ((self._field(target, signature), signature) for signature in target.signatures[1:])
        found = [(name, self._ranked(target, name, signature)[1]) for name, signature in named if name is not None]
        current = ((name, text) for name, text in found if not text.endswith(DEPRECATED))
        return [(name, without_default(text.partition(":")[2])) for name, text in current]

    def _made_of(self, target: Target) -> Iterator[Target]:
        """The class and its bases, as far as their fields are what the class is made with."""
        for fqn in (target.fqn, *target.bases):
            cls = self._targets.by_fqn.get(fqn)
            if cls is None or not cls.takes_fields:
                return
            yield cls

    def _ranked(self, owner: Target, name: str, signature: str) -> tuple[int, str]:
        own = self._targets.by_fqn.get(f"{owner.fqn}.{name}")
        # Of a class that is deprecated as a whole, its heading says so.
        if own is not None and own.parts.deprecated and not owner.parts.deprecated:
            return 3, f"{signature}{DEPRECATED}"
        return (0 if "=" not in signature or _REQUIRED.search(signature) else 2), signature

    def _field(self, owner: Target, signature: str) -> str | None:
        """The name of a field that a caller may set, or None of another member."""
        match = _FIELD.fullmatch(signature)
        if match is None:
            return None
        name = match["name"]
        is_constant = match["type"] is not None and (name.isupper() or _SHARED.match(match["type"]))
        own = self._targets.by_fqn.get(f"{owner.fqn}.{name}")
        is_property = own is not None and own.type == "property"
        if is_constant or is_property or name == _CONFIGURATION or _NOT_SET.search(signature):
            return None
        return name
