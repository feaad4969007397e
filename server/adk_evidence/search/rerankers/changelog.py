"""Changelogs: which texts tell what changed from version to version, and which questions ask for that.

A changelog mentions every feature by the words that people ask with, and says little about how the feature is used.
Its file's name tells it, or its headings, which are versions.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

# Code that is called like a changelog is code.
_WRITTEN_IN = frozenset({"", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc"})
_OF_VERSION = r"(?:[-_. ]?v?\d[\w.-]{0,20})?"
_NAME = re.compile(
    rf"(?:change[-_ ]?logs?|(?:release|version)[-_ ]?(?:notes?|history)|breaking[-_ ]?changes?){_OF_VERSION}", re.I
)
# Inside a folder, these names may well be of guides, such as one on the history of a conversation.
_NAME_AT_TOP = re.compile(
    rf"(?:changes|history|news|releases|migrations?|migrating|upgrad(?:e|ing)|whats[-_]?new){_OF_VERSION}", re.I
)
_FOLDERS = frozenset(
    {"changelog", "changelogs", "changelog.d", "release-notes", "release_notes", "newsfragments", ".changeset"}
)

_LONGEST_HEADING = 120
_PRE = r"(?:[-.+]?(?:a|b|rc|alpha|beta|canary|dev|next|pre|post)[-.]?\d{0,8}(?:\.\d{1,8})?)?"
_RELEASE = rf"v?\d{{1,4}}\.\d{{1,4}}\.(?:\d{{1,4}}|x)(?:\.\d{{1,4}})?{_PRE}"
_SHORT = rf"\d{{1,4}}\.(?:\d{{1,4}}|x){_PRE}"
_DATE = (
    r"(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|unreleased"
    r"|(?:\d{1,2}\ )?[a-z]{3,9}\.?\ (?:\d{1,2},?\ )?\d{4})"
)
# `v7.18.5`, `[1.2.0] - 2024-03-01`, `5.0.0 / 2024-09-10`, `Version 2.0`, `Changes in 3.1`, `pkg@1.2.3`, `Unreleased`.
_HEADING = re.compile(
    rf"(?:(?:(?:version|release|changes\ in|new\ in|what(?:'|\u2019)?s\ new\ in)\ (?:v?{_SHORT}|{_RELEASE})"
    rf"|\[?(?:@?[\w/.-]{{1,60}}@)?(?:{_RELEASE}|v{_SHORT})\]?|\[{_SHORT}\]|{_SHORT}(?=\ ?[-\u2013\u2014/(:]))"
    rf"(?:\ ?[-\u2013\u2014/(:]{{0,2}}\ ?{_DATE}\)?)?|\[?unreleased\]?)",
    re.I,
)

# A version shows as one by a `v`, by three parts, or by what stands before it. Two parts alone are a temperature or the
# version of a model, and four are an address.
_NUMBER = (
    r"(?<![\w./@-])(?:v\d{1,4}(?:\.\d{1,4}){0,3}|\d{1,4}\.\d{1,4}\.\d{1,4})(?![\w.]*\w|:\d)"
    r"|\b(?:adk(?:[-\ ]python)?|version|release)(?:\ |==?)\d{1,4}\.\d{1,4}(?![\w.]*\w)"
)
_ASKS = re.compile(
    rf"""\bchange[-\ ]?logs?\b | \brelease[-\ ]?(?:notes?|history)\b | \bbreaking\ changes?\b
    | \bchange[sd]?\ (?:in|since|between|from|with)\b | \bwhat(?:'|\u2019)?s?(?:\ is|\ was|\ has)?\ (?:new|changed)\b
    | \bnew\ in\ v?\d | \b(?:anything|everything|features?|something|things?)\ (?:(?:is|are|was|were)\ )?new\ in\b
    | ^(?:is|are|was|were)\ \S+\ new\ in\b
    | \b(?:since|which|what|after|before|until)\ (?:version|release)\b | \bsince\ when\b
    | \bwhen\ (?:was|were|did|has|have)\b | \b(?:added|introduced|removed|renamed|fixed|dropped)\ (?:in|since)\b
    | \b(?:deprecat|upgrad|migrat)\w* | \breleased?\ (?:in|of)\b | {_NUMBER}""",
    re.I | re.X,
)


def is_changelog(path: str, headings: Sequence[str]) -> bool:
    """Whether a text of a file, below these headings, tells what changed from version to version."""
    said = _says(path)
    return any(map(_is_version, headings)) if said is None else said


# Each question asks this of hundreds of results.
@functools.lru_cache(maxsize=4096)
def _says(path: str) -> bool | None:
    """What the path of a file says; None where its headings decide."""
    file = PurePosixPath(path)
    if file.suffix.lower() not in _WRITTEN_IN:
        return False
    if _NAME.fullmatch(file.stem) or (len(file.parts) == 1 and _NAME_AT_TOP.fullmatch(file.stem)):
        return True
    return True if any(part.lower() in _FOLDERS for part in file.parts[:-1]) else None


# A question is ranked up to three times.
@functools.lru_cache(maxsize=64)
def asks_for_changes(question: str) -> bool:
    """Whether a question asks what changed or names a version."""
    return _ASKS.search(" ".join(question.split())) is not None


@functools.lru_cache(maxsize=4096)
def _is_version(heading: str) -> bool:
    return len(heading) <= _LONGEST_HEADING and _HEADING.fullmatch(heading.strip().rstrip("#").strip()) is not None
