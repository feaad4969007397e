"""The versions of the ADK: which ones a question names, and which ones of the index are searched for it.

Regular expressions alone read the question, so that the same question always names the same versions. A number counts
where it stands beside the ADK's name, or has a leading `v` (or the word `version`) and nothing in the question could
own it but the ADK: `gemini 2.5`, `python 3.11`, `pydantic v2` and `A2A v1` name other things.

Evidence of two versions side by side would contradict itself, so only one version of each collection is searched,
unless the question names several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from adk_evidence.models.chunk import Kind
from adk_evidence.released_versions import version_of

# The strongest first.
Basis = Literal["question", "nearest", "newest"]
BASES: tuple[Basis, ...] = get_args(Basis)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBER = r"\d{1,3}(?:\.\d{1,4}){0,3}(?:\.[xX*])?(?:(?:a|b|rc|\.dev|\.post)\d{1,3})?(?!\w|\.\w)"
_BOUND = rf"(?:===?|~=|!=|>=|<=|>|<)\ ?v?{_NUMBER}"
_VERSION = rf"(?P<bounds>{_BOUND}(?:\ ?,\ ?{_BOUND}){{0,3}})|=?(?P<lead>v\.?\ ?)?(?P<number>{_NUMBER})(?P<on>\+)?"
_ADK = r"(?:google[\ ._/-]?)?adk(?:[-_]python|\ python(?=\ v\d))?|agent\ development\ kit"
_NAME = rf"(?<!\w)(?:{_ADK})(?:\[[\w,\ -]{{0,60}}\])?"
# After a number, these words say that the number is an amount, or the version of a model.
_NO_AMOUNT = (
    r"(?!\ ?(?:%|(?:s|ms|seconds?|secs?|minutes?|mins?|hours?|[kmg]b|[kmgt]ib|tokens|times|million|flash|pro)\b))"
)
_OF_ADK = r"\ of\ (?:the\ )?(?:google\ )?adk\b"

_BESIDE = re.compile(
    rf"{_NAME}[\ @:(-]{{0,3}}(?P<word>(?:version|release|ver\.?)[\ :]{{0,2}})?(?:{_VERSION}){_NO_AMOUNT}", re.I
)
_BELONGING = re.compile(rf"(?<![\w.-])(?P<word>(?:version|release)\ )?(?:{_VERSION})(?={_OF_ADK})", re.I)
_ALONE = re.compile(
    rf"(?:(?<=\ )|(?<=\()|^)(?P<word>(?:version|release)\ )?(?:{_VERSION})(?!\ ?/|-\w|\ of\b|\ (?:api|endpoint|spec))",
    re.I,
)
_NEXT = re.compile(
    rf"(?:\ ?(?:/|->|\u2192|\u2013|-)\ ?|\ (?:to|and|or|vs\.?|versus|than|through|until)\ )(?:{_VERSION})", re.I
)

_WORD = re.compile(r"[a-z0-9]+")
# What may stand before a version that stands alone; any other word before a version owns the version.
_BEFORE = _words(
    """in on for with since from to at using use before after until under than and or vs versus between the latest
    upgrade upgrading upgraded update updating migrate migrating migrated move moving moved running run installed have
    has is was were as by still only now not does did"""
)
_LONGEST_BEFORE = 20
_BEFORE_BOUNDS = _words("in on for with since from using use needs need requires require")
# Things that have versions themselves. A question that names such a thing may mean the version of that thing.
_OTHERS = _words(
    """python py pydantic gemini a2a mcp openapi openai gpt claude anthropic node java kotlin golang typescript
    javascript oauth oauth2 langchain langgraph litellm vertex vertexai imagen veo llama ollama gemma api apis http
    https tls protocol fastapi uvicorn sqlalchemy docker kubernetes postgres redis ubuntu debian windows macos android
    genai flash protobuf grpc numpy react angular"""
)
# What only leads up to a version, or closes after it.
_BEFORE_IT = re.compile(r"(?:\b(?:in|on|with|for|using|since|of|from|to|under|at)\ ){0,3}\(?$", re.I)
_AFTER = re.compile(r"^[):,]+")
_EXACTLY = ("==", "===")


@dataclass(frozen=True)
class AskedVersion:
    """A version as a question names it: `1.18`, `2.x`, `2.0.0b1`, or bounds such as `>=1.18,<2`.

    `release` has the numbers that were given; for bounds, the numbers of the first one.
    """

    text: str
    release: tuple[int, ...]

    def holds(self, version: Version) -> bool:
        """Whether a version is one that was asked for: 1.18 asks for any 1.18.z, 2.x and 2 for any 2.y."""
        if self._bounds is not None:
            return self._bounds.contains(version, prereleases=True)
        if self._pre is not None:
            return version == self._pre
        return _padded(version)[: len(self.release)] == self.release

    def near(self, version: Version, parts: int) -> bool:
        """Whether a version agrees with the first `parts` numbers, which must have been given."""
        return len(self.release) >= parts and _padded(version)[:parts] == self.release[:parts]

    @cached_property
    def _bounds(self) -> SpecifierSet | None:
        return SpecifierSet(self.text) if self.text[0] in "<>=!~" else None

    @cached_property
    def _pre(self) -> Version | None:
        return Version(self.text) if re.search("[a-z]", self.text.replace(".x", "")) else None


def asked_versions(question: str) -> tuple[AskedVersion, ...]:
    """The versions of the ADK that a question names, once each, in order."""
    return tuple(dict.fromkeys(_read(match) for match in _mentions(question)))


def exactly(version: str) -> AskedVersion:
    """A project's exact version, as if a question named it."""
    public = Version(version).public
    return AskedVersion(f"=={public}", Version(public).release)


