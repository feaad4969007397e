"""Which words and names of a question the index holds, and how far the results support the question.

A ranking always has a first result. Whether that result answers anything shows in four measures that mean the same for
every question: the share of the question's words that the results hold, each weighted by how rare the word is in the
index; the same share for pairs of neighbouring words within one result; the number of words that stand nowhere in the
index; and the similarity of the nearest passage. A logistic model joins them (`calibration.SupportWeights`).

An invented API shows by the absence of its name.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from adk_evidence.embedding.base import SparseVector
from adk_evidence.embedding.bm25 import load_stopwords, load_words
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.render import wording
from adk_evidence.search.calibration import Measures, Support, calibration_of
from adk_evidence.search.candidates.definitions import meaning
from adk_evidence.search.candidates.lookup import point_vectors
from adk_evidence.search.candidates.releases import missing_extras, names_in_error, told_by_releases
from adk_evidence.search.question.query import FILLER_WORDS_FILE, Query
from adk_evidence.search.question.versions import without_versions
from adk_evidence.search.stages import Candidates, Hit, Names, Question
from adk_evidence.store import base
from adk_evidence.store.base import Fusion, Prefetch
from adk_evidence.text.identifiers import code_identifiers, is_code_like, query_lexical_text

MAX_CHECKED_NAMES = 8
# A pasted traceback has hundreds of words; its first words say enough.
MAX_WORDS = 32
# Shorter words are too near to each other.
MIN_MISSPELT = 5
ALIKE = 0.8
# The highest weight of a term in a text is about this much above the weight 1 if the text repeats the term.
_REPEATED = 1.8
_WORD = re.compile(r"\w+")
_VALUES = re.compile(
    r"(?<!\w)(['\"])(?:(?!\1)[^\n]){1,400}\1(?!\w)|\[type=\w+, input_value=.{0,400}?, input_type=\w+\]"
)


def check_names(question: Question, candidates: Candidates) -> Names:
    """The names of a request, of which the first ones of the question are looked up in the index.

    Where the index proves nothing, they are looked up in the hits.

    The symbols of the request are known already, and names of the caller's own code need not be known. The names in an
    error message are values of the user, or stand in the code that raises the error; a name that an error says is
    missing may be of another version.
    """
    request, query, context = question.request, question.query, question.context
    for extra in missing_extras(question):
        context.warn(extra)
    if query.is_error:
        for name, told in names_in_error(question):
            context.warn(wording.unknown_name(name, told))
        return candidates.names
    own = set(request.own_names)
    known, unknown = list(candidates.names.known), list(candidates.names.unknown)
    # What stands in quotes, or is said of the input of a model of pydantic, is a value.
    said = _VALUES.sub(" ", request.query)
    named = set(query.names if query.kind == "names" else Query(said, (), tuple(code_identifiers(said))).names)
    for name in [name for name in query.names if name in named - own][:MAX_CHECKED_NAMES]:
        # The name as a whole: its single words are in many places.
        term = _exact_term(question, name)
        if term is None:
            known += [name] if _stands_in_hits(candidates, name) else []
        elif not term:
            continue
        elif any(_holds(question, kind, term) for kind in KINDS):
            known.append(name)
        elif name not in request.known_elsewhere:
            unknown.append(name)
            is_code = query.kind == "names" or _is_code(name, said)
            context.warn(wording.unknown_name(name, told_by_releases(question, name), is_code=is_code))
    return Names(tuple(known), tuple(unknown))


def _is_code(name: str, text: str) -> bool:
    """Whether a text writes a name as code; a name of words with capitals alone may be that of another product."""
    written = rf"(?:[.`]|\bimport ){re.escape(name)}\b|\b{re.escape(name)}[(`=.]"
    return "_" in name or re.search(written, text) is not None


def held_names(question: Question) -> frozenset[str]:
    """Those of the first names of the question, and of the symbols of the request, that the index holds for sure."""
    query, symbols = question.query, question.request.symbols if question.index.paths["code"] else ()
    held = {name for name in symbols if meaning(question, name) is not None}
    for name in () if query.is_error else query.names[:MAX_CHECKED_NAMES]:
        question.context.stop_if_cancelled()
        # A term that cannot be looked up counts as held by `_holds`, but says nothing for another index.
        if (term := _exact_term(question, name)) and any(_holds(question, kind, term) for kind in KINDS):
            held.add(name)
    return frozenset() if question.context.failed.collections else frozenset(held)


def _stands_in_hits(candidates: Candidates, name: str) -> bool:
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return any(word.search(hit.payload.text) for found in candidates.hits.values() for hit in found)


def measure_support(question: Question, final: Sequence[Hit]) -> Support:
    """How far the final results support the question."""
    calibration = calibration_of(question.settings)
    model = None if calibration is None else calibration.support
    words = _content_words(question.query.text)
    exact = _exact_term(question, "adk") is not None
    found = _by_terms(question, words, final) if exact else _by_texts(words, final)
    similarities = {hit.point_id: hit.similarity or 0.0 for hit in final}
    count = math.log1p(len(found.weights))

    def of(ids: Sequence[str], similarity: float) -> Measures:
        return Measures(found.coverage(ids), found.pairs(ids), similarity, count, float(len(found.absent)))

    together = of([hit.point_id for hit in final], max(similarities.values(), default=0.0))
    plain = _plain_words(question.query.text)
    support = Support(together, absent=tuple(word for word in found.absent if word in plain), weights=found.weights)
    if model is None or not exact:
        return support
    by_result = {point: of([point], near).score(model) for point, near in similarities.items()}
    return replace(support, score=together.score(model), by_result=by_result)


def _plain_words(text: str) -> frozenset[str]:
    """The words of a text that are neither numbers nor names in code, of which `check_names` tells, nor their parts."""
    tokens = (token.strip(".") for token in re.findall(r"[\w.]+(?:\(\))?", text))
    words = (word for token in tokens if not is_code_like(token) for word in _WORD.findall(token.lower()))
    return frozenset(word for word in words if not word.isdecimal())


def _content_words(question: str) -> list[str]:
    """The words that say what a question is about, in order, names with their parts, at most `MAX_WORDS`."""
    dull = load_stopwords() | load_words(FILLER_WORDS_FILE)
    words = _WORD.findall(query_lexical_text(without_versions(question)).lower())
    kept = [word for word in words if word not in dull]
    first = set(list(dict.fromkeys(kept))[:MAX_WORDS])
    return [word for word in kept if word in first]


@dataclass(frozen=True)
class _Found:
    """The question's words in order, their weights, the results that hold each, and the words that none can hold."""

    words: Sequence[str]
    weights: Mapping[str, float]
    holders: Mapping[str, set[str]]
    absent: tuple[str, ...] = ()

    def coverage(self, ids: Sequence[str]) -> float:
        """The weighted share of the words that any of the results holds; 1 for a question without such words."""
        total = math.fsum(self.weights.values())
        if not total:
            return 1.0
        wanted = set(ids)
        return math.fsum(weight for word, weight in self.weights.items() if self.holders[word] & wanted) / total

    def pairs(self, ids: Sequence[str]) -> float:
        """The weighted share of the pairs of neighbouring words that one result holds."""
        total = math.fsum(self._pairs.values())
        if not total:
            return self.coverage(ids)
        wanted, holders = set(ids), self.holders
        held = (weight for (one, other), weight in self._pairs.items() if holders[one] & holders[other] & wanted)
        return math.fsum(held) / total

    @functools.cached_property
    def _pairs(self) -> dict[tuple[str, str], float]:
        weights = self.weights
        return {(one, other): min(weights[one], weights[other]) for one, other in pairwise(self.words) if one != other}


