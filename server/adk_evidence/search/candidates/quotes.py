"""Results that hold what the user pasted, word for word but for what varies; and places that define a name asked for.

The keyword branch finds such texts, among others that use the same words elsewhere; here their texts are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from adk_evidence.models.chunk import Kind
from adk_evidence.models.named import Named, NamedRole
from adk_evidence.render.signatures import takes
from adk_evidence.search.candidates.hybrid import search_collection
from adk_evidence.search.candidates.phrases import Phrase, raising_line, row_of
from adk_evidence.search.question.query import Query
from adk_evidence.search.stages import Hit, QueryVectors, Question
from adk_evidence.text.identifiers import ends_with

# The part of a message that its fixed words usually make up.
WHOLE = 0.6
# A name that more places define, such as `run`, names none of them.
MAX_DEFINING = 3
_SENTENCE = re.compile(r"[.;!?]\s")
# A quotation inside a question; a shorter one is a name.
_QUOTATION = re.compile(r"[\"“`]([^\"“”`\n]{20,600})[\"”`]")
# What looks like a value in a message: a quotation, and a token with a digit, of several parts or with underscores.
_QUOTED_VALUE = re.compile(r"(?<!\w)(?:'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`)(?!\w)")
_VALUE = re.compile(r"\d|\w[./:\\-]\w|\w_\w")


class _Check(NamedTuple):
    """How much of a phrase a text must hold, and how many texts are read and led with.

    `depth` is the last rank of the keyword branch that is read. A phrase has at least `least` words. Of these, the
    `share` must stand in the text in runs: the longest of at least `shortest` words, the others of at least `beside`.
    Another text may hold less than the best, but not less than `near`.
    """

    depth: int
    shortest: int
    beside: int
    least: int
    share: float
    near: float
    most: int


# A message is known by its fixed words, of which few may be left; several places may raise the same message.
_ERROR = _Check(depth=16, shortest=2, beside=1, least=3, share=0.4, near=0.1, most=6)
# What Python itself says, whatever code runs. Other code raises nothing that only shares words with that.
_OF_PYTHON = re.compile(
    r"""^'[^'\n]*'\ object\ (?:has\ no\ attribute|is\ not\ \w+|does\ not\ support)\b
    | ^type\ object\ '[^'\n]*'\ has\ no\ attribute\b
    | ^coroutine\ '[^'\n]*'\ was\ never\ awaited | \bcan't\ be\ used\ in\ 'await'\ expression
    | \(\)\ (?:got\ an\ unexpected\ keyword\ argument|missing\ \d+\ required|takes\ .{1,40}\ positional\ argument)
    | ^cannot\ import\ name\  | ^No\ module\ named\  | ^name\ '[^'\n]*'\ is\ not\ defined""",
    re.VERBOSE,
)
# Messages have fewer parts between their values; each one more multiplies the time of a search.
_PARTS = 4
_VALUE_OF_PYTHON = re.compile(r"'[^'\n]*'|\d+|^[\w.]+(?=\(\))")
# Whoever pastes a sentence or a line changes little but line breaks and markup.
_TEXT = _Check(depth=12, shortest=3, beside=2, least=5, share=0.85, near=0.1, most=4)


