"""What a page says of where a feature exists: the tags "Supported in ADK" below the headings of google/adk-docs.

<div class="language-support-tag">
  <span class="lst-supported">Supported in ADK</span><span class="lst-python">Python v1.25.0</span>
  <span class="lst-preview">Experimental</span>
</div>
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from adk_evidence.languages import PROGRAMMING, common_name
from adk_evidence.readers.pages.page import Page
from adk_evidence.text.versions import read_version

_TAG = '<div class="language-support-tag"'
_SPAN = re.compile(r'<span class="lst-([a-z]{1,20})"[^<>]{0,200}>([^<>]{1,60})</span>')
_VERSION = re.compile(r"\d[\w.-]*")
# Texts of pages that are no words of this list stay where they are.
_STAGES = frozenset({"experimental", "preview", "alpha", "beta", "deprecated"})
# A tag stands on a few lines.
_MAX_LINES = 12


class Availability(NamedTuple):
    """Where a feature exists, as far as a page says so.

    `languages` are those whose ADK has the feature, by their common names, each with the first version that does, or
    with an empty text where the page names none. `stage` is `experimental` or a word like that, else empty.
    """

    stage: str = ""
    languages: tuple[tuple[str, str], ...] = ()


def availabilities(page: Page) -> dict[int | None, Availability]:
    """What the tags of a page say, by the index of the heading that each follows; None is the top of the page."""
    found: dict[int | None, Availability] = {}
    for number in _first_lines(page):
        if page.lines[number].lstrip().startswith(_TAG) and page.tab_language[number] is None:
            read = _read("\n".join(page.lines[number : number + _MAX_LINES]).partition("</div>")[0])
            if read.languages:
                found.setdefault(page.heading_at[number], read)
    return found


def of_heading(page: Page, heading: int | None, told: Mapping[int | None, Availability]) -> Availability:
    """What holds for the lines below a heading: the tag of the nearest heading that has one, of itself or above.

    Languages that only tags further above name are kept: a section whose tag names one language may tell what that one
    has beside the others.
    """
    above = () if heading is None else (heading, *reversed(page.headings[heading].path))
    tags = [told[index] for index in (*above, None) if index in told]
    if not tags:
        return Availability()
    languages: dict[str, str] = {}
    for tag in tags:
        for name, since in tag.languages:
            languages.setdefault(name, since)
    return Availability(tags[0].stage, tuple(languages.items()))


def _first_lines(page: Page) -> Iterable[int]:
    """The first line that is not empty of the page, and of what follows each heading."""
    for label in (page.front_matter_end - 1, *(heading.line for heading in page.headings)):
        # A line that underlines a heading belongs to the heading.
        start = label + 1 + (label >= 0 and label + 1 in page.label_lines and page.heading_at[label + 1] is not None)
        first = next((number for number in range(start, len(page.lines)) if page.lines[number].strip()), None)
        if first is not None:
            yield first


def _read(tag: str) -> Availability:
    languages: dict[str, str] = {}
    stage = ""
    for kind, text in _SPAN.findall(tag):
        version = _VERSION.search(text)
        if common_name(kind) in PROGRAMMING:
            since = version[0] if version and read_version(version[0]) is not None else ""
            languages.setdefault(common_name(kind), since)
        elif not stage and text.strip().lower() in _STAGES:
            stage = text.strip().lower()
    return Availability(stage, tuple(languages.items()))
