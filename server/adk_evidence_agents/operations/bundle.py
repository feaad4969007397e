"""A bundle of context, fitted to a token budget and written out as a block for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_evidence.render.quotes import JOIN_TOKENS, Quote, needed, take
from adk_evidence.render.sanitize import fenced, one_line
from adk_evidence.render.view import verification_label
from adk_evidence.tokens import estimate_tokens
from adk_evidence_agents.operations.blocks import frame, place
from adk_evidence_agents.operations.responses import ContextBundle, ContextSource, RelatedFile

# Names of files are cheap and lead on; texts are what was asked for.
RELATED_SHARE = 0.1
_CODE, _DOCS = "CODE", "DOCS"


@dataclass(frozen=True)
class Text:
    """A text that a bundle may hold, and where it comes from."""

    content: str
    source: ContextSource


def fit(
    code: Sequence[Text],
    docs: Sequence[Text],
    relations: Sequence[RelatedFile],
    *,
    quality: str,
    max_tokens: int,
    code_share: float,
) -> tuple[list[Text], list[Text], tuple[RelatedFile, ...]]:
    """Choose what fits, most relevant first; what one kind does not need of its share goes to the other.

    Args:
        code: Code, best first.
        docs: Documentation, best first.
        relations: Related files, closest first.
        quality: The sentence that the bundle begins with.
        max_tokens: Budget of the bundle as `write_out` writes it.
        code_share: Share of the texts' room that code may take.
    """
    room = max_tokens - estimate_tokens(frame(quality))
    named = _related_that_fit(relations, int(room * RELATED_SHARE))
    if named:
        room -= estimate_tokens(_related(named)) + JOIN_TOKENS
    code_entries = [_entry(_CODE, text.content, text.source) for text in code]
    docs_entries = [_entry(_DOCS, text.content, text.source) for text in docs]
    code_room = max(int(room * code_share), room - needed(docs_entries, room))
    _, spent = take(code_entries, code_room)
    taken_docs, spent = take(docs_entries, room - spent)
    taken_code, _ = take(code_entries, room - spent)
    return _chosen(code, taken_code), _chosen(docs, taken_docs), named


def write_out(bundle: ContextBundle) -> str:
    """The bundle as a block for a prompt: every text of the corpora in a fence that it cannot close."""
    code = _written(_CODE, bundle.relevant_code, bundle.code_sources)
    docs = _written(_DOCS, bundle.relevant_docs, bundle.doc_sources)
    related = [_related(bundle.relations)] if bundle.relations else []
    return "\n\n".join([frame(bundle.quality), *code, *docs, *related])


def _written(label: str, contents: Sequence[str], sources: Sequence[ContextSource]) -> list[str]:
    pairs = zip(contents, sources, strict=True)
    return [_entry(label, content, source).written(number) for number, (content, source) in enumerate(pairs, 1)]


def _entry(label: str, content: str, source: ContextSource) -> Quote:
    where = place(source.collection_name, source.file_path, source.lines.start, source.lines.end)
    facts = f"{where} ({verification_label(source.verification)})"
    return Quote(label, source.citation, facts, content, source.language)


def _chosen(texts: Sequence[Text], taken: Sequence[Quote]) -> list[Text]:
    """The texts whose entries were taken, as far as they were."""
    chosen = []
    for text, entry in zip(texts, taken, strict=False):
        about = {"tokens": estimate_tokens(entry.text), "truncated": entry.is_cut}
        chosen.append(Text(entry.text, text.source.model_copy(update=about)))
    return chosen


def _related(relations: Sequence[RelatedFile]) -> str:
    return "RELATED FILES\n" + fenced("\n".join(one_line(_said(file)) for file in relations), "text")


def _said(file: RelatedFile) -> str:
    match file.relation:
        case "imports":
            relation = f"imported by {file.name}"
        case "imported_by":
            relation = f"imports {file.name}"
        case _:
            relation = f"{file.relation} {file.name}"
    return f"{file.collection_name}: {file.file_path} ({relation})"


def _related_that_fit(relations: Sequence[RelatedFile], room: int) -> tuple[RelatedFile, ...]:
    count = len(relations)
    while count and estimate_tokens(_related(relations[:count])) + JOIN_TOKENS > room:
        count -= 1
    return tuple(relations[:count])
