"""Signatures and fields cut to a token budget between whole parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

from adk_evidence.render.sanitize import one_line
from adk_evidence.text.tokens import estimate_tokens, listed_within, truncate_tokens

# Ends a signature that was cut when it was read.
_CUT = "…"
_MORE = ", ..."
DEPRECATED = " (deprecated)"
_ANNOTATED = re.compile(r"(\w+)\s*:(.+)", re.DOTALL)
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def with_deprecated(signature: str, names: Collection[str]) -> str:
    """A signature in which some parameters are marked as deprecated."""
    start = signature.find("(") + 1
    if not start or not names:
        return signature
    _, end = _parameters(signature, start)
    marked = (f"{part}{DEPRECATED}" if name_of(part) in names else part for part in _parts(signature))
    return f"{signature[:start]}{', '.join(marked)}{signature[end:]}"


def takes(signature: str, name: str) -> bool:
    """Whether a signature has a parameter of that name."""
    return re.search(rf"[(,*]\s*{re.escape(name)}\s*[:=,)]", signature) is not None


def limited_signature(signature: str, tokens: int) -> str:
    """A signature of at most so many tokens; what does not fit goes from the last parameter on, each as a whole.

    What a function returns stays where it is known.
    """
    if not signature.endswith(_CUT) and estimate_tokens(signature) <= tokens:
        return signature
    start = signature.find("(") + 1
    if not start:
        return truncate_tokens(signature, tokens)
    commas, end = _parameters(signature, start)
    returned = "" if signature.endswith(_CUT) else signature[end + 1 :]
    for tail in dict.fromkeys((returned, "")):
        for comma in reversed(commas):
            shown = f"{signature[:comma]}{_MORE}){tail}"
            if estimate_tokens(shown) <= tokens:
                return shown
        without = f"{signature[:start]}...){tail}"
        if tail and estimate_tokens(without) <= tokens:
            return without
    return truncate_tokens(f"{signature[:start]}...)", tokens)


def parameter_names(signature: str) -> list[str]:
    """The names of the parameters of a signature; the dots for those that were cut are none."""
    return [name for part in _parts(signature) if (name := name_of(part)).isidentifier()]


def parameters(signature: str) -> list[tuple[str, str]]:
    """The parameters of a signature that have an annotation, each with that; none that take all the rest."""
    matches = (_ANNOTATED.match(part) for part in _parts(signature))
    return [(match[1], without_default(match[2])) for match in matches if match is not None]


def without_default(annotation: str) -> str:
    """An annotation without what stands behind it: `Annotated[int, Field(gt=1)]` of that with ` = 3`."""
    depth = 0
    for place, char in enumerate(annotation):
        depth += _BRACKETS.get(char, 0)
        if char == "=" and depth == 0:
            return annotation[:place].strip()
    return annotation.strip()


def with_parameters(signature: str, tokens: int, names: Collection[str]) -> str:
    """A signature of at most so many tokens in which some parameters stay, as far as they fit; see `limited_signature`.

    Args:
        signature: The whole signature.
        tokens: The most that is left of it.
        names: The parameters that stay rather than others.
    """
    start, parts = signature.find("(") + 1, _parts(signature)
    wanted = [place for place, part in enumerate(parts) if name_of(part) in names]
    if not wanted or estimate_tokens(signature) <= tokens:
        return limited_signature(signature, tokens)
    shown = ""
    kept: set[int] = set()
    for place in dict.fromkeys([*wanted, *range(len(parts))]):
        kept.add(place)
        longer = f"{signature[:start]}{', '.join(_shown(parts, kept))})"
        if estimate_tokens(longer) <= tokens:
            shown = longer
        elif place in wanted:
            kept.discard(place)
        else:
            break
    return shown if kept.intersection(wanted) else limited_signature(signature, tokens)


def _shown(parts: Sequence[str], kept: Collection[int]) -> Iterator[str]:
    """The kept parameters in their order, with dots for those between them."""
    for place, part in enumerate(parts):
        if place in kept:
            yield part
        elif place == 0 or place - 1 in kept:
            yield _MORE.strip(", ")


def _parts(signature: str) -> list[str]:
    start = signature.find("(") + 1
    commas, end = _parameters(signature, start)
    places = [start, *(comma + 1 for comma in commas), end + 1]
    return [signature[begin : stop - 1].strip() for begin, stop in pairwise(places)]


def name_of(parameter: str) -> str:
    """The name of a parameter or field that is written with its type and value."""
    return parameter.partition(":")[0].partition("=")[0].strip(" *")


def listed_fields(fields: Sequence[str], tokens: int) -> str:
    """Fields in at most so many tokens: whole as far as half of the budget goes, then their names alone."""
    shown: list[str] = []
    spent = 0
    for place, field in enumerate(fields):
        spent += estimate_tokens(field) + 1
        rest = fields[place + 1 :]
        if spent > (tokens // 2 if rest else tokens):
            break
        shown.append(field)
    names = [_name(field) for field in fields[len(shown) :]]
    written = "; ".join(shown)
    if names:
        written = f"{written}; also " if written else "also "
        written += ", ".join(names)
    if estimate_tokens(written) <= tokens:
        return written
    return truncate_tokens(written, tokens - estimate_tokens(_MORE)).rstrip(", ") + _MORE


def listed_notes(notes: Sequence[str], tokens: int) -> str:
    """What is said of fields, a line each; "" where all of it takes more than so many tokens."""
    written = "\n".join(f"- {note}" for note in notes)
    return written if estimate_tokens(written) <= tokens else ""


def listed_takers(takers: Sequence[str], quoted: Callable[[str], str] = one_line) -> str:
    """What objects of a class are passed to; "" where nobody knows. `quoted` writes one of them."""
    return f"passed to {', '.join(map(quoted, takers))}" if takers else ""


def listed_methods(methods: Sequence[str], tokens: int, forms_tokens: int = 0) -> str:
    """Methods: with their parameters where all of that fits, else their names, as many as fit; "" without any.

    Args:
        methods: The form in which each is called, as of `readers.python.call_form`.
        tokens: The most tokens of the names.
        forms_tokens: The most tokens of the whole forms.
    """
    whole = f"methods: {', '.join(methods)}"
    if methods and estimate_tokens(whole) <= forms_tokens:
        return whole
    names = [form.partition("(")[0].rpartition(" ")[2] for form in methods]
    return listed_within(names, tokens, "methods: ")


def _name(field: str) -> str:
    name = name_of(field)
    return f"{name}{DEPRECATED}" if field.endswith(DEPRECATED) else name


def _parameters(signature: str, start: int) -> tuple[list[int], int]:
    """Places of the commas between the parameters behind `start`, and of the bracket that closes them."""
    depth, quote = 0, ""
    found: list[int] = []
    for place in range(start, len(signature)):
        char = signature[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _BRACKETS:
            depth += _BRACKETS[char]
            if depth < 0:
                return found, place
        elif char == "," and depth == 0:
            found.append(place)
    return found, len(signature)
