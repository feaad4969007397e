"""Tells of evidence that shows or names what the answering version of the ADK lacks or has otherwise."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from adk_evidence.checks.drift import Checked, Deviation, DriftChecker, checker_for
from adk_evidence.checks.prose import prose_deviations
from adk_evidence.citations.anchor import Corpus
from adk_evidence.errors import EvidenceError
from adk_evidence.languages import language_of_file
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import Candidate, Drift, LineSpan
from adk_evidence.readers.pages.includes import find_includes
from adk_evidence.readers.pages.snippets import snippets_of
from adk_evidence.search.stages import Hit, Question
from adk_evidence.text.textfile import split_lines

# The most names that one piece of evidence lists.
MAX_NAMES = 8
# No version of the ADK has a longer name. What no version has is a text of the corpus, and stands outside of quotes.
MAX_STRANGE_CHARS = 50
KEPT_PAGES = 256
# The most files that a page's includes are read of.
MAX_INCLUDED_FILES = 100


def with_drift(
    question: Question, final: Sequence[Hit], candidates: Sequence[Candidate], corpora: Mapping[str, Corpus]
) -> tuple[Candidate, ...]:
    """The candidates of the final results with the names that the searched version lacks.

    `corpora` are the files of the index's corpora, by their names.
    """
    checker = _checker(question)
    if checker is None:
        return tuple(candidates)
    made = []
    for hit, candidate in zip(final, candidates, strict=True):
        intact = candidate.verification.state == "exact"
        found = _drift(checker, hit.payload, corpora.get(hit.payload.source_name) if intact else None)
        made.append(candidate.model_copy(update={"drift": found}) if found else candidate)
    return tuple(made)


def check_ahead(question: Question, corpora: Mapping[str, Corpus]) -> Iterator[str]:
    """Check the pages of the searched index, as many as are kept, before a question shows them.

    Yields the path of each page once it is checked, so that the caller can stop or wait between two pages. A page takes
    some milliseconds, a long one with much code up to 80.

    Args:
        question: Says what is searched.
        corpora: The files of the index's corpora, by their names.
    """
    checker = _checker(question)
    entries = question.index.manifest.corpora if checker is not None else {}
    pages = (
        (path, lang, corpora[name])
        for name, corpus in sorted(entries.items())
        if corpus.kind == "doc" and corpus.source != "api-reference"
        for path in sorted(corpus.files)
        if (lang := language_of_file(path)) in ("md", "py")
    )
    for path, lang, source in itertools.islice(pages, KEPT_PAGES):
        text = _text(source, path)
        if checker is not None and text is not None:
            _page_of(checker, text, lang, source)
            yield path


def _checker(question: Question) -> DriftChecker | None:
    """A checker for the searched version, which knows the parameters that docstrings of the version call deprecated."""
    search = question.targets_of_version
    return checker_for(question.scope.version, search.deprecated() if search is not None else frozenset())


def _drift(checker: DriftChecker, payload: ChunkPayload, source: Corpus | None) -> tuple[Drift, ...]:
    # The reference is made of the code itself.
    if payload.kind != "doc" or payload.origin == "api-reference" or not payload.has_lines:
        return ()
    found: dict[tuple[str, bool], Drift] = {}
    page = _text(source, payload.path)
    in_code = _deviations(checker, payload, source, page)
    shown = {one.symbol.rpartition(".")[2] for one in in_code}
    for one in (*in_code, *_in_prose(checker, payload, page or payload.body, shown)):
        key = (one.symbol, one.kind == "await")
        if key in found or _is_strange(one):
            continue
        if payload.start_line <= one.first + 1 and one.last < payload.end_line:
            found[key] = Drift(
                kind=one.kind,
                symbol=one.symbol,
                version=checker.version,
                lines=LineSpan(start=one.first + 1, end=one.last + 1),
                until=one.until,
                since=one.since,
                instead=one.instead,
                text=one.text,
            )
    # What the version lacks counts more than what it calls deprecated.
    order = sorted(found.values(), key=lambda one: one.kind == "deprecated")
    return tuple(order[:MAX_NAMES])


def _in_prose(checker: DriftChecker, payload: ChunkPayload, page: str, shown: Collection[str]) -> Iterator[Deviation]:
    """The deviations of the prose of a chunk, without names that its code shows and lines for other readers."""
    if payload.lang != "md" or payload.for_language is not None:
        return
    first = payload.start_line
    left_out = {line - first for start, end, _ in payload.left_out for line in range(start, end + 1)}
    for one in prose_deviations(checker, split_lines(payload.body), page, left_out):
        if one.symbol not in shown:
            yield replace(one, first=one.first + first - 1, last=one.last + first - 1)


def _is_strange(one: Deviation) -> bool:
    known = one.kind in ("deprecated", "await") or one.since is not None or one.until is not None
    return not known and max(map(len, re.split(r"[.(]", one.symbol))) > MAX_STRANGE_CHARS


def _deviations(
    checker: DriftChecker, payload: ChunkPayload, source: Corpus | None, page: str | None
) -> tuple[Deviation, ...]:
    """The deviations of the code that a chunk shows: names that its page imports above the chunk are known in it.

    Without a source that still holds the chunk, the chunk is read alone.
    """
    first, last = payload.start_line - 1, payload.end_line - 1
    if source is None or page is None:
        alone = "\n" * (payload.start_line - 1) + payload.body
        return _page(checker, alone, payload.lang, ()).within(first, last)
    return _page_of(checker, page, payload.lang, source).within(first, last)


def _page_of(checker: DriftChecker, text: str, lang: str, source: Corpus) -> Checked:
    included = ((path, _text(source, path)) for path in _included_paths(text, lang))
    return _page(checker, text, lang, tuple((path, read) for path, read in included if read is not None))


def _text(source: Corpus | None, path: str) -> str | None:
    with suppress(EvidenceError):
        return source.read(path) if source is not None else None
    return None


@functools.lru_cache(maxsize=KEPT_PAGES)
def _included_paths(text: str, lang: str) -> tuple[str, ...]:
    """The programs that a page includes, sorted."""
    if lang != "md":
        return ()
    paths = {include.path for _, include in find_includes(split_lines(text)) if include.path.endswith(".py")}
    return tuple(sorted(paths)[:MAX_INCLUDED_FILES])


# By the texts themselves, so that a page that changes is read anew.
@functools.lru_cache(maxsize=KEPT_PAGES)
def _page(checker: DriftChecker, text: str, lang: str, included: tuple[tuple[str, str], ...]) -> Checked:
    files = dict(included)
    may_concern = checker.may_concern((text, *files.values()), {})
    return checker.check(snippets_of(split_lines(text), lang, files.get) if may_concern else ())
