"""Searches ranked targets by name, by words, by meaning, and by all of them (ranked-target-search sections 3.4, 4)."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix, Once
from adk_evidence.embedding.bm25 import Bm25Encoder
from adk_evidence.errors import ModelError, StoreError, TargetsMissingError
from adk_evidence.settings import Settings
from adk_evidence.targets.fields import Fields
from adk_evidence.targets.imports import PublicImports, taken_from_elsewhere, used_of_modules, without_modules
from adk_evidence.targets.internals import HiddenNames
from adk_evidence.targets.members import Member, Members
from adk_evidence.targets.names import Names, compact
from adk_evidence.targets.sets import EXTRAS, OUTSIDE, TargetSet, load_hidden, load_texts
from adk_evidence.targets.takers import Takers
from adk_evidence.targets.target import AnswerMode, SearchMode, Target, Targets, Typed, Why
from adk_evidence.text.identifiers import (
    code_identifiers,
    expand_identifiers,
    is_code_like,
    is_internal,
    query_lexical_text,
)

EXACT_SCORE = 4.0
PREFIX_SCORE = 3.0
# How often the name of a target counts against a word of its docstring.
NAME_REPEATS = 3
# Below these similarities a word, or a whole name, is another word and not a slip.
SIMILAR_WORD = 0.75
SIMILAR_NAME = 0.8
MIN_FUZZY_CHARS = 4
CORRECTIONS = 3
# How far the rank of a target raises its score, in the lexical list and in the fused list.
LEXICAL_BOOST = 1.0
FUSED_BOOST = 0.5
# Weight of members for a question in words, which rather means a class than one of its methods.
MEMBER_WEIGHT = 0.9
FUSED_DEPTH = 50
# Weights of the lexical and the vector list by what the query was typed as.
WEIGHTS: Mapping[Typed, tuple[float, float]] = {"name": (1.0, 0.3), "code": (1.0, 0.6), "natural": (1.0, 1.0)}

# Matches that no similarity of meaning outdoes.
_BY_NAME = ("exact", "similar_name")
_MEMBER_NAME = re.compile(r"^(?:class |async )?(?:with )?(\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[\w.]{1,200}")
_LAST = "\U0010ffff"


@dataclass(frozen=True)
class Scored:
    """A target that was found: its place in the list of targets, its score and why.

    `member` is known where the query named a class and its member.
    """

    place: int
    score: float
    why: Why
    member: Member | None = None


def typed_as(query: str) -> Typed:
    """What a query was typed as: a name or its beginning, words with names among them, or natural language."""
    words = query.split()
    if len(words) == 1 and (is_code_like(words[0]) or words[0][:1].isupper()):
        return "name"
    return "code" if any(is_code_like(word) for word in words) else "natural"


class TargetSearch:
    """The searches in one set of targets. Methods may be called from several threads.

    Args:
        found: The set; its targets are in the order of their rank, and results are places in that list.
        settings: `retrieval.rrf_k` decides.
        embed_query: Encodes a query into a vector as long as those of the set.
    """

    def __init__(self, found: TargetSet, settings: Settings, embed_query: Callable[[str], list[float]]) -> None:
        self.set = found
        self.targets = found.targets
        known = Targets(found.targets)
        self.by_fqn, self.meant = known.by_fqn, known.meant
        self.names = TargetNames(found.targets)
        self.members = Members(known)
        self.fields = Fields(known)
        self._rrf_k = settings.retrieval.rrf_k
        self._command = settings.ingest_command
        self._embed_query = embed_query
        self.imports = Once(lambda: _imports(found))
        # The parameters that docstrings call deprecated, as `google.adk.runners.Runner(plugins=)`.
        self.deprecated = Once(
            lambda: frozenset(f"{one.fqn}({name}=)" for one in found.targets for name in one.deprecated_parameters)
        )
        self._hidden = Once(lambda: _load_hidden(found))
        self._extras = Once(lambda: load_texts(found, EXTRAS))
        self._words = Once(lambda: WordIndex(found.targets))
        self._elsewhere = Once(lambda: taken_from_elsewhere(found.targets))
        self.takers = Once(lambda: Takers(known, self.fields))
        self._outside = Once(lambda: without_modules(load_texts(found, OUTSIDE), found.targets))
        self._of_modules = Once(lambda: used_of_modules(found.targets, self._elsewhere()))

    def find(self, query: str, limit: int, mode: SearchMode, warnings: list[str]) -> tuple[list[Scored], AnswerMode]:
        """The best targets, best first, and how they were found: a name that is known is only looked up.

        The mode `auto` falls back on words where the dense model or the vectors are missing; `warnings` gets a
        sentence where the dense model failed, or where definitions beside the public symbols cannot be looked up.

        Raises:
            TargetsMissingError: The mode needs vectors, and the set has none.
            ModelError: The dense model that the mode needs cannot answer.
        """
        found = self._look_up(query, limit, warnings) if mode != "vector" else None
        if found is not None:
            return found
        answered: AnswerMode = mode if mode != "auto" else "lexical" if self.set.vectors is None else "hybrid"
        try:
            ranked = self.rank(query, limit, answered)
        except ModelError as exc:
            if mode != "auto":
                raise
            warnings.append(f"{exc.message} The targets are searched by words alone.")
            ranked, answered = self._by_words(query, limit), "lexical"
        asked = self._asked_members(query) if mode != "vector" else []
        places = {item.place for item in asked}
        return [*asked, *(item for item in ranked if item.place not in places)][:limit], answered

    def _look_up(self, query: str, limit: int, warnings: list[str]) -> tuple[list[Scored], AnswerMode] | None:
        """What a query is the name of, with what is near; None where it is to be searched for."""
        typed = typed_as(query)
        if typed != "name":
            each = self._each_named(query.split(), limit, warnings) if typed == "code" else None
            return (each[:limit], "lookup") if each else None
        by_name = self.names.look_up(query, limit)
        classes = self._hidden_classes(query, warnings)
        if classes:
            # `Graph` is rather the class of that name than a field `graph`.
            return [*classes, *by_name][:limit], "lookup"
        if _has_exact(by_name):
            # A member that was asked for with its class; of a bare name, many classes may have one.
            alone = "." in query and "." in self.targets[by_name[0].place].symbol
            return [*self._with_heirs(by_name[0], query), *by_name[1:]] if alone else by_name, "lookup"
        beside = self._beside_names(query, warnings)
        if beside:
            return beside[:limit], "lookup"
        named = self.members.look_up(query)
        if named is not None:
            # The class stands for a member that it lacks; `LlmAgent.out` is a beginning.
            owners = [Scored(place, PREFIX_SCORE, Why(match="prefix")) for place in named.owners]
            nearest: dict[int, Scored] = {}
            for item in (*by_name, *owners, *self._by_words(query, limit)):
                nearest.setdefault(item.place, item)
            return list(nearest.values())[:limit], "lexical"
        # `ReflectAnd` can only be part of a name; `Retry` can be a word as well.
        enough = 1 if is_code_like(query.strip()) else limit
        return (by_name, "lookup") if len(by_name) >= enough else None

    def _with_heirs(self, item: Scored, query: str) -> list[Scored]:
        named = self.members.look_up(query)
        heirs = [one for one in named.found if one.place == item.place] if named is not None else []
        return [replace(item, member=heirs[0])] if heirs else [item]

    def _beside_names(self, name: str, warnings: list[str]) -> list[Scored]:
        """What a name means that no target has itself: an inherited member, a constructor, a hidden definition."""
        made = self.members.constructed(name)
        if made:
            return [Scored(place, EXACT_SCORE, Why(match="exact")) for place in made]
        named = self.members.look_up(name)
        if named is not None and named.found:
            # The class goes with its member.
            found = [Scored(item.place, EXACT_SCORE, Why(match="exact"), item) for item in named.found]
            return [*found, *(Scored(place, PREFIX_SCORE, Why(match="prefix")) for place in named.owners)]
        return [_as_hidden(one) for one in self._hidden_names(name, warnings)]

    def _hidden_names(self, query: str, warnings: list[str]) -> list[Target]:
        name = query.strip().removesuffix("()")
        # Every other class has a method `__init__`.
        if not is_code_like(name) or name.startswith("__"):
            return []
        names = self._read_hidden(warnings)
        owner, _, member = name.rpartition(".")
        bases = (f"{base}.{member}" for base in self.members.bases(owner)) if owner else ()
        return names.look_up(name) or next((found for base in bases if (found := names.look_up(base))), [])

    def _hidden_classes(self, query: str, warnings: list[str]) -> list[Scored]:
        """The hidden classes that a single capitalised word names, where no public symbol has that very name."""
        name = query.strip()
        if is_code_like(name) or not name.isidentifier() or any(target.name == name for target in self.targets):
            return []
        found = self._read_hidden(warnings).look_up(name)
        return [_as_hidden(one) for one in found if one.symbol == name and one.type == "class"]

    def _read_hidden(self, warnings: list[str]) -> HiddenNames:
        names, unread = self._hidden()
        if unread and unread not in warnings:
            warnings.append(unread)
        return names

    def _each_named(self, words: Sequence[str], limit: int, warnings: list[str]) -> list[Scored] | None:
        """What the words of a query are the names of, in their order; None where one of them is no name.

        A name that a class among the words has as its member means that member.
        """
        if any(typed_as(word) != "name" for word in words):
            return None
        exact = {word: [one for one in self.names.look_up(word, limit) if one.why.match == "exact"] for word in words}
        owners = [word for word in words if any(self._is_class(one) for one in exact[word])]
        found: dict[tuple[int, str], Scored] = {}
        for word in words:
            inside = [] if word in owners else [self._beside_names(f"{owner}.{word}", warnings) for owner in owners]
            members = [one for each in inside for one in each if one.why.match == "exact"]
            meant = members or exact[word]
            meant = meant or [one for one in self._beside_names(word, warnings) if one.why.match == "exact"]
            if not meant:
                return None
            for item in meant:
                found.setdefault((item.place, item.member.target.fqn if item.member else ""), item)
        return list(found.values())

    def _is_class(self, item: Scored) -> bool:
        return self.meant(self.targets[item.place]).type == "class"

    def _asked_members(self, query: str) -> list[Scored]:
        """The members that a question names together with a class, as in `user_content of the callback context`."""
        names = [name for name in code_identifiers(query) if "." not in name] if typed_as(query) != "name" else []
        owners = self.members.owners_in(query) if names else []
        found: dict[str, Scored] = {}
        for name in names:
            meant = (self.members.look_up(f"{owner}.{name}") for owner in owners)
            for item in next((one.found for one in meant if one is not None and one.found), ()):
                # A field that only its class lists is found with the class.
                if item.target is self.targets[item.place]:
                    found.setdefault(item.target.fqn, Scored(item.place, EXACT_SCORE, Why(match="exact"), item))
        return list(found.values())

    def lacking(self, query: str) -> str:
        """A sentence that says that a query is the name of nothing, or "" where the query has a meaning."""
        name = query.removesuffix("()")
        # What holds other characters is no name, and would be shown as it is.
        if not _NAME.fullmatch(name):
            return ""
        first = name.partition(".")[0]
        if first in self._of_modules():
            # Neither a capital letter nor a field called `content` makes `Content` a name; a class of others does.
            if any(target.name == first for target in self.targets):
                return ""
        elif self.names.is_known(name) or not is_code_like(query):
            return ""
        named = self.members.look_up(name)
        if named is None:
            return f"No public symbol is called `{name}`{self._from_elsewhere(name)}; the nearest:"
        if named.found:
            return ""
        classes = (self.meant(self.targets[place]) for place in named.owners)
        outer = " and ".join(dict.fromkeys(f"`{base}`" for cls in classes for base in cls.outer_bases))
        unknown = f" (what it has from {outer} is not indexed)" if outer else ""
        return (
            f"Neither `{named.owner}` nor its public bases in the ADK have a public member `{named.name}`{unknown}; "
            "the nearest:"
        )

    def extra_with(self, module: str) -> str:
        """What brings a package that the code imports, e.g. `google-adk[mcp]` for `mcp.types`; "" of all others.

        Of a package that several extras bring parts of, such as `google.cloud`, nothing is known.
        """
        extras, parts = self._extras(), module.split(".")
        paths = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
        found = next((extras[path] for path in paths if path in extras), "")
        inside = {extra for path, extra in extras.items() if path.startswith(f"{module}.")}
        return found or (inside.pop() if len(inside) == 1 else "")

    def _from_elsewhere(self, name: str) -> str:
        """Where the code has the first parts of a dotted name from, if from another package; else ""."""
        known = self._known_of_module(name)
        statement = self.elsewhere(name)
        what = f"has `{known}`" if known else f"takes `{name.partition('.')[0]}`"
        return f": the code {what} from another package (`{statement}`)" if statement else ""

    def elsewhere(self, name: str) -> str:
        """The statement by which the code imports the first parts of a name from another package, or ""."""
        first = (self._known_of_module(name) or name).partition(".")[0]
        # What no signature names, the code inside of functions may.
        return self._elsewhere().get(first) or self._outside().get(name.partition(".")[0]) or ""

    def _known_of_module(self, name: str) -> str:
        """What a dotted name is of a module of another package, as the code has it: `types.Content`; or ""."""
        first, _, rest = name.partition(".")
        member = f"{first}.{rest.partition('.')[0]}"
        used = self._of_modules()
        known = used.get(first) or (member if member in used.values() else "")
        if not known:
            # `google.genai.types.Content`, where the code says `types.Content`.
            module, _, last = name.rpartition(".")
            package, _, alias = module.rpartition(".")
            is_same = self._elsewhere().get(alias) == f"from {package} import {alias}"
            known = f"{alias}.{last}" if is_same and f"{alias}.{last}" in used.values() else ""
        return known

    def rank(self, query: str, limit: int, mode: AnswerMode) -> list[Scored]:
        """The best targets by the search of a mode; the errors are those of `find`."""
        if mode == "lexical":
            return self._by_words(query, limit)
        if self.set.vectors is None:
            raise TargetsMissingError(
                "The list of symbols cannot be searched by meaning yet.", f"Run `{self._command}`."
            )
        if mode == "vector":
            return self._by_meaning(self.set.vectors, query, limit)
        if typed_as(query) == "name" and self.names.look_up(query, 1):
            # The dense model has nothing to add to a name.
            return self._by_words(query, limit)
        depth = max(FUSED_DEPTH, limit)
        lexical, vector = self._by_words(query, depth), self._by_meaning(self.set.vectors, query, depth)
        named = {item.place: number for number, item in enumerate(lexical) if item.why.match in _BY_NAME}
        fused = self._fuse(query, lexical, vector)
        return sorted(fused, key=lambda item: (named.get(item.place, len(lexical)), -item.score))[:limit]

    def _by_words(self, query: str, limit: int) -> list[Scored]:
        """Exact names first, then beginnings of names, then names that differ by a slip, then words by BM25.

        A score above 1 belongs to a name.
        """
        by_name = self.names.look_up(query, limit)
        found = {item.place: item for item in by_name}
        if not _has_exact(by_name):
            for place, similarity in self.names.similar(query):
                found.setdefault(place, Scored(place, 1.0 + similarity, Why(match="similar_name")))
        for place, score in self._words().search(query, limit):
            found.setdefault(place, Scored(place, score, Why(match="words")))
        best = sorted(found.values(), key=lambda item: -item.score)[:limit]
        return [
            replace(item, why=item.why.model_copy(update={"lexical_rank": rank, "lexical_score": round(item.score, 4)}))
            for rank, item in enumerate(best, 1)
        ]

    def _by_meaning(self, vectors: FloatMatrix, query: str, limit: int) -> list[Scored]:
        vector = np.array(self._embed_query(query), dtype=np.float32)
        vector /= max(float(np.linalg.norm(vector)), 1e-12)
        # Not `@`: the threads of BLAS would wait for those of the model, longer than one thread takes.
        similarities: NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector)
        return [
            Scored(
                int(place),
                float(similarities[place]),
                Why(match="meaning", vector_rank=rank, similarity=round(float(similarities[place]), 4)),
            )
            for rank, place in enumerate(_best(similarities, limit), 1)
        ]

    def _fuse(self, query: str, lexical: Sequence[Scored], vector: Sequence[Scored]) -> list[Scored]:
        """Reciprocal ranks, weighted by what the query was typed as; scores fall from 1."""
        scores: dict[int, float] = defaultdict(float)
        whys: dict[int, Why] = {}
        typed = typed_as(query)
        for_words, for_meaning = WEIGHTS[typed]
        for rank, item in enumerate(lexical, 1):
            # The score counts as well: the end of a list of words is chance matches.
            scores[item.place] += for_words * min(1.0, item.score) / (self._rrf_k + rank)
            whys[item.place] = item.why
        for rank, item in enumerate(vector, 1):
            scores[item.place] += for_meaning / (self._rrf_k + rank)
            why = {"vector_rank": item.why.vector_rank, "similarity": item.why.similarity}
            whys[item.place] = whys.get(item.place, item.why).model_copy(update=why)
        for place in scores:
            target = self.targets[place]
            scores[place] *= 1 + FUSED_BOOST * target.score
            if typed == "natural" and "." in target.symbol:
                scores[place] *= MEMBER_WEIGHT
        top = max(scores.values(), default=1.0)
        return [Scored(place, score / top, whys[place]) for place, score in scores.items()]


class TargetNames:
    """Look-ups by name in a list of targets. Results are places in that list, the highest ranked first."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets
        self._names = Names((target.fqn, target.import_path) for target in targets)
        self._symbols: dict[str, list[int]] = defaultdict(list)
        self._bare: dict[str, list[int]] = defaultdict(list)
        starts: list[tuple[str, int]] = []
        for place, target in enumerate(targets):
            self._symbols[compact(target.symbol)].append(place)
            self._bare[compact(target.name)].append(place)
            folded = {target.name.lower(), target.symbol.lower(), target.fqn.lower(), target.import_path.lower()}
            starts += [(start, place) for start in folded]
        self._similar_to = [name for name in self._bare if len(name) >= MIN_FUZZY_CHARS]
        self._starts = sorted(starts)

    def look_up(self, query: str, limit: int) -> list[Scored]:
        """Exact matches, then beginnings of names for a query that was typed as a name."""
        exact = self._named_in(query)[:limit]
        beginnings = self.prefix(query, limit) if typed_as(query) == "name" else []
        found = [Scored(place, EXACT_SCORE, Why(match="exact")) for place in exact]
        found += [Scored(place, PREFIX_SCORE, Why(match="prefix")) for place in beginnings if place not in exact]
        return found[:limit]

    def ending(self, name: str) -> list[int]:
        """Targets with a bare or dotted name, in its case; see `Names.ending`."""
        return self._names.ending(name)

    def is_known(self, query: str) -> bool:
        """Whether a query is the name of a target, or of a module or package that has targets."""
        module = f"{query.lower()}."
        start = bisect_left(self._starts, (module, 0))
        return bool(self._named_in(query)) or (start < len(self._starts) and self._starts[start][0].startswith(module))

    def prefix(self, beginning: str, limit: int) -> list[int]:
        """Targets whose bare or dotted name begins so in any case, those at the top of modules first."""
        wanted = beginning.strip().lower()
        if not wanted:
            return []
        start, end = bisect_left(self._starts, (wanted, 0)), bisect_left(self._starts, (wanted + _LAST, 0))
        places = {place for _, place in self._starts[start:end]}
        return sorted(places, key=lambda place: ("." in self._targets[place].symbol, place))[:limit]

    def similar(self, query: str) -> list[tuple[int, float]]:
        """Targets whose bare name differs from the query by a slip, with a similarity from 0 to 1."""
        wanted = compact(query)
        similar = _similar(wanted, self._similar_to, SIMILAR_NAME) if len(wanted) >= MIN_FUZZY_CHARS else []
        # The boost orders names that are equally similar.
        return [
            (place, similarity * float(_boost(self._targets[place])) / (1 + LEXICAL_BOOST))
            for name, similarity in similar
            for place in self._bare[name]
        ]

    def _named_in(self, query: str) -> list[int]:
        """Targets that a query names: the whole query, whatever its case and separators, then code names in it.

        A private name is no other spelling of a public one: `_LlmAgentMode` is not `LlmAgent.mode`.
        """
        whole = [] if len(query.split()) > 1 else self._names.ending(query, any_case=True)
        spelt_alike = [] if is_internal(query.strip()) else self._symbols.get(compact(query), [])
        found = whole or spelt_alike
        inside = (place for name in code_identifiers(query) for place in self._names.ending(name, any_case=True))
        return list(dict.fromkeys([*found, *inside]))