def _by_terms(question: Question, words: Sequence[str], final: Sequence[Hit]) -> _Found:
    terms = {word: term for word in dict.fromkeys(words) if (term := _exact_term(question, word))}
    rarity = _rarity(question, terms)
    meant: dict[str, str] = {}
    vocabulary = functools.cache(lambda: _vocabulary(final))
    for word in [word for word, weight in rarity.items() if not weight]:
        likely = _correction(word, vocabulary)
        if likely and (term := _exact_term(question, likely)):
            meant[word], terms[likely] = likely, term
    rarity |= _rarity(question, {likely: terms[likely] for likely in meant.values()})
    # Two forms of a word are one term.
    first: dict[SparseVector, str] = {}
    said = [first.setdefault(terms[likely], likely) for word in words if (likely := meant.get(word, word)) in terms]
    wanted = {word: terms[word] for word in dict.fromkeys(said)}
    results: dict[str, set[str]] = {word: set() for word in wanted}
    among = frozenset(index for term in wanted.values() for index in term.indices)
    for point, held in _terms_of(question, final, among).items():
        for word, term in wanted.items() if held else ():
            if not held.isdisjoint(term.indices):
                results[word].add(point)
    # A word that cannot be looked up is not said to be missing.
    absent = () if question.context.failed.collections else tuple(word for word in wanted if not rarity[word])
    unheard = _REPEATED * math.log(2 * question.index.points + 2)
    return _Found(said, {word: rarity[word] or unheard for word in wanted}, results, absent)


