"""Results that hold what the user pasted, word for word but for what varies; and places that define a name asked for.

The keyword branch finds such texts, among others that use the same words elsewhere; here their texts are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import Kind
from adk_evidence.models.named import Named, NamedRole
from adk_evidence.render.signatures import takes
from adk_evidence.search.candidates.hybrid import search_collection
from adk_evidence.search.candidates.phrases import Phrase, holding_line, raising_line, row_of
from adk_evidence.search.question.query import Query
from adk_evidence.search.stages import Hit, QueryVectors, Question
from adk_evidence.text.identifiers import ends_with

# A name that more places define, such as `run`, names none of them.
MAX_DEFINING = 3
_SENTENCE = re.compile(r"[.;!?]\s")
# A quotation inside a question; a shorter one is a name.
_QUOTATION = re.compile(r"[\"“`]([^\"“”`\n]{20,600})[\"”`]")
# What looks like a value in a message: a quotation of few words, and a token with a digit, of several parts or with
# underscores. A longer quotation is the message itself, as a KeyError or an answer in JSON has it.
_QUOTED_VALUE = re.compile(r"(?<!\w)(?:(['\"`])(?:(?!\1)\S){0,200}(?: (?:(?!\1)\S){1,200}){0,2}\1)(?!\w)")
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
_ERROR = _Check(depth=16, shortest=3, beside=2, least=3, share=0.4, near=0.1, most=6)
# What Python itself says, whatever code runs. Other code raises nothing that only shares words with that.
_OF_PYTHON = re.compile(
    r"""^'[^'\n]*'\ object\ (?:has\ no\ attribute|is\ not\ \w+|does\ not\ support)\b
    | ^type\ object\ '[^'\n]*'\ has\ no\ attribute\b
    | ^coroutine\ '[^'\n]*'\ was\ never\ awaited | \bcan't\ be\ used\ in\ 'await'\ expression
    | \(\)\ (?:got\ an\ unexpected\ keyword\ argument|missing\ \d+\ required|takes\ .{1,40}\ positional\ argument)
    | ^cannot\ import\ name\  | ^No\ module\ named\  | ^name\ '[^'\n]*'\ is\ not\ defined""",
    re.VERBOSE,
)
# So many words has a message that is known where code only mentions it.
_MENTIONED = 6
# So many words of a message are searched alone.
_FIRST_WORDS = 8
# Messages have fewer parts between their values; each one more multiplies the time of a search.
_PARTS = 4
_VALUE_OF_PYTHON = re.compile(r"'[^'\n]*'|\d+|^[\w.]+(?=\(\))")
# Whoever pastes a sentence or a line changes little but line breaks and markup.
_TEXT = _Check(depth=12, shortest=3, beside=2, least=5, share=0.85, near=0.1, most=4)
# What has fewer lines beside the place that asks says nothing else.
_LEAST_BESIDE = 3


def find_quoted(question: Question, kind: Kind, hits: Sequence[Hit]) -> list[Hit]:
    """The chunks of a kind that hold the pasted text, the best first; `hits` are what the search found of that kind."""
    query = question.query
    check = _ERROR if query.is_error else _TEXT
    of_python = _as_python_says(query.message) if query.is_error else None
    phrases = [phrase for text in _phrases(query) if len((phrase := Phrase.of(text)).words) >= check.least]
    if not phrases:
        return []
    raised = f" raise {query.error_type.lower()} " if query.error_type else ""
    found: list[tuple[float, bool, int, Hit]] = []
    candidates = {hit.point_id: (hit, rank) for hit, rank in _by_keywords(hits, check.depth)}
    if query.is_error:
        # Where the message ends and the user goes on is not known.
        sentence = _SENTENCE.split(query.message, maxsplit=1)[0]
        first = " ".join((_fixed(sentence) or sentence).split()[:_FIRST_WORDS])
        for fixed in dict.fromkeys((first, _fixed(query.message))):
            alone = _by_keywords(_with_words(question, kind, fixed, check.depth), check.depth)
            for hit, rank in alone:
                candidates.setdefault(hit.point_id, (hit._replace(fused_rank=0, branches=()), rank))
    phrases += [Phrase.of(fixed) for fixed in map(_fixed, _phrases(query)) if query.is_error and fixed]
    for hit, rank in candidates.values():
        body = hit.payload.body
        if of_python is not None:
            if of_python.search(body):
                found.append((1.0, False, rank, hit._replace(named=Named("holds_message"))))
            continue
        lower = body.lower()
        likely = [phrase for phrase in phrases if phrase.may_be_covered(lower, check.share)]
        makes = holding_line(body, query.message) if query.is_error and kind == "code" else None
        if not likely and makes is None:
            continue
        row = row_of(body)
        shares = [one.covered(row, min(check.shortest, len(one.words)), check.beside) for one in likely]
        share = 1.0 if makes is not None else max(shares)
        if share < check.share:
            continue
        if not query.is_error:
            found.append((share, False, rank, hit._replace(named=Named("holds_text"))))
            continue
        raises = bool(raised) and raised in row
        # Part of a message may be chance. A short message that code only mentions comes from elsewhere.
        is_mention = kind == "code" and makes is None and len(phrases[0].words) < _MENTIONED
        if (share < _TEXT.share or is_mention) and not raises:
            continue
        role: NamedRole = "holds_message" if share >= _TEXT.share else "holds_part"
        raising = raising_line(hit.payload, Phrase.of(query.message), query.error_type)
        made = hit.payload.start_line + makes if makes is not None and hit.payload.has_lines else None
        line = raising.line if raising is not None else made
        lines = (line,) if line is not None else ()
        found.append((share, raises, rank, hit._replace(named=Named(role), lines=lines)))
    best = max((share for share, *_ in found), default=0.0) - check.near
    kept = sorted((one for one in found if one[0] >= best), key=lambda one: (not one[1], -one[0], one[2]))
    return [hit for *_, hit in kept[: check.most]]


