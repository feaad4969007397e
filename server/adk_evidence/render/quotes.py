"""Texts quoted in a prompt: numbered, cited and fenced, as many as fit into a token budget."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from adk_evidence.render.portions import Choice, Portion
from adk_evidence.render.sanitize import code_span, fenced, one_line
from adk_evidence.text.tokens import estimate_tokens, truncate_tokens

# Less of a text than this says too little to be worth its header.
MIN_PARTIAL_TOKENS = 60
# Less than this of the last of several quotes says less than more of the others.
MIN_LAST_TOKENS = 100
# When so much of a quote is chosen, its other parts are worth half.
HALVED_TOKENS = 800
CUT = "\n[...]"
# Two parts are joined by an empty line, one token. Counting is additive: no part begins or ends with white space.
JOIN_TOKENS = 1

# The characters of URLs (RFC 3986) without brackets: a citation of these alone is one word and needs no backticks.
_ONE_WORD = re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+(?: L\d+-L\d+)?")


@dataclass(frozen=True)
class Quote:
    """A text with its citation and what is said of it.

    Its number stands behind `mark`, e.g. `CTX`. `facts` say where the text stands and whether its citation holds. The
    text cannot close its fence, and may be a part of `whole`. `portion` is what is quoted of a
    candidate instead of a text.
    """

    mark: str
    citation: str
    facts: str
    text: str
    language: str
    whole: str | None = None
    portion: Portion | None = None

    @property
    def is_cut(self) -> bool:
        return self.whole is not None

    def written(self, number: int) -> str:
        return f"[{self.mark} {number}] {self._body}"

    # Kept, as the costs are, since fitting into a budget asks for them several times.
    @functools.cached_property
    def _body(self) -> str:
        language = self.language if self.language.isalnum() else "text"
        # No line begins with corpus text: outside the fence it could open another fence.
        facts = f"\nAT: {one_line(self.facts)}" if self.facts else ""
        return f"{cited(self.citation)}{facts}\n{fenced(self.quoted, language)}"

    @functools.cached_property
    def cost(self) -> int:
        """Tokens that the quote adds to a prompt, whatever its number: up to three digits are one token."""
        return estimate_tokens(self.written(1)) + JOIN_TOKENS

    @property
    def quoted(self) -> str:
        return self.text if self.portion is None else self.portion.text

    @functools.cached_property
    def text_tokens(self) -> int:
        return estimate_tokens(self.quoted)

    def limited(self, tokens: int) -> Quote:
        """The quote with a text of at most so many tokens, the mark of the cut included.

        The text ends with a whole line, unless this leaves less than half of what fits.
        """
        if self.text_tokens <= tokens:
            return self
        whole = self.quoted if self.whole is None else self.whole
        portion = self.portion.within(tokens) if self.portion is not None else None
        if portion is not None:
            return replace(self, whole=whole, portion=portion)
        beginning = truncate_tokens(whole, max(0, tokens - estimate_tokens(CUT))).rstrip()
        ended = beginning.rpartition("\n")[0].rstrip()
        if len(ended) > len(beginning) / 2 and whole[len(beginning) : len(beginning) + 1] != "\n":
            beginning = ended
        return replace(self, text=beginning + CUT, whole=whole, portion=None)

    @property
    def header_cost(self) -> int:
        """Tokens that the quote adds to a prompt beside its text."""
        # The white space around a text may make one token with the line breaks of the fence, which may be longer.
        return replace(self, text="x", portion=None).cost + 1

    @property
    def least_cost(self) -> int:
        """Tokens that the quote adds to a prompt when as little of the text is shown as is worth showing."""
        return self.header_cost + min(self.text_tokens, MIN_PARTIAL_TOKENS + estimate_tokens(CUT))


def cited(citation: str) -> str:
    """A citation to copy; between backticks if it is not one plain word, e.g. because its path has a space."""
    return citation if _ONE_WORD.fullmatch(citation) else code_span(citation)


def written(quotes: Iterable[Quote]) -> list[str]:
    """Quotes numbered from 1."""
    return [quote.written(number) for number, quote in enumerate(quotes, 1)]


def take(quotes: Sequence[Quote], room: int) -> tuple[list[Quote], int]:
    """The first quotes that fit, the last one cut short where that leaves enough of it, and what they cost."""
    taken: list[Quote] = []
    spent = 0
    for quote in quotes:
        if spent + quote.cost <= room:
            taken.append(quote)
            spent += quote.cost
            continue
        left = room - spent
        if left >= quote.least_cost:
            short = quote.limited(left - quote.header_cost)
            if short.cost <= left:
                taken.append(short)
                spent += short.cost
        break
    return taken, spent


def fill(quotes: Sequence[Quote], room: int) -> list[Quote]:
    """The first quotes with the best of their parts, as much as fits.

    What is worth more comes first. The more of a quote is chosen, the less its other parts are worth: the second answer
    to a question says more than the last lines of the first. No quote begins before the ones that stand before it.
    Where the first part of a quote has no room, the quote is cut, and those behind it are left out.
    """
    choices = [
        Choice(quote.portion, room) if quote.portion is not None and not quote.is_cut else None for quote in quotes
    ]
    waiting = [_parts(choice, place) for place, choice in enumerate(choices)]
    found: list[Quote] = []
    left, end = room, len(quotes)
    while begun := [place for place in range(min(len(found) + 1, end)) if waiting[place]]:
        place = max(begun, key=lambda place: _worth_next(waiting[place], choices[place]))
        opens = place == len(found)
        quote, choice, part = quotes[place], choices[place], waiting[place].pop().place
        if choice is None or part is None:
            price = quote.cost if quote.cost <= left else None
        else:
            header = quote.header_cost if opens else 0
            raised = choice.add(part, left - header)
            price = None if raised is None else raised + header
        if price is not None:
            left -= price
            if opens:
                found.append(quote)
        elif opens:
            end = place
            if left >= quote.least_cost:
                found.append(quote.limited(left - quote.header_cost))
                left = 0
    for place, choice in enumerate(choices[: len(found)]):
        if choice is not None and choice.places:
            found[place] = replace(found[place], portion=choice.portion())
    if len(found) > 1 and found[-1].text_tokens < min(MIN_LAST_TOKENS, quotes[len(found) - 1].text_tokens):
        return fill(quotes[: len(found) - 1], room)
    return found


class _Waiting(NamedTuple):
    """A part that is not chosen yet by what it is worth and its place in the quote; None is the whole quote."""

    worth: float
    place: int | None


def _parts(choice: Choice | None, place: int) -> list[_Waiting]:
    """The parts of the quote at a place, the best and first one last. A quote without parts counts as one."""
    steps = [_Waiting(*step) for step in choice.steps()] if choice is not None else []
    return sorted(steps or [_Waiting(1 / (place + 1), None)], key=lambda step: (step.worth, -(step.place or 0)))


def _worth_next(waiting: Sequence[_Waiting], choice: Choice | None) -> float:
    return waiting[-1].worth / (1 + (choice.price if choice is not None else 0) / HALVED_TOKENS)


def cost(quotes: Iterable[Quote]) -> int:
    """Tokens that all quotes add to a prompt."""
    return sum(quote.cost for quote in quotes)
