"""How the classes among the results are made, where the results do not show that, and what takes their objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.readers.definitions import read_definition
from adk_evidence.render.signatures import parameter_names, with_parameters
from adk_evidence.search.pack.passages import Excerpt
from adk_evidence.search.stages import Hit
from adk_evidence.targets.constructors import class_of, constructor
from adk_evidence.targets.search import TargetSearch

# The most tokens of a signature: of a class that the question names, and of another one.
MAX_TOKENS = 160
MAX_OTHER_TOKENS = 40


def class_signatures(
    search: TargetSearch, names: Collection[str], final: Sequence[Hit], excerpts: Mapping[str, Excerpt]
) -> dict[str, str]:
    """The signatures of the classes that results begin, by point id.

    What does not fit goes from the last parameter on, but the parameters among the `names` of the question stay.
    Nothing is said of a class whose constructor, or whose fields, this result or one before it shows.
    """
    found: dict[str, str] = {}
    for place, hit in enumerate(final):
        payload, excerpt = hit.payload, excerpts[hit.point_id]
        made = constructor(search, payload) if payload.symbol_kind == "class" and excerpt.same_as is None else None
        own = f"{payload.symbol}.__init__"
        if made is None or any(_shows(one, excerpts[one.point_id], payload, own) for one in final[: place + 1]):
            continue
        named = hit.named is not None or (payload.symbol or "") in names
        signature = with_parameters(made.signature, MAX_TOKENS if named else MAX_OTHER_TOKENS, names)
        text = "\n".join(passage.text for passage in excerpt.passages)
        if not (made.of_fields and all(name in text for name in parameter_names(signature))):
            found[hit.point_id] = signature
    return found


def class_takers(
    search: TargetSearch, final: Sequence[Hit], excerpts: Mapping[str, Excerpt]
) -> dict[str, tuple[str, ...]]:
    """What takes the objects of the classes that results are of, by point id: for each class at its first result."""
    found: dict[str, tuple[str, ...]] = {}
    told: set[str] = set()
    for hit in final:
        cls = class_of(search, hit.payload) if hit.kind == "code" and excerpts[hit.point_id].same_as is None else None
        if cls is not None and cls.fqn not in told:
            told.add(cls.fqn)
            found[hit.point_id] = search.takers().of(cls)
    return found


def _shows(hit: Hit, excerpt: Excerpt, cls: ChunkPayload, symbol: str) -> bool:
    """Whether an excerpt shows where the constructor of a class begins; a signature is shown as a whole."""
    if hit.payload.path != cls.path or symbol not in hit.payload.symbols:
        return False
    line = read_definition(hit.payload, symbol).lines.start
    return any(passage.lines.touches(line, line) for passage in excerpt.passages)