def without_versions(question: str) -> str:
    """The question without its versions, the ADK's name beside them and the words that lead up to them.

    Where no other word would remain, the result is the question itself.
    """
    mentions = _mentions(question)
    starts = [0, *(match.end() for match in mentions)]
    ends = [*(match.start() for match in mentions), len(question)]
    pieces = [question[start:end] for start, end in zip(starts, ends, strict=True)]
    pieces = [pieces[0], *(_AFTER.sub("", piece) for piece in pieces[1:])]
    pieces = [*(_BEFORE_IT.sub("", piece) for piece in pieces[:-1]), pieces[-1]]
    plain = " ".join(" ".join(pieces).split())
    return plain if _WORD.search(plain.lower()) else question


def _mentions(question: str) -> list[re.Match[str]]:
    alone = () if _OTHERS & set(_WORD.findall(question.lower())) else ((_ALONE, _is_alone),)
    found: list[re.Match[str]] = []
    taken: set[int] = set()
    for pattern, counts in ((_BESIDE, _is_beside), (_BELONGING, _is_written_out), *alone):
        for match in pattern.finditer(question):
            if match.start() in taken or not counts(match):
                continue
            found.append(match)
            # `from ADK 1.18 to 2.1`
            while (more := _NEXT.match(question, found[-1].end())) and _is_written_out(more):
                found.append(more)
            taken.update(range(match.start(), found[-1].end()))
    return sorted(found, key=lambda match: match.start())


def _is_written_out(match: re.Match[str]) -> bool:
    """Whether the match can only be a version: a plain `2` may count something."""
    marked = match["bounds"] or match["lead"] or match.groupdict().get("word")
    return bool(marked) or "." in match["number"]


def _is_beside(match: re.Match[str]) -> bool:
    # `ADK 2?` names a version, `ADK 2 agents` does not.
    rest = match.string[match.end() :].lstrip(")'\"`")
    return _is_written_out(match) or (len(match["number"]) == 1 and (not rest or rest[0] in "?!.;"))


def _is_alone(match: re.Match[str]) -> bool:
    if not (match["lead"] or match["bounds"] or (match["word"] and _is_written_out(match))):
        return False
    before = _WORD.findall(match.string[max(0, match.start() - _LONGEST_BEFORE) : match.start()].lower())
    return not before or before[-1] in (_BEFORE_BOUNDS if match["bounds"] else _BEFORE)


