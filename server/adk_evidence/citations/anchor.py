"""Finds where a cited text is in another state or version of its source (design section 5).

The order is: the same text at its lines, the same text elsewhere in the file, the same syntax tree under the same name,
the same qualified name or heading; then, for what the file has no more, the same in other files of the corpus.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from adk_evidence.errors import SourceError
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan, Verification, VerificationState
from adk_evidence.readers.python import imports, parse
from adk_evidence.readers.sections import find_section, heading_key, heading_trail, sections_of
from adk_evidence.readers.syntax import definition_lines, find_same_tree, find_symbol, nearest
from adk_evidence.textfile import split_lines

# As many as a source keeps open: several citations of one answer, and of many answers, come from one file.
_KEPT_TEXTS = 64
# Shorter texts stand in several files by chance.
_MIN_TELLING_CHARS = 80
# How much of a cited definition must be left for a definition of that name in an unrelated file to be the same one.
_MIN_SHARED_LINES = 1 / 3
_MAX_HOPS = 8
_TOP_LEVEL = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(\S.*)$", re.MULTILINE)


class Source(Protocol):
    """Reads the files of a corpus by their paths within the repository."""

    def read(self, path: str) -> str | None:
        """The text of a file with `\\n` newlines; None where there is no such text file."""

    def paths(self) -> Sequence[str]:
        """The paths of all files, sorted."""


class Texts:
    """A source of given texts, by path."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def paths(self) -> Sequence[str]:
        return sorted(self._texts)


class Corpus:
    """The files of a source as they are now. What looks beyond the cited file reads each file once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._texts: dict[str, Mapping[str, str]] = {}

    def read(self, path: str) -> str | None:
        """The text of a file; fails as the source does."""
        return self._source.read(path)

    def texts(self, suffix: str) -> Mapping[str, str]:
        """The texts of all files of a suffix such as `.py`, by their paths in order, without unreadable files."""
        if suffix not in self._texts:
            found = {path: self._quietly(path) for path in self._paths if PurePosixPath(path).suffix == suffix}
            self._texts[suffix] = {path: text for path, text in found.items() if text is not None}
        return self._texts[suffix]

    def defining(self, name: str) -> list[str]:
        """The Python files that define a qualified name such as `Runner.run`."""
        texts = self.texts(".py")
        return [path for path in self._tops.get(name.partition(".")[0], ()) if definition_lines(name, texts[path])]

    def exported(self, path: str, name: str) -> str | None:
        """The file that a module, or one of the packages around it, imports a top-level name from."""
        folders = [PurePosixPath(path).parent, *PurePosixPath(path).parent.parents]
        for start in (path, *(str(folder / "__init__.py") for folder in folders)):
            found = self._followed(start, name)
            if found is not None and found != path:
                return found
        return None

    def pages_with(self, heading: str, suffix: str) -> list[str]:
        """The pages that have a heading, by its key."""
        if suffix not in self._headings:
            self._headings[suffix] = {
                path: frozenset(heading_key(match[1]) for match in _HEADING.finditer(text))
                for path, text in self.texts(suffix).items()
            }
        return [path for path, keys in self._headings[suffix].items() if heading in keys]

    @cached_property
    def _headings(self) -> dict[str, dict[str, frozenset[str]]]:
        return {}

    @cached_property
    def _paths(self) -> Sequence[str]:
        try:
            return self._source.paths()
        except SourceError:
            return ()

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._paths)

    @cached_property
    def _tops(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, text in self.texts(".py").items():
            for name in dict.fromkeys(_TOP_LEVEL.findall(text)):
                found.setdefault(name, []).append(path)
        return found

    def _quietly(self, path: str) -> str | None:
        try:
            return self.read(path)
        except SourceError:
            return None

    def _followed(self, path: str, name: str) -> str | None:
        for _ in range(_MAX_HOPS):
            text = self._quietly(path)
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
                if path in self._known:
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
    lines = _lines(text)
    holds = _cited(cited, lines) == cited.body
    found = _occurrences(cited, lines)
    if holds and len(found) < 2:
        return Verification(state="exact")
    named = _named(cited, text)
    # The same text may stand in another definition, for instance where two classes have the same method.
    own = [span for span in found if any(span.touches(one.start, one.end) for one in named)]
    if holds and (cited.lines in own or not own):
        return Verification(state="exact")
    place = nearest(own if own or (_is_python(cited) and named) else found, cited)
    if place is not None:
        return Verification(state="moved", lines=place, reason="The same text stands at other lines.")
    return _by_name(cited, text)


def _cited(cited: Cited, lines: Sequence[str]) -> str:
    joined = "\n".join(lines[cited.start_line - 1 : cited.end_line])
    return joined if cited.start_col is None else joined[cited.start_col : cited.end_col]


# Texts are long, and are hashed once.
@functools.lru_cache(maxsize=_KEPT_TEXTS)
def _lines(text: str) -> list[str]:
    return split_lines(text)


def _occurrences(cited: Cited, lines: Sequence[str]) -> list[LineSpan]:
    """The lines of every place where the cited text stands; whole lines, unless columns say otherwise."""
    body = cited.body
    if not body.strip():
        return []
    edge = "\n" if cited.start_col is None else ""
    whole = "\n".join(lines)
    haystack, needle = f"{edge}{whole}{edge}", f"{edge}{body}{edge}"
    spans: list[LineSpan] = []
    line, counted_to = 1, 0
    found = haystack.find(needle)
    while found >= 0:
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
    told = corpus.exported(cited.path, cited.name.partition(".")[0])
    paths = [told] if told is not None else [path for path in corpus.defining(cited.name) if path != cited.path]
    texts = {path: corpus.texts(".py").get(path, "") for path in paths}
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
        if path != cited.path and first in text and (spans := _occurrences(cited, _lines(text)))
    }
    path = _only(holders, cited)
    place = nearest(holders[path], cited) if path is not None else None
    return (path, place) if path is not None and place is not None else None


def _headed_beyond(cited: Cited, corpus: Corpus) -> Verification | None:
    """The section of the cited headings on another page: the page was renamed."""
    trail = heading_trail(cited)
    if not trail or not trail[-1]:
        return None
    suffix = PurePosixPath(cited.path).suffix
    texts = corpus.texts(suffix)
    pages = {
        path: spans
        for path in corpus.pages_with(trail[-1], suffix)
        if path != cited.path and (spans := sections_of(cited, texts[path]))
    }
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

    def shared(pairs: Iterator[tuple[str, str]]) -> int:
        count = 0
        for one, two in pairs:
            if one != two:
                break
            count += 1
        return count

    ours, theirs = PurePosixPath(path).parts, PurePosixPath(other).parts
    both = shared(zip(ours, theirs, strict=False)) + shared(zip(reversed(ours), reversed(theirs), strict=False))
    return both, path


def _shares_lines(cited: Cited, lines: Sequence[str], span: LineSpan) -> bool:
    old = {line.strip() for line in cited.body.split("\n")} - {""}
    new = {line.strip() for line in lines[span.start - 1 : span.end]}
    return len(old & new) >= _MIN_SHARED_LINES * len(old)


@functools.lru_cache(maxsize=_KEPT_TEXTS)
def _imported(text: str, package: str) -> dict[str, str]:
    return imports(parse(text)[0], package)