class WordIndex:
    """BM25 over the names, docstrings and signatures of targets, with slips in the query corrected."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._boost = np.array([_boost(target) for target in targets], dtype=np.float32)
        texts = [_lexical_text(target) for target in targets]
        words = [_WORD.findall(text) for text in texts]
        average = max(1.0, sum(map(len, words)) / max(1, len(words)))
        self._encoder = Bm25Encoder(average)
        self._postings = self._invert(texts)
        self._known = {word for text in words for word in text if len(word) > 2}
        self._vocabulary = sorted(self._known)

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Places of targets with scores from 0 to 1."""
        scores = np.zeros(len(self._boost), dtype=np.float32)
        for word, weight in self._corrected(query).items():
            for term in self._encoder.encode_query(word).indices:
                posting = self._postings.get(term)
                if posting is not None:
                    scores[posting[0]] += weight * posting[1]
        scores *= self._boost
        places = _best(scores, limit)
        top = float(scores[places[0]]) if len(places) else 0.0
        return [(int(place), float(scores[place]) / top) for place in places if scores[place] > 0]

    def _corrected(self, query: str) -> dict[str, float]:
        """The words of a query with their weights; a word that no target has brings the words it may mean."""
        weights: dict[str, float] = {}
        for word in dict.fromkeys(_WORD.findall(query_lexical_text(query))):
            weights[word] = 1.0
            if word in self._known or len(word) < MIN_FUZZY_CHARS or self._has_stem(word):
                continue
            # Somebody may still be typing the word.
            start = bisect_left(self._vocabulary, word)
            longer = [each for each in self._vocabulary[start : start + CORRECTIONS] if each.startswith(word)]
            similar = _similar(word, self._vocabulary, SIMILAR_WORD)
            for candidate, similarity in [*similar, *((each, SIMILAR_WORD) for each in longer)]:
                weights[candidate] = max(weights.get(candidate, 0.0), similarity)
        return weights

    def _has_stem(self, word: str) -> bool:
        terms = self._encoder.encode_query(word).indices
        return not terms or any(term in self._postings for term in terms)

    def _invert(self, texts: Sequence[str]) -> dict[int, tuple[NDArray[np.int64], FloatMatrix]]:
        """Places and IDF-weighted BM25 values by term."""
        lists: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, vector in enumerate(self._encoder.encode_documents(texts, "code")):
            for term, value in zip(vector.indices, vector.values, strict=True):
                lists[term].append((place, value))
        postings = {}
        for term, entries in lists.items():
            idf = math.log1p((len(texts) - len(entries) + 0.5) / (len(entries) + 0.5))
            places = np.array([place for place, _ in entries], dtype=np.int64)
            postings[term] = (places, np.array([value * idf for _, value in entries], dtype=np.float32))
        return postings


