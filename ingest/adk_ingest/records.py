"""From raw chunks to chunk records: header, hashes, ids and the texts that the encoders see (SPEC 3 section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adk_evidence.models.chunk import SOURCE_TYPES, ChunkRecord, Kind, Origin, make_chunk_id, sha256_text
from adk_evidence.settings import DenseText, LexicalSettings
from adk_evidence.tokens import estimate_tokens
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.dense_text import brief_text, full_text, passages
from adk_ingest.lexical import lexical_text

_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class RecordContext:
    """What all chunks of one corpus share. `url_for` gives a page's URL for a path and an anchor, or None."""

    corpus: str
    repo: str
    commit: str
    ref: str | None
    kind: Kind
    origin: Origin
    created_at: str
    chunker_version: str
    lexical: LexicalSettings
    dense_text: DenseText
    url_for: Callable[[str, str | None], str | None]
    title_for: Callable[[str], str | None]


def records(
    file: SourceFile,
    chunked: ChunkedFile,
    context: RecordContext,
    leave_out: Callable[[RawChunk, str], bool] = lambda raw, lexical: False,
) -> Iterator[ChunkRecord]:
    """The records of one file, `chunk_index` from 0 in the order of its chunks.

    Args:
        file: The file.
        chunked: Its chunks.
        context: What all chunks of the corpus share.
        leave_out: Asked with each chunk and its lexical text; says which chunks get no record.
    """
    # YAML's escapes can make a lone surrogate, which no store takes.
    title = _SURROGATE.sub("\ufffd", context.title_for(file.path) or chunked.title or "") or None
    index = 0
    for raw in chunked.chunks:
        lexical = lexical_text(raw, path=file.path, title=title, kind=context.kind, settings=context.lexical)
        if not leave_out(raw, lexical):
            yield _record(file, index, raw, title, lexical, context)
            index += 1


def _record(
    file: SourceFile, index: int, raw: RawChunk, title: str | None, lexical: str, context: RecordContext
) -> ChunkRecord:
    head = header(raw, file.path, context)
    lead = head + (f"{raw.tail}\n" if raw.tail else "")
    text = lead + raw.body + _appendix(raw)
    text_hash = sha256_text(text)
    return ChunkRecord(
        chunk_id=make_chunk_id(context.corpus, context.commit, file.path, index, text_hash),
        corpus=context.corpus,
        repo=context.repo,
        commit=context.commit,
        ref=context.ref,
        path=file.path,
        uri=context.url_for(file.path, raw.anchor) if context.kind == "doc" else None,
        kind=context.kind,
        source_type=SOURCE_TYPES[context.kind],
        origin=context.origin,
        lang=raw.lang,
        symbol=raw.symbol,
        symbol_kind=raw.symbol_kind,
        symbols=raw.symbols,
        names=tuple(dict.fromkeys(symbol.rpartition(".")[2] for symbol in raw.symbols)),
        fqn=raw.fqn,
        signature=raw.signature,
        headings=raw.headings,
        title=title,
        code_langs=raw.code_langs,
        includes=tuple(attachment.path for attachment in raw.attachments),
        chunk_index=index,
        start_line=raw.start_line,
        end_line=raw.end_line,
        start_col=raw.start_col,
        end_col=raw.end_col,
        body_start=len(lead),
        body_end=len(lead) + len(raw.body),
        text=text,
        text_hash=text_hash,
        source_hash=sha256_text(raw.body),
        text_tokens=estimate_tokens(text),
        file_hash=file.file_hash,
        created_at=context.created_at,
        chunker_version=context.chunker_version,
        lexical_text=lexical,
        dense_texts=_dense_texts(raw, file.path, title, context, full=lambda: full_text(text, len(head))),
    )


def _dense_texts(
    raw: RawChunk, path: str, title: str | None, context: RecordContext, *, full: Callable[[], str]
) -> tuple[str, ...]:
    if context.dense_text == "full":
        return (full(),)
    if context.dense_text == "brief":
        return (brief_text(raw, path=path, title=title, kind=context.kind),)
    return passages(raw, path=path, title=title, kind=context.kind)


def header(raw: RawChunk, path: str, context: RecordContext) -> str:
    """The context header, word for word as SPEC 3 sections 5.1.1 and 5.2.3 have it."""
    first = f"[CORPUS={context.corpus}] [REPO={context.repo}] [COMMIT={context.commit}]\n"
    if context.kind == "code":
        symbol = raw.symbol or "module"
        return f"{first}[PATH={path}] [SYMBOL={symbol}] [LINES={raw.start_line}-{raw.end_line}]\n---\n"
    trail = f"[HEADINGS={' > '.join(raw.headings)}]\n" if raw.headings else ""
    return f"{first}[PATH={path}]\n{trail}---\n"


def _appendix(raw: RawChunk) -> str:
    """Included files below the chunk's own lines, which stay verbatim; what could not be included is said."""
    parts = [f"\n\n[INCLUDED {attachment.path}]\n{attachment.text}" for attachment in raw.attachments]
    parts += [f"\n\n[INCLUDE NOT AVAILABLE {path}]" for path in raw.missing_includes]
    return "".join(parts)
