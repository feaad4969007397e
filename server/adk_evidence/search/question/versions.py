"""The versions of the ADK that a question names.

Regular expressions alone read the question, so that the same question always names the same versions. A number counts
where it stands beside the ADK's name, or has a leading `v` (or the word `version`) and nothing in the question could
own it but the ADK: `gemini 2.5`, `python 3.11`, `pydantic v2` and `A2A v1` name other things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from packaging.specifiers import SpecifierSet
from packaging.version import Version


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# No pre-release has an `x`.
_NUMBER = r"\d{1,3}(?:\.\d{1,4}){0,3}(?:\.[xX*]|(?:a|b|rc|\.dev|\.post)\d{1,3})?(?!\w|\.\w)"
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

    @property
    def nearest_to(self) -> Version:
        """The version by which the nearest other one is found where none is that was asked for."""
        return Version(".".join(map(str, self.release)))

    @cached_property
    def _bounds(self) -> SpecifierSet | None:
        return SpecifierSet(self.text) if self.text[0] in "<>=!~" else None

    @cached_property
    def _pre(self) -> Version | None:
        return Version(self.text) if re.search("[a-z]", self.text.replace(".x", "")) else None


def asked_versions(question: str) -> tuple[AskedVersion, ...]:
    """The versions of the ADK that a question names, once each, in order."""
    return tuple(dict.fromkeys(_read(match) for match in _mentions(question)))


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
        signs = [(sign.strip(), number.lower().replace("*", "x")) for sign, number in bounds]
        if len(signs) == 1 and (signs[0][0] in _EXACTLY or _is_series(*signs[0])):
            return _plain(signs[0][1])
        return AskedVersion(",".join(_bound(*each) for each in signs), _release(signs[0][1]))
    number = match["number"].lower().replace("*", "x")
    return AskedVersion(_bound(">=", number), _release(number)) if match["on"] else _plain(number)


def _is_series(sign: str, number: str) -> bool:
    """Whether a bound is one that only people write: `~=2` and `~=2.1.x` mean any 2.y and any 2.1.z."""
    return sign == "~=" and (number.endswith(".x") or number.isdigit())


def _bound(sign: str, number: str) -> str:
    """A bound as packages write it, also of a number that stands for many: above 1.x begins 2, and up to 2.x ends at 3.

    `===` compares spellings, which nobody means who asks.
    """
    sign = "==" if sign == "===" else sign
    release = _release(number)
    if sign == "~=" and len(release) == 1 and not number.endswith(".x"):
        # Packages demand two numbers. `~=2b1` means no earlier one of the same series.
        return f">={number},=={release[0]}.*"
    if not number.endswith(".x"):
        return f"{sign}{number}"
    series = ".".join(map(str, release))
    beyond = ".".join(map(str, (*release[:-1], release[-1] + 1)))
    return {
        ">": f">={beyond}",
        "<=": f"<{beyond}",
        ">=": f">={series}",
        "<": f"<{series}",
        "!=": f"!={series}.*",
    }.get(sign, f"=={series}.*")


def _plain(number: str) -> AskedVersion:
    return AskedVersion(number.replace("*", "x"), _release(number))


def _release(number: str) -> tuple[int, ...]:
    return Version(number.replace("*", "x").removesuffix(".x")).release


def _padded(version: Version) -> tuple[int, ...]:
    return (*version.release, 0, 0, 0)