def _read(match: re.Match[str]) -> AskedVersion:
    if match["bounds"]:
        bounds = re.findall(rf"(\W+?)v?({_NUMBER})", match["bounds"].replace(" ", "").replace(",", " "), re.I)
        signs = [(sign.strip(), number.lower()) for sign, number in bounds]
        if len(signs) == 1 and (signs[0][0] in _EXACTLY or (signs[0][0] == "~=" and "." not in signs[0][1])):
            return _plain(signs[0][1])
        text = ",".join(f"{sign}{number.removesuffix('.x').removesuffix('.*')}" for sign, number in signs)
        return AskedVersion(text, _release(signs[0][1]))
    number = match["number"].lower()
    return AskedVersion(f">={number}", _release(number)) if match["on"] else _plain(number)


def _plain(number: str) -> AskedVersion:
    return AskedVersion(number.replace("*", "x"), _release(number))


def _release(number: str) -> tuple[int, ...]:
    return Version(number.removesuffix(".x").removesuffix(".*")).release


def _padded(version: Version) -> tuple[int, ...]:
    return (*version.release, 0, 0, 0)


@dataclass(frozen=True)
class VersionChoice:
    """The versions of one collection that are searched, and the versions that are left out, newest first.

    `basis` says why they are searched: the question asks for them, they are the nearest to what it asks for, or they
    are the newest. The search is narrowed to `commits`, unless they are empty.
    """

    basis: Basis
    searched: tuple[str, ...]
    left_out: tuple[str, ...]
    commits: tuple[str, ...]


def choose_versions(kind: Kind, refs: Mapping[str, tuple[str, ...]], asked: Sequence[AskedVersion]) -> VersionChoice:
    """Choose among the indexed commits of a kind.

    For each version that was asked for: the newest that matches, else the newest with the same first two numbers, else
    with the same first number. Where nothing was asked or nothing is near: the newest of all. Documentation of an
    unknown version is always searched; code of an unknown version only where no version was asked for and found.

    Args:
        kind: The kind of chunks in the collection.
        refs: For each indexed commit the names it goes by; one of them, or the commit, may be a version.
        asked: What the question names.
    """
    versions = {commit: version for commit, names in refs.items() if (version := version_of(commit, names))}
    newest = sorted(set(versions.values()), reverse=True)
    found = [match for one in asked if (match := _best(newest, one))]
    chosen = {version for version, _ in found} or set(newest[:1])
    basis: Basis = "newest"
    if found:
        basis = "question" if len(found) == len(asked) and all(exact for _, exact in found) else "nearest"
    unknown = [commit for commit in refs if commit not in versions] if kind == "doc" or not found else []
    kept = tuple(commit for commit in refs if commit in unknown or versions.get(commit) in chosen)
    return VersionChoice(
        basis=basis,
        searched=_labels(newest, chosen),
        left_out=_labels(newest, set(newest) - chosen),
        commits=kept if len(kept) < len(refs) else (),
    )


def missing_version(asked: Sequence[AskedVersion], choices: Sequence[VersionChoice]) -> str | None:
    """A sentence for a question about versions that no collection has; None where a collection has them."""
    telling = [choice for choice in choices if choice.searched]
    if not asked or any(choice.basis == "question" for choice in telling):
        return None
    meant = " and ".join(one.text for one in asked)
    held = dict.fromkeys(name for choice in telling for name in (*choice.searched, *choice.left_out))
    searched = dict.fromkeys(name for choice in telling for name in choice.searched)
    holds = f"holds {', '.join(held)}" if held else "does not say which version it holds"
    of_them = f", of which {' and '.join(searched)} was searched" if len(searched) < len(held) else ""
    return f"The question is about ADK {meant}; the index {holds}{of_them}. Evidence may not hold there."


def _best(newest: Sequence[Version], asked: AskedVersion) -> tuple[Version, bool] | None:
    """The best of the versions, and whether that version is what was asked for."""
    exact = next((version for version in newest if asked.holds(version)), None)
    if exact is not None:
        return exact, True
    for parts in (2, 1):
        near = next((version for version in newest if asked.near(version, parts)), None)
        if near is not None:
            return near, False
    return None


def _labels(newest: Sequence[Version], chosen: set[Version]) -> tuple[str, ...]:
    return tuple(f"v{version}" for version in newest if version in chosen)
