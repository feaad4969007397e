"""What is done with the files of a corpus, by their form: how they are cut, and which URLs and titles they have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from adk_evidence.index.sources import SourceReader
from adk_evidence.models.chunk import sha256_text
from adk_evidence.readers.pages.includes import IncludeReader
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.code import chunk_code
from adk_ingest.chunking.prose import chunk_prose
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.credentials import is_credential_file
from adk_ingest.corpora.known_files import KnownFile
from adk_ingest.sources.api_reference import api_reference_page, api_reference_url
from adk_ingest.sources.base import CorpusSource

# What a docstring's escapes can put into a page but no text file that is read back holds: control characters
# other than newline and tab, lone surrogates.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def url_of(corpus: CorpusInput, path: str, anchor: str | None) -> str | None:
    """Where a section of a page is published; None where it is not, or nobody knows."""
    if corpus.form == "api-reference":
        return api_reference_url(corpus.site_url or "", anchor)
    url = corpus.site.url_for(path) if corpus.site else None
    return f"{url}#{anchor}" if url and anchor else url


def title_of(corpus: CorpusInput, path: str) -> str | None:
    """A page's title in the navigation of its site."""
    return corpus.site.title_for(path) if corpus.site else None


def is_portable(corpus: CorpusInput) -> bool:
    """Whether another process can cut the files of a corpus into chunks."""
    return corpus.form in ("code", "folder-docs", "folder-code")


def chunk_file(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    """The chunks of a file of a corpus."""
    chunking = corpus.settings.ingestion.chunking
    match corpus.form:
        case "site":
            return chunk_prose(file, chunking, include_reader(corpus.source), readers=corpus.readers)
        case "api-reference":
            return _api_page(corpus, file)
        case "code":
            return chunk_code(file, chunking)
        case "folder-docs":
            included = corpus.included
            return chunk_prose(file, chunking, lambda path: included[path].text if path in included else None)
        case "folder-code":
            return _named_by_extension(file, chunk_code(file, chunking))


def _api_page(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    module = corpus.modules[file.path]
    page = api_reference_page(module.file.path, module.file.text, module.name, module.exports)
    if page is None:
        return ChunkedFile([])
    page = _NOT_TEXT.sub("\ufffd", page)
    chunked = chunk_prose(SourceFile(file.path, page, file.file_hash), corpus.settings.ingestion.chunking)
    return replace(chunked, text_hash=sha256_text(page), page=page)


def _named_by_extension(file: SourceFile, chunked: ChunkedFile) -> ChunkedFile:
    """The chunks of a file in a language that no chunker knows have its extension as their language."""
    language = PurePosixPath(file.path).suffix.lstrip(".").lower()
    if language:
        chunked.chunks = [replace(raw, lang=language) if raw.lang == "txt" else raw for raw in chunked.chunks]
    return chunked


def include_reader(source: CorpusSource) -> IncludeReader:
    """Reads what a page includes; None for a file that is not there or holds credentials."""
    find = included_files(source)

    def read(path: str) -> str | None:
        # An include that cannot be read counts as missing, and the chunk says so.
        file = find(path)
        return None if file is None else file.text

    return read


def included_files(source: CorpusSource) -> Callable[[str], KnownFile | None]:
    """Finds the files that pages include; None for a file that is not there, is no text or holds credentials."""
    reader = SourceReader(source.location())

    def find(path: str) -> KnownFile | None:
        disk = reader.on_disk(path)
        if disk is None or is_credential_file(path) or is_credential_file(disk):
            return None
        file = source.known.look_at(disk)
        return file if file is not None and file.facts.reason in (None, "empty") else None

    return find