def find_quoted(question: Question, kind: Kind, hits: Sequence[Hit]) -> list[Hit]:
    """The chunks of a kind that hold the pasted text, the best first; `hits` are what the search found of that kind."""
    query = question.query
    check = _ERROR if query.is_error else _TEXT
    of_python = _as_python_says(query.message) if query.is_error else None
    phrases = [phrase for text in _phrases(query) if len((phrase := Phrase.of(text)).words) >= check.least]
    if not phrases:
        return []
    raised = f" raise {query.error_type.lower()} " if query.error_type else ""
    found: list[tuple[float, int, Hit]] = []
    candidates = {hit.point_id: (hit, rank) for hit, rank in _by_keywords(hits, check.depth)}
    if query.is_error:
        alone = _by_keywords(_fixed_words(question, kind, check.depth), check.depth)
        candidates |= {hit.point_id: (hit._replace(fused_rank=0, branches=()), rank) for hit, rank in alone}
    for hit, rank in candidates.values():
        body = hit.payload.body
        if of_python is not None:
            if of_python.search(body):
                found.append((WHOLE, rank, hit._replace(named=Named("holds_message"))))
            continue
        lower = body.lower()
        likely = [phrase for phrase in phrases if phrase.may_be_covered(lower, check.share)]
        if not likely:
            continue
        row = row_of(body)
        share = max(phrase.covered(row, check.shortest, check.beside) for phrase in likely)
        if share >= check.share:
            raises = bool(raised) and raised in row
            role: NamedRole = "holds_text"
            if query.is_error:
                role = "holds_message" if share >= WHOLE else "holds_part"
            # Part of a message may be chance.
            if role == "holds_part" and not raises:
                continue
            lines = tuple(raising_line(hit.payload, Phrase.of(query.message))) if query.is_error else ()
            found.append((share + raises, rank, hit._replace(named=Named(role), lines=lines)))
    best = max((score for score, _, _ in found), default=0.0)
    kept = sorted((one for one in found if one[0] >= best - check.near), key=lambda one: (-one[0], one[1]))
    return [hit for _, _, hit in kept[: check.most]]


def _as_python_says(message: str) -> re.Pattern[str] | None:
    """What a text must hold to tell of a message that Python itself makes, with any values; None of other messages."""
    if not _OF_PYTHON.search(message):
        return None
    fixed = [part for part in _VALUE_OF_PYTHON.split(message.partition("\n")[0]) if part.strip(" .:()")]
    return re.compile(".{1,100}?".join(r"\s+".join(map(re.escape, part.split())) for part in fixed[:_PARTS]))


def find_defined(query: Query, hits: Sequence[Hit]) -> Iterator[Hit]:
    """The definitions of names that are asked for without a question, where few places in the code define them.

    A name that nothing defines may be a parameter.
    """
    if query.kind != "names":
        return
    for name in query.code_identifiers:
        last = name.rpartition(".")[2]
        owners = {part for part in query.code_identifiers if part != name}
        defining = [(hit, symbol) for hit in hits for symbol in hit.payload.symbols if ends_with(symbol, last)]
        exact = [
            (hit, symbol)
            for hit, symbol in defining
            if ends_with(symbol, name) and ("." in name or any(ends_with(symbol, f"{one}.{last}") for one in owners))
        ]
        found = exact or ([] if "." in name else defining)
        if found and len(found) <= MAX_DEFINING:
            yield from (hit._replace(named=Named("defines", (symbol,))) for hit, symbol in found)
        elif not defining:
            taking = [hit for hit in hits if hit.payload.signature and takes(hit.payload.signature, last)]
            yield from (hit._replace(named=Named("takes", (last,))) for hit in taking[:MAX_DEFINING])


def _phrases(query: Query) -> Sequence[str]:
    if query.traceback is not None:
        ends = (query.traceback.last, query.traceback.first)
        return list(dict.fromkeys(one.message for one in ends))
    if query.kind == "error":
        # Where the message ends and the user goes on, no line may end.
        return list(dict.fromkeys((query.message, _SENTENCE.split(query.message, maxsplit=1)[0])))
    return [] if query.kind == "names" else [query.text, *_QUOTATION.findall(query.text)]


def _by_keywords(hits: Iterable[Hit], depth: int) -> Iterator[tuple[Hit, int]]:
    """The hits that the keyword branch found first, each with its rank there."""
    for hit in hits:
        rank = next((place.rank for place in hit.branches if place.branch == "sparse"), depth + 1)
        if rank <= depth:
            yield hit, rank


def _fixed_words(question: Question, kind: Kind, depth: int) -> list[Hit]:
    """The hits for the words of an error message that do not look like values.

    The values of a message, and their parts, stand in many texts that do not have the message.
    """
    query = question.query
    tokens = _QUOTED_VALUE.sub(" ", query.message).split()
    fixed = " ".join(token for token in tokens if not _VALUE.search(token))
    if question.context.failed.sparse or len(fixed.split()) < _ERROR.least:
        return []
    sparse = question.models.sparse.encode_query(f"{query.error_type} {fixed}".lower())
    vectors = QueryVectors(fixed, {}, sparse)
    found = question.scope.filters[kind]
    return search_collection(question.index, question.settings, kind, [vectors], limit=depth, filter=found)
