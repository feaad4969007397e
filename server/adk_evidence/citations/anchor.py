"""Finds where a cited text is in another state or version of its source (design section 5).

The order is: the same text at its lines, the same text elsewhere in the file, the same syntax tree under the same name,
the same qualified name or heading; then what the file no longer has is looked for in other files of the corpus.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from operator import eq
from pathlib import PurePosixPath
from typing import Protocol

from adk_evidence.errors import SourceError
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan, Verification, VerificationState
from adk_evidence.readers.pages.sections import Section, find_section, heading_trail, sections, sections_of
from adk_evidence.readers.python import imports, parse
from adk_evidence.readers.syntax import definition_lines, find_same_tree, find_symbol, nearest
from adk_evidence.text.textfile import split_lines

# As many as a source keeps open: several citations of one answer, and of many answers, come from one file.
_KEPT_TEXTS = 64
# Shorter texts stand in several files by chance.
_MIN_TELLING_CHARS = 80
# How much must be left of a cited definition or section for its namesake in an unrelated file to be the same one.
_MIN_SHARED_LINES = 1 / 3
_MAX_HOPS = 8
# A text that stands in more places of a file is no sign of anything.
_MAX_PLACES = 1_000
# How many characters of other files one corpus reads: a few seconds' work, and for an answer some 100 ms.
_MAX_SEARCHED_CHARS = 50_000_000
_MAX_FOLLOWED_CHARS = 100_000
# Also what a condition or `try` guards.
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")


class Source(Protocol):
    """Reads the files of a corpus by their paths within the repository."""

    def read(self, path: str) -> str | None:
        """The text of a file with `\\n` newlines; None where there is no such text file."""

    def paths(self) -> Sequence[str]:
        """The paths of all files, sorted."""


class Corpus:
    """The files of a source as they are now; the texts of the last 64 that were read are kept.

    A corpus with more text than `_MAX_SEARCHED_CHARS` is not searched.

    Args:
        source: Reads the files.
        only_follow: Beyond the cited file, read only the files that imports of the cited name lead to. An answer looks
            no further, so that a text that is gone does not make a question slow in a large corpus.
    """

    def __init__(self, source: Source, *, only_follow: bool = False) -> None:
        self._source = source
        # Several citations of one answer are from one file, and to look at a file on disk takes longer than to compare.
        self._read = functools.lru_cache(maxsize=_KEPT_TEXTS)(source.read)
        self._only_follow = only_follow
        self._chars_left = _MAX_FOLLOWED_CHARS if only_follow else _MAX_SEARCHED_CHARS
        self._others: dict[str, str | None] = {}
        self._texts: dict[str, Mapping[str, str]] = {}
        self._sections: dict[tuple[str, str], tuple[Section, ...]] = {}

    def read(self, path: str) -> str | None:
        """The text of a file; fails as the source does."""
        return self._read(path)

    def texts(self, suffix: str) -> Mapping[str, str]:
        """The texts of all files of a suffix such as `.py`, by their paths in order, without unreadable files.

        There are none where the corpus is not searched: in a part of the files, one place may look like the only one.
        """
        if self._only_follow:
            return {}
        if suffix not in self._texts:
            found = {path: self.other(path) for path in self._paths if PurePosixPath(path).suffix == suffix}
            known = {path: text for path, text in found.items() if text is not None}
            self._texts[suffix] = known if self._chars_left else {}
        return self._texts[suffix]

    def other(self, path: str) -> str | None:
        """The text of a file beyond the cited one; None where it cannot be read or would be more than may be read."""
        if path not in self._others:
            text = self._quietly(path) if self._chars_left else None
            size = len(text or "")
            self._others[path] = text if size <= self._chars_left else None
            self._chars_left = max(0, self._chars_left - size)
        return self._others[path]

    def defining(self, name: str) -> list[str]:
        """The Python files that define a qualified name such as `Runner.run`."""
        texts = self.texts(".py")
        return [path for path in self._defining.get(name.partition(".")[0], ()) if definition_lines(name, texts[path])]

    def imported(self, path: str, name: str) -> str | None:
        """The other file that a module imports a top-level name from."""
        found = self._followed(path, name)
        return found if found != path else None

    def exported(self, path: str, name: str) -> str | None:
        """The file that the nearest of the packages around a module imports a top-level name from."""
        for folder in PurePosixPath(path).parents:
            found = self._followed(str(folder / "__init__.py"), name)
            if found is not None and found != path:
                return found
        return None

    def pages_with(self, cited: Cited) -> dict[str, list[LineSpan]]:
        """The lines of the sections below the cited headings, by pages of the cited page's suffix."""
        trail = heading_trail(cited)
        if not trail or not trail[-1]:
            return {}
        # Only pages with these words are worth reading as pages.
        words = set(_WORD.findall(cited.headings[-1].casefold()))
        found: dict[str, list[LineSpan]] = {}
        for path, text in self.texts(PurePosixPath(cited.path).suffix).items():
            folded = text.casefold()
            if all(word in folded for word in words):
                key = (path, cited.lang)
                if key not in self._sections:
                    self._sections[key] = tuple(sections(text, cited.lang))
                spans = [section.lines for section in self._sections[key] if section.trail == trail]
                found |= {path: spans} if spans else {}
        return found

    @cached_property
    def _paths(self) -> Sequence[str]:
        try:
            return self._source.paths()
        except SourceError:
            return ()

    @cached_property
    def _defining(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, text in self.texts(".py").items():
            for name in dict.fromkeys(_DEFINITION.findall(text)):
                found.setdefault(name, []).append(path)
        return found

    def _quietly(self, path: str) -> str | None:
        try:
            return self.read(path)
        except SourceError:
            return None

    def _followed(self, path: str, name: str) -> str | None:
        for _ in range(_MAX_HOPS):
            text = self.other(path)
            if text is None:
                return None
            if definition_lines(name, text):
                return path
            module, _, bound = _imported(text, ".".join(PurePosixPath(path).parts[:-1])).get(name, "").rpartition(".")
            place = self._file(module, path) if bound == name else None
            if place is None:
                return None
            path = place
        return None

    def _file(self, module: str, near: str) -> str | None:
        """The file of a module, whose dotted path starts at the root or at a folder above `near`."""
        parts = module.split(".")
        for folder in (PurePosixPath(), *PurePosixPath(near).parents):
            base = folder.joinpath(*parts)
            for path in (f"{base}.py", f"{base}/__init__.py"):
                if self.other(path) is not None:
                    return path
        return None


def anchor(cited: Cited, corpus: Corpus) -> Verification:
    """Where a cited text is now.

    Returns:
        `exact`: the cited lines have the text. `moved`: the same text, character by character, stands at other lines.
        `same_tree`: Python code with the same syntax tree stands under the same name. `changed`: only the qualified
        name or the heading is left, at the given lines. `gone`: nothing is left. `path` names the file where it is
        not the cited one.

    Raises:
        SourceError: The source cannot be read.
    """
    text = corpus.read(cited.path)
    found = None if text is None else anchor_within(cited, text)
    if found is not None:
        return found
    beyond = _beyond(cited, corpus)
    if beyond is not None:
        return beyond
    missing = (
        "The file is no longer there." if text is None else "Neither its text nor its name is in the file any more."
    )
    return Verification(state="gone", reason=missing)


def anchor_within(cited: Cited, text: str) -> Verification | None:
    """Where a cited text is in one text of its file; None where nothing of it is left."""
    if _stands_alone(cited, text):
        return Verification(state="exact")
    lines = _lines(text)
    holds = cited_lines(cited, lines) == cited.body
    found = _occurrences(cited, text)
    too_many = len(found) == _MAX_PLACES
    if holds and (len(found) < 2 or too_many):
        return Verification(state="exact")
    if too_many:
        return _by_name(cited, text)
    named = _named(cited, text)
    # The same text may stand in another definition, for instance where two classes have the same method.
    own = [span for span in found if any(span.touches(one.start, one.end) for one in named)]
    if holds and (cited.lines in own or not own):
        return Verification(state="exact")
    place = nearest(own if own or (_is_python(cited) and named) else found, cited)
    if place is not None:
        return Verification(state="moved", lines=place, reason="The same text stands at other lines.")
    return _by_name(cited, text)


def _stands_alone(cited: Cited, text: str) -> bool:
    """Whether whole lines stand where they were cited, and nowhere else, as nearly all that is checked do."""
    body = cited.body
    place = text.find(body)
    end = place + len(body)
    if place < 0 or cited.start_col is not None or text.find(body, place + 1) >= 0:
        return False
    begins = not place or text[place - 1] == "\n"
    ends = text[end : end + 1] == "\n" or (end == len(text) and not body.endswith("\n"))
    first = text.count("\n", 0, place) + 1
    return begins and ends and (first, first + body.count("\n")) == (cited.start_line, cited.end_line)


def cited_lines(cited: Cited, lines: Sequence[str]) -> str:
    """What stands now where a text was cited."""
    joined = "\n".join(lines[cited.start_line - 1 : cited.end_line])
    return joined if cited.start_col is None else joined[cited.start_col : cited.end_col]


# Texts are long, and are hashed once.
@functools.lru_cache(maxsize=_KEPT_TEXTS)
def _lines(text: str) -> list[str]:
    return split_lines(text)


def _occurrences(cited: Cited, text: str) -> list[LineSpan]:
    """The lines of the places of a text where the cited text stands, at most `_MAX_PLACES`; whole lines, unless columns
    say otherwise.
    """
    body = cited.body
    if not body.strip():
        return []
    edge = "\n" if cited.start_col is None else ""
    # The newline that ends the last line is no line of its own.
    haystack, needle = edge + text.removesuffix("\n") + edge, edge + body + edge
    spans: list[LineSpan] = []
    line, counted_to = 1, 0
    found = haystack.find(needle)
    while found >= 0 and len(spans) < _MAX_PLACES:
        # The edge before the first line makes up for the newline before the match.
        line += haystack.count("\n", counted_to, found)
        counted_to = found
        spans.append(LineSpan(start=line, end=line + body.count("\n")))
        found = haystack.find(needle, found + 1)
    return spans


def _named(cited: Cited, text: str) -> list[LineSpan]:
    """The lines of the definitions or sections that have the cited name or headings."""
    if _is_python(cited):
        return definition_lines(cited.name, text) if cited.name else []
    return sections_of(cited, text)


def _is_python(cited: Cited) -> bool:
    return cited.lang == "py"


def _by_name(cited: Cited, text: str) -> Verification | None:
    if _is_python(cited):
        same = find_same_tree(cited, text)
        if same is not None:
            return Verification(state="same_tree", lines=same, reason="Only formatting or comments changed.")
        named = find_symbol(cited, text)
        reason = f"{cited.symbol or 'The module'} is there, but its code changed."
    else:
        named = find_section(cited, text)
        reason = "The heading is there, but the text below it changed."
    return Verification(state="changed", lines=named, reason=reason) if named else None


def _beyond(cited: Cited, corpus: Corpus) -> Verification | None:
    """What other files of the corpus hold of a cited text."""
    if _is_python(cited) and cited.name:
        found = _defined_beyond(cited, corpus)
        if found is not None:
            return found
    holder = _only_holder(cited, corpus)
    if holder is not None:
        path, lines = holder
        return Verification(state="moved", lines=lines, path=path, reason="The same text stands in another file.")
    return None if _is_python(cited) else _headed_beyond(cited, corpus)


def _defined_beyond(cited: Cited, corpus: Corpus) -> Verification | None:
    """The definition of the cited name in another file."""
    top = cited.name.partition(".")[0]
    imported = corpus.imported(cited.path, top)
    if imported is not None:
        return _defined_in([imported], cited, corpus, told=True)
    # A package may export another definition of that name.
    exported = corpus.exported(cited.path, top)
    there = _defined_in([exported], cited, corpus) if exported is not None else None
    return there or _defined_in([path for path in corpus.defining(cited.name) if path != cited.path], cited, corpus)


def _defined_in(paths: Sequence[str], cited: Cited, corpus: Corpus, *, told: bool = False) -> Verification | None:
    """The definition of the cited name in one of some other files; `told` says that it is known to be there."""
    texts = {path: corpus.other(path) or "" for path in paths}
    found = {path: place for path in paths if (place := anchor_within(cited, texts[path])) is not None}
    states: tuple[tuple[VerificationState, tuple[VerificationState, ...], str], ...] = (
        ("moved", ("exact", "moved"), "The same text stands in another file."),
        ("same_tree", ("same_tree",), "The code is in another file; only formatting or comments changed."),
    )
    for state, there, reason in states:
        same = [path for path, place in found.items() if place.state in there]
        if same:
            path = max(same, key=lambda one: _likeness(one, cited.path))
            lines = found[path].lines or cited.lines
            return Verification(state=state, lines=lines, path=path, reason=reason)
    alike = [
        (path, place.lines)
        for path, place in found.items()
        if place.lines is not None and (told or _shares_lines(cited, _lines(texts[path]), place.lines))
    ]
    if len(alike) != 1:
        return None
    path, lines = alike[0]
    reason = f"{cited.symbol} is in another file, and its code changed."
    return Verification(state="changed", lines=lines, path=path, reason=reason)


def _only_holder(cited: Cited, corpus: Corpus) -> tuple[str, LineSpan] | None:
    """The one other file that holds the cited text, or the one of the same name; None where it could be any."""
    if sum(map(len, cited.body.split())) < _MIN_TELLING_CHARS:
        return None
    first = cited.body.strip("\n").partition("\n")[0]
    holders = {
        path: spans
        for path, text in corpus.texts(PurePosixPath(cited.path).suffix).items()
        if path != cited.path and first in text and (spans := _occurrences(cited, text)) and len(spans) < _MAX_PLACES
    }
    path = _only(holders, cited)
    place = nearest(holders[path], cited) if path is not None else None
    return (path, place) if path is not None and place is not None else None


def _headed_beyond(cited: Cited, corpus: Corpus) -> Verification | None:
    """The section of the cited headings on another page: the page was renamed."""
    pages: dict[str, list[LineSpan]] = {}
    for other, spans in corpus.pages_with(cited).items():
        lines = _lines(corpus.other(other) or "")
        alike = [span for span in spans if _shares_lines(cited, lines, span)]
        if alike and other != cited.path:
            pages[other] = alike
    path = _only(pages, cited)
    if path is None:
        return None
    place = nearest(pages[path], cited)
    reason = "The heading is on another page, and the text below it changed."
    return Verification(state="changed", lines=place, path=path, reason=reason)


def _only(paths: Mapping[str, object], cited: Cited) -> str | None:
    name = PurePosixPath(cited.path).name
    for group in (list(paths), [path for path in paths if PurePosixPath(path).name == name]):
        if len(group) == 1:
            return group[0]
    return None


def _likeness(path: str, other: str) -> tuple[int, str]:
    """How many parts two paths share at their beginnings and ends; the path itself decides between equals."""
    ours, theirs = PurePosixPath(path).parts, PurePosixPath(other).parts
    ends = ((ours, theirs), (ours[::-1], theirs[::-1]))
    both = sum(sum(takewhile(bool, map(eq, one, two))) for one, two in ends)
    return both, path


def _shares_lines(cited: Cited, lines: Sequence[str], span: LineSpan) -> bool:
    """Whether enough of the cited lines are among the lines of a namesake; the heading or the name tells nothing."""
    new = [line.strip() for line in lines[span.start - 1 : span.end]]
    old = {line.strip() for line in cited.body.split("\n") if _WORD.search(line)} - {*new[:1], *cited.headings[-1:]}
    return bool(old) and len(old.intersection(new)) >= _MIN_SHARED_LINES * len(old)


@functools.lru_cache(maxsize=_KEPT_TEXTS)
def _imported(text: str, package: str) -> dict[str, str]:
    return imports(parse(text)[0], package)
