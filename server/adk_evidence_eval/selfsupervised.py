"""Questions generated from the corpora: training and test data that need neither people nor golden queries.

A question takes its words from one place, and its targets are other places in files without those words, so that a
search cannot find a target by the question's text. The place of the words is the question's `source`, which scores
leave out. The same index gives the same questions.

| kind | the question | its targets |
| --- | --- | --- |
| docstring | first sentence of a method's docstring | the bodies of its overrides in other files |
| heading | title and heading of a section of the docs | the sections of other pages that it links to |
| example | heading and prose before a Python example | the definitions that the example imports |
| import | first sentence of a class's or function's docstring | the sections of the docs whose code imports it |
| changelog | a line of a change log | the definitions that it names in code style |
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adk_evidence.models.chunk import sha256_text
from adk_evidence_eval.chunks import IndexedFiles
from adk_evidence_eval.definitions import Definition, module_definitions, overrides
from adk_evidence_eval.golden import GoldenQuestion, Span, Target, golden_lines
from adk_evidence_eval.pages import PageSection, page_sections, plain, resolve_link

# Raise it when the same corpora give other questions.
VERSION = 1
KINDS = ("docstring", "heading", "example", "import", "changelog")
MIN_WORDS = 5
MAX_WORDS = 60
# A question with more answers is too broad to say which of them are right.
MAX_TARGETS = 6
# A name that more sections import says nothing about any of them.
MAX_IMPORTING = 12
# As many words of the question in a row in a target's file give the answer away.
LEAK_WORDS = 6
_DOCS, _CODE = SOURCES = ("adk_docs", "adk_python")
# Headings that stand on many pages.
_GENERIC = re.compile(
    r"(?:prerequisites?|requirements|next steps?|what'?s next|see also|overview|introduction|get(?:ting)? started|"
    r"(?:additional )?resources|(?:additional )?features|limitations|examples?|quickstart|use with agent)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_CHANGELOG = re.compile(r"(?:^|/)(?:changelog|changes|release-notes|history)[^/]*\.(?:md|rst|txt)$", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*[*-]\s+(.*\S)")
_COMMIT_LINK = re.compile(r"\(\[[0-9a-f#]+\]\([^)]*\)\)|,?\s*(?:closes|fixes)\s+\[#.*$", re.IGNORECASE)
_NAMED = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")


@dataclass(frozen=True)
class Corpora:
    """The files of both corpora, text by path, with what is in them."""

    docs: Mapping[str, str]
    code: Mapping[str, str]

    @cached_property
    def sections(self) -> list[PageSection]:
        pages = sorted(path for path in self.docs if path.endswith(".md"))
        return [section for path in pages for section in page_sections(path, self.docs[path])]

    @cached_property
    def definitions(self) -> list[Definition]:
        modules = sorted(path for path in self.code if path.endswith(".py"))
        return [one for path in modules for one in module_definitions(path, self.code[path])]

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """Public definitions by their unqualified names."""
        found: dict[str, list[Definition]] = {}
        for one in self.definitions:
            if not one.name.startswith("_"):
                found.setdefault(one.name, []).append(one)
        return found

    @cached_property
    def importing(self) -> dict[str, list[PageSection]]:
        """Sections by the names that their code imports from the ADK, but for names that too many sections import."""
        found: dict[str, list[PageSection]] = {}
        for section in self.sections:
            for name in dict.fromkeys(name for _, name in section.imports()):
                found.setdefault(name, []).append(section)
        return {name: sections for name, sections in found.items() if len(sections) <= MAX_IMPORTING}

    def imported(self, name: str) -> Definition | None:
        """The one class or function of a module that a name means; None where there are several."""
        found = [one for one in self.by_name.get(name, ()) if "." not in one.symbol]
        return found[0] if len(found) == 1 else None

    def leaks(self, query: str, target: Span) -> bool:
        """Whether the target's file holds the query, or as many of its words in a row as give the answer away."""
        text = _words_of((self.docs if target.corpus == _DOCS else self.code)[target.path])
        words = _words(query)
        length = min(LEAK_WORDS, len(words))
        runs = (f" {' '.join(words[start : start + length])} " for start in range(len(words) - length + 1))
        return any(run in text for run in runs)


@functools.cache
def _words_of(text: str) -> str:
    return f" {' '.join(_words(text))} "


def make_questions(corpora: Corpora, per_kind: int) -> list[GoldenQuestion]:
    """Up to `per_kind` questions of each kind, spread over the corpora by a hash, in the order of `KINDS`."""
    questions: list[GoldenQuestion] = []
    seen: set[str] = set()
    for kind in KINDS:
        found: dict[str, GoldenQuestion] = {}
        for query, source, targets in _MAKERS[kind](corpora):
            question = _question(kind, corpora, query, source, targets)
            if question is not None and question.query.lower() not in seen:
                seen.add(question.query.lower())
                found[question.id] = question
        questions += [found[name] for name in sorted(found)[:per_kind]]
    return questions


