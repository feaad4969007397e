"""`get_context`: what an agent should read before a task, within a token budget, and as a block for a prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from adk_evidence.models.pack import Quality, round_score
from adk_evidence.models.request import EvidenceRequest, TaskMode
from adk_evidence.render.quotes import JOIN_TOKENS, Quote, cost, take, written
from adk_evidence.render.sanitize import DATA_NOTE, code_span, fenced, one_line
from adk_evidence.render.view import deviation
from adk_evidence.text.tokens import estimate_tokens, truncate_tokens
from adk_evidence_agents.operations.related import related_files
from adk_evidence_agents.operations.requests import GetContextParameters
from adk_evidence_agents.operations.responses import ContextBundle, ContextSource, RelatedFile
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.operations.searching import Answered, Found, advise_on_age, merged, search_indexes

# What one mixed search gets: enough of both kinds, whichever leads. A bundle takes at most 20 results of code and 10 of
# docs, as specified.
SEARCHED = 60
MAX_CODE = 20
MAX_DOCS = 10
RELATED_TO = 5
CONFIDENCE = {"high": 0.9, "mixed": 0.6, "keyword_only": 0.4, "none": 0.1}
# Names of files are cheap and lead on; texts are what was asked for.
RELATED_SHARE = 0.1
# So that even the smallest budget has room for a text.
SENTENCE_TOKENS = 60


class Role(NamedTuple):
    """What a kind of agent needs: the mode of the ranking, and the share of its budget that code may take."""

    task_mode: TaskMode
    code_share: float


NEUTRAL = Role("build", 0.5)
# The first row that fits a word of the agent's type decides: a test engineer tests, a debugging engineer debugs.
_ROLES: tuple[tuple[str, Role], ...] = (
    (r"docs?|document\w*|writ\w+", Role("explain", 0.25)),
    (r"tests?|test\w+|qa", Role("build", 0.75)),
    (r"debug\w*|fix\w*|errors?|troubleshoot\w*", Role("debug", 0.6)),
    (r"refactor\w*|review\w*|migrat\w+|optimi[sz]\w+", Role("refactor", 0.7)),
    (r"explain\w*|research\w*|analy\w+|plan\w*|architect\w*|teach\w*", Role("explain", 0.4)),
    (r"build\w*|cod(?:e|er|ing)|develop\w*|engineer\w*|implement\w*|front\w*|back\w*|full\w*", Role("build", 0.6)),
    (r"general", NEUTRAL),
)
KNOWN = "docs, test, debug, refactor, explain, build or general"


def role_of(agent_type: str) -> Role | None:
    """The role of an agent by the words of its type, or None where none of them is known."""
    words = re.findall(r"[a-z]+", agent_type.lower())
    return next((role for pattern, role in _ROLES if any(re.fullmatch(pattern, word) for word in words)), None)


def get_context(run: Run, parameters: GetContextParameters) -> tuple[ContextBundle, str]:
    """The bundle for a task, and the same as a block for a prompt."""
    role = role_of(parameters.agent_type)
    if role is None:
        run.notes.advise(f"The agent_type is not known and gets the neutral mix of docs and code; name {KNOWN}.")
        role = NEUTRAL
    request = EvidenceRequest(query=parameters.task_description, task_mode=role.task_mode, max_results_final=SEARCHED)
    answers = search_indexes(run, request)
    found = merged([answer.found for answer in answers])
    related = [file for answer in answers for file in related_files(answer.found[:RELATED_TO])]
    quality = _quality(answers)
    head = frame(quality.note)

    # Room that one part does not need goes to the others.
    room = parameters.max_tokens - estimate_tokens(head)
    while related and _related_cost(related) > int(room * RELATED_SHARE):
        related.pop()
    room -= _related_cost(related) if related else 0
    code = [item for item in found if item.hit.kind == "code"][:MAX_CODE]
    docs = [item for item in found if item.hit.kind == "doc"][:MAX_DOCS]
    code_quotes, docs_quotes = [quote_of(item, "CODE") for item in code], [quote_of(item, "DOCS") for item in docs]
    _, spent = take(code_quotes, max(int(room * role.code_share), room - cost(docs_quotes)))
    docs_quotes, spent = take(docs_quotes, room - spent)
    code_quotes, _ = take(code_quotes, room - spent)

    shown = [*code[: len(code_quotes)], *docs[: len(docs_quotes)]]
    if found and not shown:
        run.notes.advise(f"Not even a part of the first result fits into {parameters.max_tokens} tokens; allow more.")
    advise_on_age(run, shown)
    checked = sum(item.holds for item in shown) / max(1, len(shown))
    parts = [head, *written(code_quotes), *written(docs_quotes), *([_related(related)] if related else [])]
    text = "\n\n".join(parts)
    bundle = ContextBundle(
        relevant_code=tuple(quote.text for quote in code_quotes),
        relevant_docs=tuple(quote.text for quote in docs_quotes),
        related_files=tuple(file.file_path for file in related),
        total_tokens=estimate_tokens(text),
        confidence=round_score(CONFIDENCE[quality.level] * checked),
        code_sources=tuple(map(_source, code, code_quotes)),
        doc_sources=tuple(map(_source, docs, docs_quotes)),
        relations=tuple(related),
        quality=quality.note,
    )
    return bundle, text


def frame(sentence: str) -> str:
    """The beginning of a block: a sentence on what it holds, and the note that its texts are data."""
    return f"SEARCH CONTEXT: {truncate_tokens(one_line(sentence), SENTENCE_TOKENS).rstrip()}\n{DATA_NOTE}"


def quote_of(item: Found, mark: str, symbol: str = "", why: str = "") -> Quote:
    """A result as a quote, with its symbol, where it stands if its citation is the address of a page, and a reason."""
    payload = item.payload
    at = "" if payload.path in item.citation else f"{payload.path}:{payload.start_line}-{payload.end_line}"
    place = f"{at} {symbol}".strip()
    where = (code_span(place) if place else "") + deviation(item.verification)
    facts = ". ".join(part for part in (where.strip(), why) if part)
    return Quote(mark, item.citation, facts, payload.shown_body, payload.lang)


def _source(item: Found, quote: Quote) -> ContextSource:
    return ContextSource(
        citation=quote.citation,
        collection_name=item.name,
        file_path=item.payload.path,
        lines=item.lines,
        source_type=item.payload.source_type,
        language=item.payload.lang,
        verification=item.verification,
        tokens=estimate_tokens(quote.text),
        truncated=quote.is_cut,
    )


def _quality(answers: Sequence[Answered]) -> Quality:
    """The best quality of all indexes, with the sentence of each index."""
    if len(answers) == 1:
        return answers[0].quality
    best = min((answer.quality.level for answer in answers), key=list(CONFIDENCE).index)
    return Quality(level=best, note=" ".join(f"{answer.name}: {answer.quality.note}" for answer in answers))


def _related(files: Sequence[RelatedFile]) -> str:
    inverse = {"imports": "imported by", "imported_by": "imports"}
    said = (
        f"{file.collection_name}: {file.file_path} ({inverse.get(file.relation, file.relation)} {file.name})"
        for file in files
    )
    return "RELATED FILES\n" + fenced("\n".join(map(one_line, said)), "text")


def _related_cost(files: Sequence[RelatedFile]) -> int:
    return estimate_tokens(_related(files)) + JOIN_TOKENS
