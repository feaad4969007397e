"""From raw chunks to chunk records: header, hashes, ids and the texts that the encoders see (SPEC 3 section 3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from adk_evidence.models.chunk import SOURCE_TYPES, ChunkRecord, make_chunk_id, sha256_text
from adk_evidence.readers.units import packed, units
from adk_evidence.text.tokens import estimate_tokens
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.chunkers import chunker_version
from adk_ingest.corpora.forms import title_of, url_of
from adk_ingest.records.dense_text import full_text, passages
from adk_ingest.records.lexical import lexical_text
from adk_ingest.records.questions import name_of, names_inside

if TYPE_CHECKING:
    from adk_ingest.corpora.corpus import CorpusInput

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def records(
    file: SourceFile,
    chunked: ChunkedFile,
    corpus: CorpusInput,
    leave_out: Callable[[RawChunk, str], bool] = lambda raw, lexical: False,
) -> Iterator[ChunkRecord]:
    """The records of one file, `chunk_index` from 0 in the order of its chunks.

    `leave_out` says of a chunk and its lexical text whether the chunk gets no record.
    """
    # YAML's escapes can make a lone surrogate, which no store takes.
    title = _SURROGATE.sub("\ufffd", title_of(corpus, file.path) or chunked.title or "") or None
    seen = Counter[str]()
    index = 0
    for raw in chunked.chunks:
        name = name_of(raw, file.path, corpus.text_kind)
        at = (name, seen[name], raw.body, names_inside(raw, file.path))
        parts = corpus.tasks.of(*at)
        ways = (way for part in parts for way in part.task.ways)
        questions = tuple(dict.fromkeys((*corpus.questions.of(*at), *ways)))
        seen[name] += 1
        lexical = lexical_text(
            raw,
            path=file.path,
            title=title,
            kind=corpus.text_kind,
            settings=corpus.settings.ingestion.lexical,
            questions=questions,
        )
        if not leave_out(raw, lexical):
            record = _record(file, chunked.text_hash or file.file_hash, index, raw, title, lexical, corpus, questions)
            yield record.model_copy(
                update={"tasks": tuple((part.task.title, part.role, part.task.chunks) for part in parts)}
            )
            index += 1


def _record(
    file: SourceFile,
    file_hash: str,
    index: int,
    raw: RawChunk,
    title: str | None,
    lexical: str,
    corpus: CorpusInput,
    questions: tuple[str, ...],
) -> ChunkRecord:
    source = corpus.source
    head = header(raw, file.path, corpus)
    lead = head + (f"{raw.tail}\n" if raw.tail else "")
    appendix = _appendix(raw)
    text = lead + raw.body + appendix
    text_hash = sha256_text(text)
    passage_lines: tuple[int, ...] = (raw.start_line,)
    match corpus.settings.embedding.dense.text:
        case "full":
            searched = "\n".join(raw.searched_lines) if raw.left_out else raw.body
            dense_texts: tuple[str, ...] = (full_text(lead + searched + appendix, len(head)),)
        case "passages":
            found = passages(raw, path=file.path, title=title, kind=corpus.text_kind, repeats=corpus.is_generated)
            dense_texts, passage_lines = zip(*found, strict=True)
    return ChunkRecord(
        chunk_id=make_chunk_id(source.corpus, file.path, index, text_hash),
        corpus=source.corpus,
        repo=source.repo,
        commit=source.commit,
        ref=source.ref,
        path=file.path,
        uri=url_of(corpus, file.path, raw.anchor) if corpus.kind == "doc" else None,
        kind=corpus.kind,
        source_type=SOURCE_TYPES[corpus.kind],
        origin=corpus.origin,
        lang=raw.lang,
        symbol=raw.symbol,
        symbol_kind=raw.symbol_kind,
        symbols=raw.symbols,
        names=tuple(dict.fromkeys(symbol.rpartition(".")[2] for symbol in raw.symbols)),
        # Nobody imports a sample.
        fqn=None if corpus.origin == "sample" else raw.fqn,
        signature=raw.signature,
        decorators=raw.decorators,
        headings=raw.headings,
        title=title,
        code_langs=raw.code_langs,
        availability=raw.availability,
        for_language=raw.for_language,
        left_out=raw.left_out,
        passage_lines=passage_lines,
        units=packed(units(raw.body.split("\n"), raw.lang)) if raw.start_col is None else "",
        includes=tuple(attachment.path for attachment in raw.attachments),
        questions=questions,
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
        text_tokens=estimate_tokens(lead + "\n".join(raw.searched_lines) + appendix if raw.left_out else text),
        file_hash=file_hash,
        created_at=corpus.created_at,
        chunker_version=chunker_version(),
        lexical_text=lexical,
        dense_texts=dense_texts,
    )


def header(raw: RawChunk, path: str, corpus: CorpusInput) -> str:
    """The context header, in the words of SPEC 3 sections 5.1.1 and 5.2.3 without COMMIT, which the payload has."""
    source = corpus.source
    first = f"[CORPUS={source.corpus}] [REPO={source.repo}]\n"
    if corpus.text_kind == "code":
        symbol = raw.symbol or "module"
        return f"{first}[PATH={path}] [SYMBOL={symbol}] [LINES={raw.start_line}-{raw.end_line}]\n---\n"
    trail = f"[HEADINGS={' > '.join(raw.headings)}]\n" if raw.headings else ""
    return f"{first}[PATH={path}]\n{trail}---\n"


def _appendix(raw: RawChunk) -> str:
    """Included files below the chunk's own lines, which stay verbatim, and the names of those that are missing."""
    parts = [f"\n\n[INCLUDED {attachment.path}]\n{attachment.text}" for attachment in raw.attachments]
    parts += [f"\n\n[INCLUDE NOT AVAILABLE {path}]" for path in raw.missing_includes]
    return "".join(parts)