_Draft = tuple[str, Span, Sequence[Target]]


def _question(
    kind: str, corpora: Corpora, query: str, source: Span, targets: Sequence[Target]
) -> GoldenQuestion | None:
    query = " ".join(query.split())
    if not MIN_WORDS <= len(_words(query)) <= MAX_WORDS:
        return None
    unique = {(target.path, target.start_line): target for target in targets}
    clean = tuple(target for target in unique.values() if not corpora.leaks(query, target))
    if not clean or len(unique) > MAX_TARGETS:
        return None
    name = hashlib.sha256(f"{query}\0{source.path}\0{source.start_line}".encode()).hexdigest()[:12]
    return GoldenQuestion(id=f"{kind}-{name}", query=query, category=kind, source=source, expected=clean)


def _docstrings(corpora: Corpora) -> Iterator[_Draft]:
    for method, found in overrides(corpora.definitions):
        targets = [_definition_target(one, one.end) for one in found if one.path != method.path]
        yield method.summary, _span(_CODE, method.path, method.start, method.end), targets


def _headings(corpora: Corpora) -> Iterator[_Draft]:
    by_page: dict[str, list[PageSection]] = {}
    for section in corpora.sections:
        by_page.setdefault(section.path, []).append(section)
    for section in corpora.sections:
        if _GENERIC.match(section.heading):
            continue
        linked = [resolve_link(section.path, link) for link in section.links]
        targets = []
        for path, anchor in (place for place in linked if place is not None and place[0] != section.path):
            pages = by_page.get(path, [])
            named = [one for one in pages if one.anchor == anchor] if anchor else pages[:1]
            targets += [_section_target(one) for one in named[:1]]
        query = section.heading if section.heading == section.title else f"{section.title}: {section.heading}"
        yield query, _span(_DOCS, section.path, section.start, section.end), targets


def _examples(corpora: Corpora) -> Iterator[_Draft]:
    for section in corpora.sections:
        imported = [corpora.imported(name) for _, name in section.imports() if name in corpora.importing]
        targets = [_definition_target(one, one.head_end) for one in imported if one is not None]
        first = min((code.line for code in section.code), default=0)
        before = [text for line, text in section.prose if line < first]
        if before:
            yield f"{section.heading}: {before[-1]}", _span(_DOCS, section.path, section.start, section.end), targets


def _imports(corpora: Corpora) -> Iterator[_Draft]:
    for name, found in corpora.importing.items():
        one = corpora.imported(name)
        if one is not None:
            source = _span(_CODE, one.path, one.start, one.head_end)
            yield one.summary, source, [_section_target(section) for section in found]


def _changelogs(corpora: Corpora) -> Iterator[_Draft]:
    for corpus, files in ((_CODE, corpora.code), (_DOCS, corpora.docs)):
        for path, text in sorted(files.items()):
            if not _CHANGELOG.search(path):
                continue
            for number, line in enumerate(text.split("\n"), 1):
                entry = _ENTRY.match(line)
                if entry is None:
                    continue
                names = [name.rpartition(".")[2] for name in _NAMED.findall(entry[1])]
                found = [corpora.by_name.get(name, []) for name in names]
                targets = [_definition_target(ones[0], ones[0].head_end) for ones in found if len(ones) == 1]
                yield plain(_COMMIT_LINK.sub("", entry[1])), _span(corpus, path, number, number), targets


_MAKERS: Mapping[str, Callable[[Corpora], Iterator[_Draft]]] = {
    "docstring": _docstrings,
    "heading": _headings,
    "example": _examples,
    "import": _imports,
    "changelog": _changelogs,
}


def describe(questions: Sequence[GoldenQuestion], files: Mapping[str, IndexedFiles]) -> dict[str, Any]:
    """What a set was made from and how to know it again: hashes, commits, licences, questions of each kind."""
    counts = Counter(question.category for question in questions)
    return {
        "generator": f"adk-evidence eval selfsupervised, version {VERSION}",
        "sha256": sha256_text(golden_lines(questions)),
        "questions": {kind: counts[kind] for kind in KINDS},
        "corpora": {
            name: {"commit": corpus.commit, "license": corpus.license, "sha256": _hash(corpus.texts)}
            for name, corpus in sorted(files.items())
        },
    }


def _hash(texts: Mapping[str, str]) -> str:
    return sha256_text("\n".join(f"{path} {sha256_text(text)}" for path, text in sorted(texts.items())))


def _span(corpus: str, path: str, start: int, end: int) -> Span:
    return Span(corpus=corpus, path=path, start_line=start, end_line=end)


def _definition_target(one: Definition, end: int) -> Target:
    return Target(corpus=_CODE, path=one.path, start_line=one.start, end_line=end, symbol=one.symbol)


def _section_target(section: PageSection) -> Target:
    return Target(
        corpus=_DOCS, path=section.path, start_line=section.start, end_line=section.end, heading=section.heading
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