def _rarity(question: Question, terms: Mapping[str, SparseVector]) -> dict[str, float]:
    """How rare each word is in the index: its best score there, 0 where the word stands nowhere."""
    rarity = dict.fromkeys(terms, 0.0)
    kept = question.index.term_weights
    for kind in KINDS:
        keys = {word: (kind, term) for word, term in terms.items()}
        weights = {word: weight for word, key in keys.items() if (weight := kept.peek(key)) is not None}
        new = [word for word in terms if word not in weights]
        found = _look_up(question, kind, [terms[word] for word in new])
        for word, hits in zip(new, found, strict=False):
            best = hits[0].score if hits else 0.0
            weights[word] = kept.get(keys[word], functools.partial(float, best))
        rarity |= {word: max(rarity[word], weight) for word, weight in weights.items()}
    return rarity


def _vocabulary(hits: Iterable[Hit]) -> list[str]:
    return sorted({word for hit in hits for word in _words_of(hit) if word.isalpha()})


def _correction(word: str, vocabulary: Callable[[], list[str]]) -> str | None:
    """The word of the results that a misspelt word probably means."""
    if len(word) < MIN_MISSPELT or not word.isalpha() or is_code_like(word):
        return None
    near = [one for one in vocabulary() if one[0] == word[0] and abs(len(one) - len(word)) <= 2]
    return next(iter(difflib.get_close_matches(word, near, 1, ALIKE)), None)


def _by_texts(words: Sequence[str], hits: Sequence[Hit]) -> _Found:
    """Where the sparse encoder cannot tell which words stand where: every word counts the same."""
    texts = {hit.point_id: _words_of(hit) for hit in hits}
    holders = {word: {point for point, text in texts.items() if word in text} for word in words}
    return _Found(words, dict.fromkeys(words, 1.0), holders)


def _words_of(hit: Hit) -> frozenset[str]:
    return frozenset(_WORD.findall(hit.payload.searched_text[hit.payload.body_start :].lower()))


def _exact_term(question: Question, name: str) -> SparseVector | None:
    """The single term by which the index knows a name; empty for a word that the index does not keep.

    None where the sparse encoder also finds related terms, or failed: then the absence of a name proves nothing.
    """
    if not question.models.sparse.exact_terms or question.context.failed.sparse:
        return None
    return question.models.sparse.encode_query(name.lower())


def _holds(question: Question, kind: Kind, term: SparseVector) -> bool:
    """Whether a collection holds a term. A term that cannot be looked up counts as held."""
    found = _look_up(question, kind, [term])
    return bool(found[0]) if found else True


def _terms_of(question: Question, hits: Sequence[Hit], among: frozenset[int]) -> dict[str, frozenset[int]]:
    """Those of some terms that each hit has, by point id, without hits of a collection that cannot answer."""
    found: dict[str, frozenset[int]] = {}
    for kind in KINDS:
        ids = [hit.point_id for hit in hits if hit.kind == kind]
        try:
            held = point_vectors(question, kind, ids if kind not in question.context.failed.collections else ())
        except CollectionUnavailableError as exc:
            question.context.without_collection(kind, exc)
            continue
        found |= {point: among.intersection(one.terms.tolist()) for point, one in held.items()}
    return found


def _look_up(question: Question, kind: Kind, terms: Sequence[SparseVector]) -> list[list[base.Hit]]:
    """The best point that holds each term, if any does; empty where the collection cannot answer."""
    if kind in question.context.failed.collections or not terms:
        return []
    store = question.settings.store
    branches = [Prefetch(store.sparse_vector, term, 1) for term in terms]
    try:
        # Nothing fused is wanted, so that no payload is read: from a server, that would be a second request.
        answer = question.index.store.hybrid_query(store.collection(kind), branches, Fusion(), limit=0)
    except CollectionUnavailableError as exc:
        question.context.without_collection(kind, exc)
        return []
    return answer.branches
