"""An Evidence Pack as a prompt, fitted to a token budget (reference pipeline section 5).

Segments by priority: the system prompt with the note on the search (CRITICAL) and the question (HIGH) always stay; of
the conversation (MEDIUM) the oldest turns go first, of the context documents (LOW) the least relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.prompt import Turn
from adk_evidence.render.prompt_text import CONVERSATION, bare_lead, lead, question, quote_of, turn
from adk_evidence.render.quotes import JOIN_TOKENS, Quote, take, written
from adk_evidence.tokens import estimate_tokens

DEFAULT_MAX_TOKENS = 8000


@dataclass(frozen=True)
class PromptBlock:
    """The rendered prompt.

    Args:
        text: The prompt.
        tokens: Its estimated tokens.
        included: How many results it holds.
        turns: How many turns of the conversation it holds, the newest ones.
        note: A sentence where no result fits, or where what must stay exceeds the budget; else empty.
    """

    text: str
    tokens: int
    included: int
    turns: int
    note: str


def to_prompt(
    pack: EvidencePack,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    *,
    system: str = "",
    history: Sequence[Turn] = (),
    max_documents: int | None = None,
    max_document_tokens: int | None = None,
) -> PromptBlock:
    """Assemble a prompt: system prompt and note on the search, context documents, conversation, question.

    Turns are fitted into the budget from the newest on, then documents in the pack's order; those that stay are
    numbered anew, and the last of them may be cut. Where no document fits, the prompt says so instead. It exceeds
    the budget only where the system prompt, the note that nothing fits and the question do; then it is these three.

    Args:
        pack: The pack.
        max_tokens: Budget of the whole prompt, in estimated tokens.
        system: The caller's own instructions. They are trusted; only hidden characters are shown instead of obeyed.
        history: Turns before the question, oldest first.
        max_documents: Most results to show, at least 1; all that fit by default.
        max_document_tokens: Most tokens of each result's text; what is cut off is marked.
    """
    wanted = [quote_of(candidate) for candidate in pack.candidates[:max_documents]]
    if max_document_tokens is not None:
        wanted = [quote.limited(max_document_tokens) for quote in wanted]
    full, query, turns = lead(pack, system), question(pack), [turn(one) for one in history]
    fitted = _fit(full, query, turns, wanted, max_tokens)
    if fitted is None or (wanted and not fitted.documents):
        bare = bare_lead(pack, system)
        fitted = _fit(bare, query, turns, (), max_tokens) or _Fitted(bare, (), (), query)
    text = "\n\n".join(fitted.segments()) + "\n"
    tokens = estimate_tokens(text)
    notes = []
    if tokens > max_tokens:
        notes.append(f"What must stay of the prompt takes {tokens} tokens, more than the {max_tokens} allowed.")
    if wanted and not fitted.documents:
        needed = _cost(full, query) + _cost(*_conversation(turns)) + wanted[0].least_cost(1)
        notes.append(f"A prompt of {max_tokens} tokens has no room for evidence; allow at least {needed}.")
    return PromptBlock(text, tokens, len(fitted.documents), len(fitted.turns), " ".join(notes))


@dataclass(frozen=True)
class _Fitted:
    lead: str
    documents: Sequence[str]
    turns: Sequence[str]
    question: str

    def segments(self) -> list[str]:
        return [self.lead, *self.documents, *_conversation(self.turns), self.question]


def _fit(head: str, query: str, turns: Sequence[str], quotes: Sequence[Quote], max_tokens: int) -> _Fitted | None:
    """As much as fits, or None where the head and the question do not."""
    room = max_tokens - _cost(head, query)
    if room < 0:
        return None
    kept = _newest(turns, room)
    taken, _ = take(quotes, room - _cost(*_conversation(kept)))
    return _Fitted(head, written(taken), kept, query)


def _newest(turns: Sequence[str], room: int) -> Sequence[str]:
    """The last turns that fit, without gaps."""
    rest = room - _cost(CONVERSATION)
    first = len(turns)
    while first and (rest := rest - _cost(turns[first - 1])) >= 0:
        first -= 1
    return turns[first:]


def _conversation(turns: Sequence[str]) -> list[str]:
    return [CONVERSATION, *turns] if turns else []


def _cost(*segments: str) -> int:
    """Tokens of segments, each with what joins it to the next: their sum is exactly that of the joined text."""
    return sum(estimate_tokens(segment) + JOIN_TOKENS for segment in segments)
