"""`get_context`: what an agent should read before a task, within a token budget."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.citations.verify import verify
from adk_evidence.models.pack import LineSpan, Quality, round_score
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.pack import citation_of
from adk_evidence.tokens import estimate_tokens
from adk_evidence_agents.operations.advice import on_age
from adk_evidence_agents.operations.bundle import Text, fit, write_out
from adk_evidence_agents.operations.places import holds
from adk_evidence_agents.operations.related import related_files
from adk_evidence_agents.operations.requests import GetContextParameters
from adk_evidence_agents.operations.responses import ContextBundle, ContextSource, RelatedFile
from adk_evidence_agents.operations.roles import KNOWN, NEUTRAL, Role, role_of
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.operations.searching import Answered, Found, merged, search_indexes

# Of one mixed search; the specification's 20 results of code and 10 of docs are the most that a bundle takes.
SEARCHED = 30
MAX_CODE = 20
MAX_DOCS = 10
RELATED_TO = 5
CONFIDENCE = {"high": 0.9, "mixed": 0.6, "keyword_only": 0.4, "none": 0.1}


def get_context(run: Run, parameters: GetContextParameters) -> ContextBundle:
    """The bundle for a task.

    Raises:
        EvidenceError: No index can answer.
    """
    role = _role(run, parameters.agent_type)
    request = EvidenceRequest(query=parameters.task_description, task_mode=role.task_mode, max_results_final=SEARCHED)
    answers = search_indexes(run, run.names(parameters.collection_name), request)
    found = merged([answer.found for answer in answers])
    relations = [file for answer in answers for file in related_files(answer.found[:RELATED_TO])]
    quality = _quality(answers)
    code, docs, named = fit(
        [_text(item) for item in found if item.hit.payload.kind == "code"][:MAX_CODE],
        [_text(item) for item in found if item.hit.payload.kind == "doc"][:MAX_DOCS],
        relations,
        quality=quality.note,
        max_tokens=parameters.max_tokens,
        code_share=role.code_share,
    )
    if found and not code and not docs:
        run.notes.advise(f"Not even a part of the first result fits into {parameters.max_tokens} tokens; allow more.")
    on_age(run, [(item.source.collection_name, item.source.verification) for item in (*code, *docs)])
    return _bundle(code, docs, named, quality)


def confidence(quality: Quality, taken: Sequence[Text]) -> float:
    """How far a bundle can be relied on, 0 to 1: what its quality is worth, times the share of checked texts."""
    if not taken:
        return 0.0
    checked = sum(holds(item.source.verification) for item in taken) / len(taken)
    return round_score(CONFIDENCE[quality.level] * checked)


def _bundle(
    code: Sequence[Text], docs: Sequence[Text], relations: tuple[RelatedFile, ...], quality: Quality
) -> ContextBundle:
    bundle = ContextBundle(
        relevant_code=tuple(item.content for item in code),
        relevant_docs=tuple(item.content for item in docs),
        related_files=tuple(file.file_path for file in relations),
        total_tokens=0,
        confidence=confidence(quality, [*code, *docs]),
        code_sources=tuple(item.source for item in code),
        doc_sources=tuple(item.source for item in docs),
        relations=relations,
        quality=quality.note,
    )
    return bundle.model_copy(update={"total_tokens": estimate_tokens(write_out(bundle))})


def _role(run: Run, agent_type: str) -> Role:
    role = role_of(agent_type)
    if role is None:
        run.notes.advise(f"The agent_type is not known and gets the neutral mix of docs and code; name {KNOWN}.")
    return role or NEUTRAL


def _quality(answers: Sequence[Answered]) -> Quality:
    """The best of the indexes' qualities, with the sentence of each."""
    if len(answers) == 1:
        return answers[0].quality
    levels = list(CONFIDENCE)
    best = min((answer.quality.level for answer in answers), key=levels.index)
    return Quality(level=best, note=" ".join(f"{answer.name}: {answer.quality.note}" for answer in answers))


def _text(item: Found) -> Text:
    payload = item.hit.payload
    with item.opened.service.pin() as index:
        verification = verify(payload, index.source_of(payload))
    source = ContextSource(
        citation=citation_of(payload),
        collection_name=item.name,
        file_path=payload.path,
        lines=LineSpan(start=payload.start_line, end=payload.end_line),
        source_type=payload.source_type,
        language=payload.lang,
        verification=verification,
        tokens=estimate_tokens(payload.body),
        truncated=False,
    )
    return Text(payload.body, source)