def asking_last(question: Question, ranked: Sequence[Hit]) -> list[Hit]:
    """The hits. In a codebase, those that hold the lines that ask come last, and no longer count as named or close.

    A hit that holds hardly another line is left out.
    """
    settings, place = question.settings, question.request.asked_at
    if place is None or not isinstance(settings, CodebaseSettings):
        return list(ranked)
    answering, asking = list[Hit](), list[Hit]()
    for hit in ranked:
        payload = hit.payload
        is_there = place.path == settings.codebase.path / payload.path
        if not is_there or not place.lines.touches(payload.start_line, payload.end_line):
            answering.append(hit)
            continue
        lines = enumerate(payload.body.split("\n"), payload.start_line)
        if sum(bool(line.strip()) for number, line in lines if number not in place.lines.numbers) >= _LEAST_BESIDE:
            asking.append(hit._replace(named=None, similarity=None))
    return [*answering, *asking]


def _fixed(message: str) -> str:
    """The words of a message that do not look like values; "" where too few of them are left."""
    tokens = [token for token in _QUOTED_VALUE.sub(" ", message).split() if not _VALUE.search(token)]
    return " ".join(tokens) if len(tokens) >= _ERROR.least else ""


def _as_python_says(message: str) -> re.Pattern[str] | None:
    """What a text must hold to tell of a message that Python itself makes, with any values; None of other messages."""
    if not _OF_PYTHON.search(message):
        return None
    fixed = [part for part in _VALUE_OF_PYTHON.split(message.partition("\n")[0]) if part.strip(" .:()")]
    return re.compile(".{1,100}?".join(r"\s+".join(map(re.escape, part.split())) for part in fixed[:_PARTS]))


def find_defined(query: Query, hits: Sequence[Hit]) -> Iterator[Hit]:
    """The definitions of names that are asked for without a question, where few places in the code define them.

    A name that nothing defines in its own case is one in another case, or else may be a parameter.
    """
    if query.kind != "names":
        return
    for name in query.code_identifiers:
        last = name.rpartition(".")[2]
        owners = {part for part in query.code_identifiers if part != name}
        named = [
            (hit, symbol) for hit in hits for symbol in hit.payload.symbols if ends_with(symbol.lower(), last.lower())
        ]
        defining = [(hit, symbol) for hit, symbol in named if ends_with(symbol, last)] or named
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


def _with_words(question: Question, kind: Kind, fixed: str, depth: int) -> list[Hit]:
    """The hits for words of an error message that do not look like values.

    The values of a message, and their parts, stand in many texts that do not have the message.
    """
    if question.context.failed.sparse or not fixed:
        return []
    sparse = question.models.sparse.encode_query(f"{question.query.error_type} {fixed}".lower())
    vectors = QueryVectors(fixed, {}, sparse)
    found = question.scope.filters[kind]
    return search_collection(question.index, question.settings, kind, [vectors], limit=depth, filter=found)
