"""What a run makes of one file, of the file and its corpus alone: records with the keys of their vectors."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adk_evidence.embedding.base import SparseEncoder, SparseVector
from adk_evidence.models.chunk import ChunkRecord, sha256_text
from adk_evidence.store.manifest import FileEntry
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.credentials import holds_credential
from adk_ingest.corpora.forms import chunk_file
from adk_ingest.records.record import records

# Gives the cache keys of the dense vectors of a file's texts.
KeysOf = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class MadeFile:
    """The records of a file and what a run says of them.

    `pickled` has a pickle for each record, one behind the other: `(record, sparse vector or None)`. `failure` says why
    the chunker failed; such a file has no records. `without_terms` has the place of each chunk that got no record.
    `page` is the text of a generated page.
    """

    path: str
    entry: FileEntry
    pickled: bytes
    dense_keys: tuple[str, ...]
    sparse_keys: tuple[str, ...] = ()
    tokens: int = 0
    failure: str | None = None
    parse_failed: bool = False
    warnings: list[str] = field(default_factory=list)
    without_terms: list[str] = field(default_factory=list)
    page: str | None = None


def keys_of_texts(texts: Sequence[str]) -> list[str]:
    """The cache keys of texts that a model embeds one by one."""
    return [sha256_text(text) for text in texts]


def make_file(
    corpus: CorpusInput,
    file: SourceFile,
    sparse: SparseEncoder,
    keys_of: KeysOf = keys_of_texts,
    *,
    encode: bool = False,
) -> MadeFile:
    """Cut a file into chunks and make their records; chunks without a word that `sparse` knows get none.

    With `encode`, the records come with their sparse vectors.
    """
    failure: str | None = None
    try:
        file = _as_it_is(file)
        chunked = chunk_file(corpus, file)
    except Exception as exc:
        failure, chunked = f"{type(exc).__name__}: {exc}", ChunkedFile([], parse_failed=True)
    without_terms: list[str] = []

    def leave_out(raw: RawChunk, lexical: str) -> bool:
        if sparse.has_terms(lexical):
            return False
        without_terms.append(place(file.path, raw))
        return True

    made = _with_dense_keys(list(records(file, chunked, corpus, leave_out)), keys_of)
    lexical = [record.lexical_text for record in made]
    vectors: Sequence[SparseVector | None] = (
        sparse.encode_documents(lexical, corpus.kind) if encode else [None] * len(made)
    )
    return MadeFile(
        path=file.path,
        entry=FileEntry(
            sha256=file.file_hash,
            own_sha256=own if (own := sha256_text(file.text)) != file.file_hash else None,
            chunks=len(made),
            passages=sum(len(record.dense_texts) + len(record.questions) for record in made),
            failed=failure is not None,
            with_questions=sum(bool(record.questions) for record in made),
            content=_content(made),
        ),
        pickled=b"".join(pickle.dumps(pair, pickle.HIGHEST_PROTOCOL) for pair in zip(made, vectors, strict=True)),
        dense_keys=tuple(key for record in made for key in (*record.dense_keys, *record.question_keys)),
        sparse_keys=() if sparse.exact_terms else tuple(sha256_text(text) for text in lexical),
        tokens=sum(record.text_tokens for record in made),
        failure=failure,
        parse_failed=chunked.parse_failed,
        warnings=chunked.warnings,
        without_terms=without_terms,
        page=chunked.page,
    )


def place(path: str, chunk: RawChunk | ChunkRecord) -> str:
    return f"{path}:{chunk.start_line}-{chunk.end_line}"


def _as_it_is(file: SourceFile) -> SourceFile:
    """A file with its text, which chunkers ask for more than once.

    Where the file changed since the run looked at it, its hash is that of the text which is indexed, so that the next
    run compares with that. A text that has got a credential meanwhile is not indexed.
    """
    text = file.text
    is_other = file.known is not None and sha256_text(text) != file.known.facts.digest
    if is_other and holds_credential(text):
        text = ""
    return replace(file, own_text=text, file_hash=sha256_text(text) if is_other else file.file_hash)


def _with_dense_keys(made: Sequence[ChunkRecord], keys_of: KeysOf) -> list[ChunkRecord]:
    """One file's records with the cache keys of their dense vectors."""
    following = iter(keys_of([text for record in made for text in record.dense_texts]))
    return [
        record.model_copy(
            update={
                "dense_keys": tuple(itertools.islice(following, len(record.dense_texts))),
                "question_keys": tuple(keys_of_texts(record.questions)),
            }
        )
        for record in made
    ]


def _content(made: Sequence[ChunkRecord]) -> str:
    """A digest of what is cited and what is searched of a file: its chunks, and the texts behind their vectors."""
    parts = (
        part
        for record in made
        for part in (
            record.chunk_id,
            record.source_hash,
            sha256_text(record.lexical_text),
            *record.dense_keys,
            *record.question_keys,
        )
    )
    # Half of a sha256 is enough, and a manifest may list ten thousand files.
    return sha256_text("\0".join(parts))[:32]