def _similar(word: str, known: Sequence[str], least: float) -> list[tuple[str, float]]:
    """The known words that differ from a word by slips, with a similarity from `least` to 1."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(word, known, scorer=OSA.normalized_similarity, score_cutoff=least, limit=CORRECTIONS)
    return [(candidate, similarity) for candidate, similarity, _ in found]


def _imports(found: TargetSet) -> PublicImports | None:
    # Lines of an earlier state of the files would name the wrong definitions.
    return None if found.stale else PublicImports(found.targets, found.about.repo, found.about.commit)


def _load_hidden(found: TargetSet) -> tuple[HiddenNames, str]:
    """The definitions beside the targets of a set, and a sentence where they cannot be read: few answers need them."""
    try:
        return HiddenNames(load_hidden(found)), ""
    except StoreError as exc:
        return HiddenNames([]), f"{exc.message} Private and internal names are not found. {exc.hint}"


def _as_hidden(target: Target) -> Scored:
    return Scored(-1, EXACT_SCORE, Why(match="exact"), Member(target, -1))


def _has_exact(by_name: Sequence[Scored]) -> bool:
    return bool(by_name) and by_name[0].why.match == "exact"


def _boost(target: Target) -> np.float32:
    return np.float32(1 + LEXICAL_BOOST * target.score)


def _best(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Places of the highest scores, the highest first; equal scores in the order of the targets' rank."""
    cut = np.partition(scores, -limit)[-limit] if limit < len(scores) else -np.inf
    places = np.flatnonzero(scores >= cut)
    order: NDArray[np.int64] = places[np.argsort(-scores[places], kind="stable")][:limit]
    return order


def _lexical_text(target: Target) -> str:
    own, *members = target.searched_signatures
    name = f"{target.symbol} " * NAME_REPEATS
    names_inside = " ".join(_MEMBER_NAME.findall("\n".join(members)))
    return expand_identifiers(f"{name}{target.import_path} {target.type} {target.summary} {own} {names_inside}")
