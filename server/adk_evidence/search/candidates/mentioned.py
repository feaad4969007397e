"""The definitions of what the words of a question name: they are results of their own, behind the best of the search.

Who asks how two classes work together is answered by a guide, but needs each of the classes to write the code. The
search finds texts on what most words of the question are about, and often none of a class that is named once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.named import Named
from adk_evidence.readers.definitions import read_definition
from adk_evidence.search.candidates.lookup import read_hits
from adk_evidence.search.ranking.merge import can_be_cited
from adk_evidence.search.run import Hit, Run
from adk_evidence.store.base import Match
from adk_evidence.targets.mentions import Mention, mentions

# How many of the first results stay before the definitions: those that move the question by default. From this place
# on, few lines are shown of a class that the question only names.
BEHIND = 3
# More would push out what the search found.
MAX_MENTIONED = 4


def find_mentioned(run: Run) -> list[Hit]:
    """A hit for each chunk that defines what the question names, in the order of its words.

    Nothing is found where the index has no ranked targets. A collection that cannot answer is a warning.
    """
    query, failed = run.query, "code" in run.collections_failed
    wanted = "mentions" in run.settings.retrieval.named and "code" in run.kinds and query.kind == "question"
    # Who carries symbols as data has said which ones are meant.
    if not wanted or failed or run.request.symbols or not query.code_identifiers:
        return []
    search = run.targets()
    found = mentions(search, query.text, query.code_identifiers) if search is not None else []
    try:
        return _defining(run, found)[:MAX_MENTIONED]
    except CollectionUnavailableError as exc:
        run.without_collection("code", exc)
        return []


def follow(mentioned: Sequence[Hit], ranked: Sequence[Hit]) -> list[Hit]:
    """The ranked hits with the mentioned ones behind the first of them.

    What stands among the first stays there, and a class of which the first have a part or the constructor stays where
    the search placed it.
    """
    by_point = {hit.point_id: hit for hit in mentioned}
    marked = [_marked(hit, by_point.get(hit.point_id)) for hit in ranked]
    first, behind = marked[:BEHIND], {hit.point_id: hit for hit in marked[BEHIND:]}
    there = {hit.point_id for hit in first}
    moved = {
        point: behind.get(point, hit)
        for point, hit in by_point.items()
        if point not in there and not any(_is_of(one, hit) for one in first)
    }
    return [*first, *moved.values(), *(hit for point, hit in behind.items() if point not in moved)]


def _is_of(hit: Hit, whole: Hit) -> bool:
    """Whether a hit is another part, or the constructor, of the class that a hit begins."""
    name = whole.payload.symbol
    same_file = (hit.payload.path, hit.payload.commit) == (whole.payload.path, whole.payload.commit)
    return same_file and whole.payload.symbol_kind == "class" and hit.payload.symbol in (name, f"{name}.__init__")


def _marked(hit: Hit, mentioned: Hit | None) -> Hit:
    return hit if mentioned is None else hit._replace(mentioned=mentioned.mentioned, lines=mentioned.lines)


def _defining(run: Run, found: Sequence[Mention]) -> list[Hit]:
    """The chunks in which the definitions begin, each once, in the order of the mentions."""
    if not found:
        return []
    names = tuple(dict.fromkeys(mention.target.name for mention in found))
    paths = tuple(dict.fromkeys(mention.target.path for mention in found))
    defining = read_hits(run, "code", Match("path", paths), Match("names", names))
    hits = [hit for hit in defining if can_be_cited(hit.payload, published=False)]
    chosen: dict[str, tuple[Hit, list[Mention]]] = {}
    for mention in found:
        hit = _definition(hits, mention)
        if hit is not None:
            chosen.setdefault(hit.point_id, (hit, []))[1].append(mention)
    return [_said(hit, own) for hit, own in chosen.values()]


def _definition(hits: Iterable[Hit], mention: Mention) -> Hit | None:
    """The chunk in which what a mention means begins."""
    target = mention.target
    held = (hit for hit in hits if hit.payload.path == target.path and target.symbol in hit.payload.symbols)
    return next(held, None)


def _said(hit: Hit, own: Sequence[Mention]) -> Hit:
    payload = hit.payload
    names = tuple(mention.name for mention in own)
    spans = [read_definition(payload, mention.target.symbol).lines for mention in own if mention.is_member]
    whole = LineSpan(start=payload.start_line, end=payload.end_line)
    return hit._replace(mentioned=Named("defines", names), lines=tuple(span.start for span in spans if span != whole))
