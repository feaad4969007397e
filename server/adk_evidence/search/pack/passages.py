"""Which parts of each result are shown: the units that match the question, with what names them.

A result is a chunk of some hundred tokens, of which a few lines answer. Its lines are cut into units (`readers.units`).
A unit scores by the question's words that it holds or that its heading or signature holds, each word weighted by how
rare the word is in the index, and by the similarity of the stored passage that covers the unit. What a unit announces
scores as high as the unit.

How much a unit is worth also depends on where its result stands. The share of lines that belong to an answer falls from
40 % in the first result to 3 % in the fifteenth, but within a result only from 16 % of the best units to 5 % of the
worst (labelled questions on the ADK). So the first results are shown nearly whole and the last ones hardly.

A unit that earlier results show already is not shown again.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adk_evidence.languages import BY_EXTENSION
from adk_evidence.models.chunk import TYPE_KINDS, ChunkPayload
from adk_evidence.models.pack import LineSpan, Part, Passage
from adk_evidence.readers.units import Unit, units, unpacked
from adk_evidence.search.candidates.lookup import passage_similarities
from adk_evidence.search.pack.words import QuestionWords, Words, tokens_of
from adk_evidence.search.stages import Encoded, Hit, Question
from adk_evidence.text.tokens import CHARS_PER_TOKEN, estimate_tokens

# A unit is worth its score, of which the best is 1, and this, over the place of its result and this place.
WORTH_BASE = 1.0
WORTH_PLACE = 2
# What is worth so much is shown where room is not short.
SHOWN_FROM = 0.14
# Also in the first results, what scores less than this does not match.
LEAST_SCORE = 0.1
# The best unit of a result is shown in any case, with the units that come so near to it.
NEAR_MOST = 0.9
# Where a field is asked for by its name, it scores so much more, and other units so much less.
ASKED = 1.5
# The share of the words in the score of a unit; the rest is the similarity, which counts from this much below the
# most similar unit of the chunk.
WORDS_SHARE = 0.5
SIMILARITY_RANGE = 0.3
# Fewer lines than this between two passages are shown, too.
GAP_LINES = 3
# What is shown around the line of a traceback: the condition above it, and the rest of its statement.
LINES_BEFORE = 2
LINES_BEHIND = 3
# Leaving out less than this is not worth the marker.
LEAST_TOKENS = 40
# So much of a unit's lines must stand in an earlier result for the unit to be left out.
REPEATED_SHARE = 0.8
# What no earlier result shows of one says nothing where it is shorter.
LEAST_CHARS = 40
# What no earlier result shows of one whose best lines are repeated is shown if it matches so well beside these.
SECOND_BEST = 0.5
# Shorter lines, such as brackets, stand everywhere.
_TELLING_CHARS = 12
# As many chunks as 85 answers show.
KEPT_CHUNKS = 1280
_INCLUDED = re.compile(r"^(?=\[INCLUDED [^\]\n]+\]$)", re.MULTILINE)
_INCLUDE = re.compile(r"^.*-8<-.*$", re.MULTILINE)
_HEADING = re.compile(r"#+ +(\w+(?: \w+)+)(?: *\{.*)?\s*")
# What begins and ends a block of code, and an item of a list.
_FENCES = ("```", "~~~")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


@dataclass(frozen=True)
class Excerpt:
    """What is shown of one result; without passages, `same_as` is the point that shows the same.

    `says` is whether more than headings and signatures is shown, and `best` are the lines that match best.
    """

    passages: tuple[Passage, ...] = ()
    parts: tuple[Part, ...] = ()
    attached: str = ""
    tokens: int = 0
    same_as: str | None = None
    says: bool = True
    best: LineSpan | None = None


def choose_passages(
    question: Question, encoded: Encoded, sought: QuestionWords, final: Sequence[Hit]
) -> dict[str, Excerpt]:
    """What to show of each final result, by point id."""
    similar = passage_similarities(question, encoded, final)
    shown = _Shown()
    return {
        hit.point_id: excerpt(hit, place, sought, similar.get(hit.point_id, ()), shown)
        for place, hit in enumerate(final)
    }


@dataclass
class _Shown:
    """The telling lines that are shown so far, each with the point that showed the line first."""

    lines: dict[str, str] = field(default_factory=dict)

    def holds(self, lines: Sequence[str]) -> str | None:
        """The point that shows most of some lines, if enough of them are shown."""
        telling = [line for line in lines if len(line) >= _TELLING_CHARS]
        holders = [self.lines[line] for line in telling if line in self.lines]
        if not holders or len(holders) < REPEATED_SHARE * len(telling):
            return None
        return Counter(holders).most_common(1)[0][0]

    def add(self, point: str, lines: Iterable[str]) -> None:
        for line in lines:
            if len(line) >= _TELLING_CHARS:
                self.lines.setdefault(line, point)


def excerpt(
    hit: Hit,
    place: int,
    sought: QuestionWords,
    similarities: Sequence[float] = (),
    shown: _Shown | None = None,
) -> Excerpt:
    """What to show of a result.

    Args:
        hit: The result.
        place: How many results stand before it.
        sought: The words of the question.
        similarities: Of the chunk's passages, in the order of `passage_lines`; empty where they are not known.
        shown: What the results before it show; what this result shows is added.
    """
    payload = hit.payload
    body = payload.body
    if not body.strip():
        return Excerpt()
    if not payload.has_lines or payload.start_col is not None:
        only = Passage(lines=LineSpan(start=payload.start_line, end=payload.end_line), text=body)
        return Excerpt((only,), tokens=estimate_tokens(body))
    chunk = _chunk(body, payload.lang, payload.start_line, payload.left_out, payload.units)
    if not chunk.wanted:
        # Every line is for other readers.
        return Excerpt()
    keys = sought.held_by(chunk.words)
    asked = [line - payload.start_line for line in hit.lines]
    meant = {
        n
        for n, unit in enumerate(chunk.units)
        if (asked and unit.holds(asked)) or not sought.names.isdisjoint(unit.names)
    }
    own = _with_meant(chunk, _scores(chunk, keys, sought, payload, similarities), meant)
    is_function = payload.kind == "code" and payload.symbol_kind not in TYPE_KINDS
    scores = _completed(chunk, own, is_function=is_function)
    near = max(LEAST_SCORE, SHOWN_FROM * (place + WORTH_PLACE) - WORTH_BASE)
    shown = _Shown() if shown is None else shown
    chosen = _near_best(chunk, scores, near) | meant
    held = _holders(chunk, chosen.union(chunk.wanted), shown)
    holder, kept = _without_repeated(chunk, chosen, held)
    if holder is not None:
        # What matches best may be what many sections say alike; the rest of this one may still answer.
        others = _others(chunk, own, near, held)
        if not others:
            return Excerpt(same_as=holder)
        _, kept = _without_repeated(chunk, others, held)
    if payload.kind == "doc" or payload.origin == "sample":
        kept |= _imports_of(chunk, kept, shown)
    lines = _with_gaps(chunk, kept)
    passages = tuple(_passages(chunk, lines, payload.start_line))
    shown.add(hit.point_id, (chunk.plain[line] for line in lines))
    attached = _attached(hit, sought, near, shown)
    tokens = sum(_tokens(passage.text) for passage in passages) + _tokens(attached)
    says = bool(attached) or any(chunk.units[number].says for number in kept)
    said = sorted(kept.intersection(chunk.wanted))
    # The lines of an included file are shown elsewhere, and nobody reads its path.
    said = [number for number in said if not chunk.only_includes(number)] or said
    best = chunk.spans[max(said, key=lambda number: scores[number])] if said else None
    if best is not None and asked and hit.named is not None and hit.named.role not in ("defines", "takes"):
        # A unit may have more lines than a reader sees: the call or the `raise` is to be among them.
        first = max(payload.start_line, hit.lines[0] - LINES_BEFORE)
        best = LineSpan(start=first, end=min(payload.end_line, hit.lines[0] + LINES_BEHIND))
    allowed = kept | ({*chunk.visible} - held.keys())
    worth = [(WORTH_BASE + score) / (place + WORTH_PLACE) for score in scores]
    parts = _parts(chunk, allowed, worth)
    return Excerpt(passages, parts, attached, tokens, None, says, best)


def _parts(chunk: _Chunk, units: Collection[int], worth: Sequence[float]) -> tuple[Part, ...]:
    """Some units as parts of a result."""
    told = [(number, span) for number in sorted(units) if (span := chunk.spans[number]) is not None]
    # Numbers of units become places among the parts: a border of code needs the border behind it.
    places = {number: place for place, (number, _) in enumerate(told)}
    return tuple(
        Part(
            lines=span,
            worth=round(worth[number], 3) if number in chunk.telling else None,
            needs=tuple([places[need] for need in chunk.units[number].needs if need in places]),
        )
        for number, span in told
    )


@dataclass(frozen=True)
class _Chunk:
    """The lines of a chunk with its units; `hidden` are the lines that are for other readers, by number from 0;
    line 0 is line `start` of the file."""

    lines: Sequence[str]
    units: Sequence[Unit]
    texts: Sequence[str]
    words: Words
    hidden: frozenset[int]
    start: int

    @functools.cached_property
    def plain(self) -> list[str]:
        """The lines with single spaces, without indentation and what tells asynchronous code from other code."""
        return [" ".join([word for word in line.split() if word not in ("async", "await")]) for line in self.lines]

    @functools.cached_property
    def spans(self) -> list[LineSpan | None]:
        """The lines of each unit, from the first to the last that says something, as numbers of the file."""
        said = [bool(line.strip()) and number not in self.hidden for number, line in enumerate(self.lines)]
        found: list[LineSpan | None] = []
        for unit in self.units:
            first, last = unit.start, unit.end - 1
            while first <= last and not said[first]:
                first += 1
            while first <= last and not said[last]:
                last -= 1
            found.append(LineSpan(start=self.start + first, end=self.start + last) if first <= last else None)
        return found

    def only_includes(self, number: int) -> bool:
        """Whether a unit is nothing but a block that names included files."""
        unit = self.units[number]
        lines = [line.strip() for line in self.lines[unit.start : unit.end]]
        told = [line for line in lines if line and not line.startswith(_FENCES)]
        return bool(told) and all(_INCLUDE.fullmatch(line) for line in told)

    @functools.cached_property
    def telling(self) -> frozenset[int]:
        """The numbers of the units that may be shown for what they say, or for the names that they import."""
        return frozenset([*self.wanted, *(number for number, unit in enumerate(self.units) if unit.binds)])

    @functools.cached_property
    def visible(self) -> list[int]:
        """The numbers of the units that may be shown; all units where none of them says anything."""
        told = [number for number, text in enumerate(self.texts) if text.strip()]
        said = [number for number in told if self.units[number].says]
        return [number for number in told if self.units[number].role != "idle"] if said else told

    @functools.cached_property
    def wanted(self) -> list[int]:
        """The numbers of the units that are shown for what they say."""
        said = [number for number in self.visible if self.units[number].says]
        return said or self.visible


@functools.lru_cache(maxsize=2 * KEPT_CHUNKS)
def _tokens(text: str) -> int:
    return estimate_tokens(text)


@functools.lru_cache(maxsize=KEPT_CHUNKS)
def _chunk(body: str, lang: str, start: int, left_out: tuple[tuple[int, int, str], ...] = (), kept: str = "") -> _Chunk:
    lines = body.split("\n")
    hidden = frozenset(line - start for first, last, _ in left_out for line in range(first, last + 1))
    # Included files have no units of their own in a payload.
    found = unpacked(kept) if kept else units(lines, lang)
    if hidden:
        texts = ["\n".join([lines[n] for n in range(one.start, one.end) if n not in hidden]) for one in found]
    else:
        texts = ["\n".join(lines[one.start : one.end]) for one in found]
    # The path of an included file is no word of the page.
    words = Words.of([_INCLUDE.sub("", text) if "8<" in text else _with_name(text) for text in texts])
    return _Chunk(lines, found, texts, words, hidden, start)


def _with_name(text: str) -> str:
    """A text; a heading also gets the name that it spells, as `before_model_callback` of "Before Model Callback"."""
    heading = _HEADING.fullmatch(text)
    return f"{text} {'_'.join(heading[1].split())}" if heading else text


def _scores(
    chunk: _Chunk,
    keys: Sequence[frozenset[object]],
    sought: QuestionWords,
    payload: ChunkPayload,
    similarities: Sequence[float],
) -> list[float]:
    """The scores of the units, of which the best has about 1."""
    # What names every unit tells none of them from the others.
    shared = frozenset.intersection(*(frozenset(chunk.units[number].needs) for number in chunk.wanted))
    by_words = []
    for number, unit in enumerate(chunk.units):
        named = keys[number].union(*(keys[need] for need in unit.needs if need not in shared))
        by_words.append(sought.score(named))
    most = max(by_words[number] for number in chunk.wanted) or 1.0
    scores = [score / most for score in by_words]
    near = _by_lines(chunk, payload, similarities)
    if near:
        nearest = max(near[number] for number in chunk.wanted)
        nearness = [max(0.0, 1 - (nearest - one) / SIMILARITY_RANGE) for one in near]
        scores = [WORDS_SHARE * one + (1 - WORDS_SHARE) * other for one, other in zip(scores, nearness, strict=True)]
    if payload.symbol_kind in TYPE_KINDS and payload.symbol in sought.names:
        # Who asks for a class wants to know its fields.
        scores = [
            max(scores) if unit.role == "field" else score for unit, score in zip(chunk.units, scores, strict=True)
        ]
    return scores


def _with_meant(chunk: _Chunk, scores: list[float], meant: Collection[int]) -> list[float]:
    """The scores, in which the units that are meant, and the first unit below each of them, get the highest one.

    Of a class, hardly anything but the fields that are asked for is of use.
    """
    if not meant:
        return scores
    below = {next((n for n in chunk.wanted if one in chunk.units[n].needs), one) for one in meant}
    change = ASKED if any(chunk.units[number].role == "field" for number in meant) else 0.0
    best = (max(scores) or 1.0) + change
    return [best if number in meant or number in below else score - change for number, score in enumerate(scores)]


def _by_lines(chunk: _Chunk, payload: ChunkPayload, similarities: Sequence[float]) -> list[float]:
    """The similarity of the passages that cover each unit; empty where that is not known."""
    starts = [line - payload.start_line for line in payload.passage_lines]
    if not starts or len(starts) != len(similarities):
        return []
    # Behind the passages of the page stand those of the files that the page includes.
    starts = starts[: next((n for n in range(1, len(starts)) if starts[n] < starts[n - 1]), None)]
    found = []
    for unit in chunk.units:
        first = max(0, bisect.bisect_right(starts, unit.start) - 1)
        last = max(first + 1, bisect.bisect_left(starts, unit.end))
        found.append(max(similarities[first:last]))
    return found


def _near_best(chunk: _Chunk, scores: Sequence[float], near: float) -> set[int]:
    """The units that come near the best one, and what names them."""
    best = max(scores[number] for number in chunk.wanted)
    kept = {number for number in chunk.wanted if scores[number] >= min(near, NEAR_MOST * best)}
    kept |= {need for number in kept for need in chunk.units[number].needs if chunk.units[need].role != "idle"}
    if chunk.visible and chunk.units[chunk.visible[0]].role == "label":
        kept.add(chunk.visible[0])
    rest = sum(len(chunk.texts[number]) for number in chunk.visible if number not in kept)
    return kept if rest >= LEAST_TOKENS * CHARS_PER_TOKEN else kept | set(chunk.visible)


def _completed(chunk: _Chunk, scores: list[float], *, is_function: bool = False) -> list[float]:
    """The scores, in which what completes a unit scores as high as the unit.

    These are the unit behind the best one, the code or the list that a sentence announces, and the best statements of
    a function whose docstring matches.
    """
    found = list(scores)
    best = max(chunk.wanted, key=lambda number: scores[number])
    for number in chunk.wanted:
        announces = chunk.texts[number].rstrip().endswith(":")
        if number == best or announces:
            for other in _following(chunk, number, whole=announces):
                found[other] = max(found[other], found[number])
    told = [number for number in chunk.wanted if chunk.units[number].role == "docstring"]
    body = [number for number in chunk.wanted if chunk.units[number].role == "text"]
    if is_function and told and body:
        first = max(body, key=lambda number: found[number])
        found[first] = max(found[first], *(found[number] for number in told))
    return found


def _following(chunk: _Chunk, number: int, *, whole: bool) -> list[int]:
    """The unit that completes a unit: the code below a step, the result of a call; the `whole` block of code or list.

    A field says nothing of the field above, and a definition nothing of the definition above.
    """
    # Of code, the imports alone say nothing; `_imports_of` shows those that the code uses.
    after = [other for other in chunk.wanted if other > number and not chunk.units[other].binds]
    if not after or "field" in (chunk.units[number].role, chunk.units[after[0]].role):
        return []
    needs = set(chunk.units[after[0]].needs)
    if not set(chunk.units[number].needs) <= needs:
        return []
    found = after[:1]
    in_code = any(chunk.texts[need].lstrip().startswith(_FENCES) for need in needs)
    for other in after[1:] if whole else ():
        of_list = all(_ITEM.match(chunk.texts[one]) for one in (after[0], other))
        if not (needs <= set(chunk.units[other].needs) and (in_code or of_list)):
            break
        found.append(other)
    return found


def _others(chunk: _Chunk, scores: Sequence[float], near: float, held: Mapping[int, str]) -> set[int]:
    """The best units that no earlier result shows; none where these are the lesser part, or match much less."""
    new = [number for number in chunk.wanted if number not in held]
    much = sum(len(chunk.texts[number]) for number in new) > sum(
        len(chunk.texts[number]) for number in chunk.wanted if number in held
    )
    if not much or max(scores[number] for number in new) < SECOND_BEST * max(scores[number] for number in chunk.wanted):
        return set()
    left = [0.0 if number in held else score for number, score in enumerate(scores)]
    return _near_best(chunk, _completed(chunk, left), near)


def _holders(chunk: _Chunk, numbers: Iterable[int], shown: _Shown) -> dict[int, str]:
    """Those of some units that earlier results show, each with the point that shows most of the unit."""
    # Most texts share no line with others.
    if shown.lines.keys().isdisjoint(chunk.plain):
        return {}
    found: dict[int, str] = {}
    for number in numbers:
        unit = chunk.units[number]
        holder = shown.holds([chunk.plain[n] for n in range(unit.start, unit.end) if n not in chunk.hidden])
        if holder is not None:
            found[number] = holder
    return found


def _without_repeated(chunk: _Chunk, kept: set[int], holders: Mapping[int, str]) -> tuple[str | None, set[int]]:
    """The units that no earlier result shows, behind the point of the one that shows all but a line of them."""
    wanted = [number for number in kept if number in chunk.wanted]
    left = {number for number in wanted if number not in holders}
    if len(left) == len(wanted):
        return None, kept
    if sum(len(chunk.texts[number]) for number in left) < LEAST_CHARS:
        old = sorted(number for number in wanted if number in holders)
        return Counter(holders[number] for number in old).most_common(1)[0][0], set()
    # The labels of what is repeated would name nothing; the first one names the whole.
    left |= {need for number in left for need in chunk.units[number].needs}
    left |= {number for number in chunk.visible[:1] if chunk.units[number].role == "label"}
    return None, left & kept


def _imports_of(chunk: _Chunk, kept: set[int], shown: _Shown) -> set[int]:
    """The imports of an example that bind names which its shown units use, as far as no earlier result shows them."""
    found = {number for number, unit in enumerate(chunk.units) if unit.binds and _uses(chunk, kept, unit)} - kept
    new = {n for n in found if shown.holds(chunk.plain[chunk.units[n].start : chunk.units[n].end]) is None}
    return new.union(*(chunk.units[number].needs for number in new))


def _uses(chunk: _Chunk, kept: set[int], imports: Unit) -> bool:
    """Whether a shown unit of the same code block uses a name that a statement imports; prose has words like them."""
    block = set(imports.needs)
    inside = (chunk.texts[number] for number in kept if block <= set(chunk.units[number].needs))
    return any(name in text and name in tokens_of(text) for text in inside for name in imports.binds)


def _with_gaps(chunk: _Chunk, kept: set[int]) -> set[int]:
    """The lines of the units, and of short gaps between them in which nothing idle stands."""
    lines: set[int] = set()
    previous: int | None = None
    for number in sorted(kept):
        unit = chunk.units[number]
        if previous is not None and number > previous + 1:
            between = range(previous + 1, number)
            gap = range(chunk.units[previous].end, unit.start)
            imports = bool(chunk.units[previous].binds and unit.binds)
            if len(gap) <= GAP_LINES and (imports or all(other in chunk.visible for other in between)):
                lines.update(gap)
        lines.update(range(unit.start, unit.end))
        previous = number
    return lines - chunk.hidden


def _passages(chunk: _Chunk, lines: set[int], start: int) -> Iterable[Passage]:
    """Runs of lines without empty lines at their ends."""
    run: list[int] = []
    for line in [*sorted(lines), -1]:
        if run and line != run[-1] + 1:
            while run and not chunk.lines[run[-1]].strip():
                run.pop()
            while run and not chunk.lines[run[0]].strip():
                run.pop(0)
            if run:
                span = LineSpan(start=start + run[0], end=start + run[-1])
                yield Passage(lines=span, text="\n".join(chunk.lines[run[0] : run[-1] + 1]))
            run = []
        run.append(line)


def _attached(hit: Hit, sought: QuestionWords, near: float, shown: _Shown) -> str:
    """The parts of the included files that are worth showing, without licence, imports and what is shown already.

    A page may include one file in several places, and the file may be a result as well.
    """
    files = []
    for part in _INCLUDED.split(hit.payload.attached):
        header, _, text = part.strip("\n").partition("\n")
        language = BY_EXTENSION.get("." + header.rstrip("]").rpartition(".")[2])
        chunk = _chunk(text, language.lang if language else "", 1)
        if chunk.wanted:
            keys = sought.held_by(chunk.words)
            files.append((header, chunk, keys, max(sought.score(keys[number]) for number in chunk.wanted)))
    best = max((score for *_, score in files), default=0.0)
    parts = []
    for header, chunk, keys, score in files:
        if score < near * best:
            continue
        kept = _near_best(chunk, _completed(chunk, _scores(chunk, keys, sought, hit.payload, ())), near)
        holder, kept = _without_repeated(chunk, kept, _holders(chunk, kept, shown))
        if holder is not None:
            continue
        lines = _with_gaps(chunk, kept | _imports_of(chunk, kept, shown))
        shown.add(hit.point_id, (chunk.plain[line] for line in lines))
        parts.append("\n".join([header, *_with_counts(tuple(_passages(chunk, lines, 1)))]))
    return "\n\n".join(parts)


def _with_counts(passages: Sequence[Passage]) -> Iterator[str]:
    """Passages of an included file, and how many lines stand between them."""
    for number, passage in enumerate(passages):
        if number:
            yield f"[... {passage.lines.start - passages[number - 1].lines.end - 1} lines]"
        yield passage.text
