"""With what classes are made: the constructor of a class, or else its fields, as the ranked targets know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from adk_evidence.models.chunk import ChunkPayload

if TYPE_CHECKING:
    from adk_evidence.symbols.search import TargetSearch


class Constructor(NamedTuple):
    """How a class is made, e.g. `Runner(agent: Agent, app: App | None = None)`.

    The parameters of a class `of_fields` are its fields and those that it inherits, passed by name.
    """

    signature: str
    of_fields: bool


def constructor(search: TargetSearch, payload: ChunkPayload) -> Constructor | None:
    """How the class is made that begins in a chunk of its own.

    None where the chunk begins no public class, or where nothing is known of how the class is made.
    """
    about = search.set.about
    # Lines of an earlier state of the files, and of other versions, may have other parameters.
    if search.set.stale or (payload.repo, payload.commit) != (about.repo, about.commit):
        return None
    symbol = payload.symbol
    if symbol is None or payload.symbol_kind != "class" or symbol not in payload.symbols:
        return None
    named = (search.targets[place] for place in search.names.ending(symbol))
    target = next((one for one in named if one.type == "class" and one.path == payload.path), None)
    if target is None:
        return None
    signature = target.signatures[0]
    if not signature.startswith("class "):
        return Constructor(signature, False)
    fields = search.fields.of(target)
    return Constructor(f"{target.symbol}(*, {', '.join(fields)})", True) if fields else None
