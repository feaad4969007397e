"""With what classes are made: the constructor of a class, or else its fields, as the ranked targets know them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.render.signatures import DEPRECATED, with_deprecated

if TYPE_CHECKING:
    from adk_evidence.targets.search import TargetSearch
    from adk_evidence.targets.target import Target


_NAME = re.compile(r"[\w.]+")
# Bases of other packages that bring no fields.
_WITHOUT_FIELDS = frozenset({"BaseModel", "ABC", "Generic", "Protocol", "object"})


class Constructor(NamedTuple):
    """How a class is made, e.g. `Runner(agent: Agent, app: App | None = None)`.

    The parameters of a class `of_fields` are its fields and those that it inherits, passed by name.
    """

    signature: str
    of_fields: bool


def class_of(search: TargetSearch, payload: ChunkPayload) -> Target | None:
    """The public class that a chunk of code is of, or a part of; None where there is none."""
    about = search.set.about
    # Lines of an earlier state of the files, and of other versions, may have other parameters.
    if search.set.stale or (payload.repo, payload.commit) != (about.repo, about.commit):
        return None
    symbol = payload.symbol or ""
    name = symbol if payload.symbol_kind == "class" else symbol.rpartition(".")[0]
    named = (search.targets[place] for place in search.names.ending(name)) if name else ()
    return next((one for one in named if one.type == "class" and one.path == payload.path), None)


def constructor(search: TargetSearch, payload: ChunkPayload) -> Constructor | None:
    """How the class is made that begins in a chunk of its own.

    None where the chunk begins no public class, or where nothing is known of how the class is made.
    """
    if payload.symbol is None or payload.symbol_kind != "class" or payload.symbol not in payload.symbols:
        return None
    target = class_of(search, payload)
    return made(search, target) if target is not None else None


def made(search: TargetSearch, target: Target) -> Constructor | None:
    """How a public class is made; None where nothing is known of that."""
    signature = target.signatures[0]
    if not target.is_bare_class:
        return Constructor(with_deprecated(signature, target.deprecated_parameters), False)
    # The attributes of enumerations and other classes are no parameters.
    fields = [_parameter(one) for one in search.fields.of(target) if not one.endswith(DEPRECATED)]
    if not fields or not target.is_model:
        return None
    known = {search.by_fqn[base].name for base in target.bases if base in search.by_fqn} | _WITHOUT_FIELDS
    if not known.issuperset(name.rpartition(".")[2] for name in _NAME.findall(signature.partition("(")[2])):
        fields.append("...")
    return Constructor(f"{target.symbol}(*, {', '.join(fields)})", True)


def _parameter(field: str) -> str:
    """A field as a parameter: what a model makes of it is left out."""
    return field.partition(" -> ")[0]
