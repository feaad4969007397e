"""What a page says of where a feature exists: the tags "Supported in ADK" below the headings of google/adk-docs.

<div class="language-support-tag">
  <span class="lst-supported">Supported in ADK</span><span class="lst-python">Python v1.25.0</span>
  <span class="lst-preview">Experimental</span>
</div>
"""

from __future__ import annotations

import re
from typing import NamedTuple

from adk_evidence.languages import PROGRAMMING, common_name
from adk_evidence.readers.page import Page
from adk_evidence.released_versions import read_version

_TAG = "language-support-tag"
_SPAN = re.compile(r'<span class="lst-([a-z]{1,20})">\s*([^<>]{1,40}?)\s*</span>')
_LANGUAGE = re.compile(r"([A-Za-z][A-Za-z+#]*)(?:\s+\(?v?([0-9][0-9.]*)\b.*)?$")
_STAGE = re.compile(r"[A-Za-z][a-z]+(?: [a-z]+)?$")
# The span that only says "Supported in ADK".
_TITLE = "supported"
# A tag stands on a few lines.
_MAX_LINES = 12


class Availability(NamedTuple):
    """Languages by their common names, each with the version since which its ADK has the feature, or with an empty text
    where the page names none; and a stage such as `experimental`, where the page names one."""

    languages: tuple[tuple[str, str], ...]
    stage: str | None = None


def availabilities(page: Page) -> dict[int | None, Availability]:
    """What the tags of a page say, by the index of the heading that each stands below; None is the top of the page."""
    found: dict[int | None, Availability] = {}
    for number, line in enumerate(page.lines):
        if _TAG in line and page.fence_at[number] is None:
            read = _read("\n".join(page.lines[number : number + _MAX_LINES]).partition("</div>")[0])
            if read.languages:
                found.setdefault(page.heading_at[number], read)
    return found


def of_heading(page: Page, heading: int | None, told: dict[int | None, Availability]) -> Availability | None:
    """What holds for the lines below a heading: the nearest tag, of the heading itself or of one above it."""
    if heading is not None:
        for index in (heading, *reversed(page.headings[heading].path)):
            if index in told:
                return told[index]
    return told.get(None)


def _read(tag: str) -> Availability:
    languages: dict[str, str] = {}
    stage = None
    for kind, text in _SPAN.findall(tag):
        match = _LANGUAGE.match(text)
        name = common_name(match[1].lower()) if match else ""
        if match and name in PROGRAMMING:
            version = match[2] or ""
            languages.setdefault(name, version if read_version(version) is not None else "")
        elif kind != _TITLE and stage is None and _STAGE.match(text):
            stage = text.lower()
    return Availability(tuple(languages.items()), stage)
