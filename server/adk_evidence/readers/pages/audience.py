"""For readers of which programming language the lines of a page are.

A page that shows the same thing in several languages shows each reader the parts for the others too: tabs, code blocks,
notes, sections, and on some sites whole pages. Which languages a site has readers of is what the labels of its tabs
say, so that a code block in another language, such as the JavaScript of a web page that talks to an agent, is for
everybody.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import NamedTuple

from adk_evidence.languages import PROGRAMMING, common_name
from adk_evidence.readers.pages.markdown import tab_labels, tab_language
from adk_evidence.readers.pages.page import Page

_WORD = re.compile(r"[^\W_]+[+#]*")
_OTHERS = re.compile(r"\bother (?:\w+ )?languages?\b", re.IGNORECASE)
# "Unlike Java", "Coming from Go", "Not in Kotlin": such a title speaks to readers of other languages.
_COMPARED = re.compile(r"\b(?:not|unlike|from|differs?|versus|vs\.?|than|instead)\b", re.IGNORECASE)
_GO_TITLE = re.compile(r"(?:\bADK |\bin )Go\b|\bGo(?=:| ADK\b| SDK\b| v?\d| only\b|$)")
_NOTE_TITLE = re.compile(r"\"([^\"]*)\"")
# What follows the verb: "Go to the console", "Go live"; and what stands before the verb: "Where to Go Next".
_AFTER_VERB = re.compile(
    r"(?:to|on|back|further|deeper|beyond|ahead|live|through|into|from|with|next|over|global)\b", re.IGNORECASE
)
_BEFORE_VERB = re.compile(
    r"(?:\b(?:where|when|how|ways?|places?|ready|good|time|want|need) to|\blet['\u2019]s|\bset,) $",
    re.IGNORECASE,
)
_BEFORE_CHARS = 12


class Part(NamedTuple):
    """Lines of a page, 0-based, `end` exclusive, that are for readers of one language, and blank lines among them."""

    start: int
    end: int
    language: str


def languages_of_readers(pages: Iterable[Sequence[str]]) -> frozenset[str]:
    """The programming languages that the labels of tabs name in the lines of some pages."""
    found = {tab_language(label) for lines in pages for label in tab_labels(lines)}
    return frozenset(name for name in found if name in PROGRAMMING)


@dataclass(frozen=True)
class Readers:
    """The readers of a site: `language` is that of the reader who is meant, `languages` are those of all readers.

    Without a `language`, all lines are for everybody.
    """

    language: str | None = None
    languages: frozenset[str] = frozenset()

    def parts_for_others(self, page: Page, path: str) -> list[Part]:
        """The parts of a page, at a path of the repository, that are for readers of other languages, in order.

        Such a part is a tab, a code block, a note or a section that names one of the other languages alone, or the page
        as a whole, where its title or the end of its file's name does. A heading whose section holds nothing else
        belongs to the part. Tags that say which languages have a feature (`availability`) do not count: what other
        languages lack, or have elsewhere, often stands below them, too.
        """
        others = self.languages - {self.language}
        if self.language is None or not others or not page.lines:
            return []
        whole = _named_by_path(path, others) or _named(page.title or "", self.languages, others)
        if whole:
            return [Part(0, len(page.lines), whole)]
        line_languages = _by_line(page, self.languages, others)
        parts: list[Part] = []
        for language, numbers in groupby(_not_blank(page), key=line_languages.__getitem__):
            lines = list(numbers)
            if language is not None:
                parts.append(Part(lines[0], lines[-1] + 1, language))
        return parts


EVERYBODY = Readers()

# In a question, `go` is the language only where its place says so: "in Go", "the Go SDK".
_GO = re.compile(
    r"\b(?:golang|adk-go)\b|\b(?:in|for|with|using|from|and|or|vs\.?|versus|ADK)\s+(?:Go\b|go(?=\s*(?:$|[?.,;:!)])))"
    r"|\bGo(?=\s+(?i:adk|sdk|api|apps?|agents?|code|examples?|modules?|packages?|programs?|projects?|quickstart|tools?|"
    r"versions?|and|or|vs\.?|versus)\b)|\b(?i:(?:adk|sdk)\s+(?:in|for)\s+go)\b",
)
# Other names are no English words; those of one or two letters would be found in everything.
_NAMES = {
    **dict.fromkeys(("java", "kotlin", "typescript", "javascript", "python", "rust", "php", "swift", "ruby"), None),
    "golang": "go",
    "c++": "c++",
    "c#": "c#",
    "ts": "typescript",
    "js": "javascript",
    "nodejs": "javascript",
    "kt": "kotlin",
}
# Who writes one of them reads the other.
_READ_TOO: Mapping[str, str] = {"javascript": "typescript", "typescript": "javascript"}


def named_languages(question: str) -> frozenset[str]:
    """The programming languages that a question names, by their common names."""
    words = (match[0].lower() for match in _WORD.finditer(question))
    found = {_NAMES[word] or word for word in words if word in _NAMES}
    if _GO.search(question):
        found.add("go")
    return read_too(found)


def read_too(languages: Collection[str]) -> frozenset[str]:
    """Programming languages with those that their readers read as well: TypeScript beside JavaScript."""
    return frozenset({*languages, *(_READ_TOO[name] for name in languages if name in _READ_TOO)})


def _by_line(page: Page, languages: frozenset[str], others: frozenset[str]) -> list[str | None]:
    by_heading: list[str | None] = []
    for heading in page.headings:
        above = next((by_heading[index] for index in reversed(heading.path) if by_heading[index]), None)
        by_heading.append(above or _named(heading.text, languages, others))
    by_note = _by_note(page, languages, others)
    found: list[str | None] = []
    for line, heading_index in enumerate(page.heading_at):
        section = None if heading_index is None else by_heading[heading_index]
        tab, fence = page.tab_language[line], page.fence_language[line]
        # A tab says for whom all of its lines are, also a shell command or a configuration.
        if section is None and tab in languages:
            section = tab if tab in others else None
        elif section is None and fence in others:
            section = fence
        if section is None and by_note:
            section = next((by_note[note] for note in page.note_at[line] if note in by_note), None)
        found.append(section)
    _add_bare_headings(page, found)
    return found


def _by_note(page: Page, languages: frozenset[str], others: frozenset[str]) -> dict[int, str]:
    """The languages of other readers that the titles of notes name, by the first lines of the notes.

    A note that speaks of other languages as well, or to readers of this one, is for everybody.
    """
    found: dict[int, str] = {}
    for first in sorted({note for notes in page.note_at for note in notes[-1:]}):
        title = _NOTE_TITLE.search(page.lines[first])
        if title is not None and not _COMPARED.search(title[1]) and not _may_be_verb(title[1]):
            language = _named(title[1], languages, others)
            if language is not None:
                found[first] = language
    if not found:
        return {}
    for line, notes in enumerate(page.note_at):
        named = [note for note in notes if note in found]
        if named and (_OTHERS.search(page.lines[line]) or _names_one_of(page.lines[line], languages - others)):
            for note in named:
                del found[note]
    return found


def _names_one_of(text: str, languages: Collection[str]) -> bool:
    words = (match[0] for match in _WORD.finditer(text))
    return any(word[0].isupper() and common_name(word.lower()) in languages for word in words)


def _may_be_verb(title: str) -> bool:
    """Whether the title of a note has a "Go" that may be the verb."""
    return re.search(r"\bGo\b", title) is not None and _GO_TITLE.search(title) is None


def _add_bare_headings(page: Page, by_line: list[str | None]) -> None:
    """Give a heading to the language that all lines of its section are for."""
    said: list[set[str | None]] = [set() for _ in page.headings]
    own_lines = [_lines_of_heading(page, heading.line) for heading in page.headings]
    heading_lines = {line for lines in own_lines for line in lines}
    for line in _not_blank(page):
        heading = page.heading_at[line]
        if heading is not None and line not in heading_lines:
            for index in (*page.headings[heading].path, heading):
                said[index].add(by_line[line])
    for index, languages in enumerate(said):
        if len(languages) == 1:
            language = next(iter(languages))
            for line in own_lines[index]:
                by_line[line] = language


def _lines_of_heading(page: Page, line: int) -> range:
    """The line of a heading, and the line below that underlines the heading."""
    below = line + 1
    underlined = below in page.label_lines and not page.lines[below].strip(" \t=-")
    return range(line, below + underlined)


def _not_blank(page: Page) -> Iterable[int]:
    return (number for number, line in enumerate(page.lines) if line.strip())


def _named_by_path(path: str, others: Collection[str]) -> str | None:
    """The language at the end of a file's name: `get-started/go.md`, `quickstart-java.md`."""
    words = _WORD.findall(PurePosixPath(path).stem.lower())
    name = common_name(words[-1]) if words else ""
    return name if name in others else None


def _named(title: str, languages: Collection[str], others: Collection[str]) -> str | None:
    """The language of other readers that a title names, if it names no other language."""
    found: set[str] = set()
    for match in _WORD.finditer(title):
        # Languages have capital letters in titles, and most words do at the beginning.
        name = common_name(match[0].lower())
        if name in languages and match[0][0].isupper() and not (name == "go" and _is_verb(title, match)):
            found.add(name)
    return found.pop() if len(found) == 1 and found <= set(others) else None


def _is_verb(title: str, go: re.Match[str]) -> bool:
    """Whether a title's "Go" is no language."""
    before = title[max(0, go.start() - _BEFORE_CHARS) : go.start()]
    if _BEFORE_VERB.search(before):
        return True
    return go.start() == 0 and _AFTER_VERB.match(title[go.end() :].lstrip()) is not None
