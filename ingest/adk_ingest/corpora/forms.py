"""What is done with the files of a corpus, by their form: how they are cut, and which URLs and titles they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from adk_evidence.index.sources import SourceReader
from adk_evidence.models.chunk import sha256_text
from adk_evidence.readers.pages.includes import IncludeReader
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.code import chunk_code
from adk_ingest.chunking.prose import chunk_prose
from adk_ingest.corpora.corpus import CorpusInput, Form
from adk_ingest.corpora.credentials import is_credential_file
from adk_ingest.corpora.known_files import KnownFile
from adk_ingest.sources.api_reference import api_reference_page, api_reference_url
from adk_ingest.sources.base import CorpusSource

# What a docstring's escapes can put into a page but no text file that is read back holds: control characters
# other than newline and tab, lone surrogates.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def _no_url(corpus: CorpusInput, path: str, anchor: str | None) -> str | None:
    return None


def _no_title(corpus: CorpusInput, path: str) -> str | None:
    return None


@dataclass(frozen=True)
class Treatment:
    """How the files of one form are treated, and whether another process can cut them into chunks."""

    chunk: Callable[[CorpusInput, SourceFile], ChunkedFile]
    url: Callable[[CorpusInput, str, str | None], str | None] = _no_url
    title: Callable[[CorpusInput, str], str | None] = _no_title
    is_portable: bool = False


def treatment(corpus: CorpusInput) -> Treatment:
    return _TREATMENTS[corpus.form]


def chunk_file(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    """The chunks of a file of a corpus."""
    return treatment(corpus).chunk(corpus, file)


def _site_page(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    include = include_reader(corpus.source)
    return chunk_prose(file, corpus.settings.ingestion.chunking, include, readers=corpus.readers)


def _site_url(corpus: CorpusInput, path: str, anchor: str | None) -> str | None:
    url = corpus.site.url_for(path) if corpus.site else None
    return f"{url}#{anchor}" if url and anchor else url


def _site_title(corpus: CorpusInput, path: str) -> str | None:
    return corpus.site.title_for(path) if corpus.site else None


def _api_page(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    module = corpus.modules[file.path]
    page = api_reference_page(module.file.path, module.file.text, module.name, module.exports)
    if page is None:
        return ChunkedFile([])
    page = _NOT_TEXT.sub("\ufffd", page)
    chunked = chunk_prose(SourceFile(file.path, page, file.file_hash), corpus.settings.ingestion.chunking)
    return replace(chunked, text_hash=sha256_text(page), page=page)


def _api_url(corpus: CorpusInput, path: str, anchor: str | None) -> str | None:
    return api_reference_url(corpus.site_url or "", anchor)


def _code(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    return chunk_code(file, corpus.settings.ingestion.chunking)


def _folder_page(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    def include(path: str) -> str | None:
        return corpus.included[path].text if path in corpus.included else None

    return chunk_prose(file, corpus.settings.ingestion.chunking, include)


def _folder_code(corpus: CorpusInput, file: SourceFile) -> ChunkedFile:
    """A file's chunks; in a language that no chunker knows, its extension is the language's name."""
    chunked = _code(corpus, file)
    language = PurePosixPath(file.path).suffix.lstrip(".").lower()
    if language:
        chunked.chunks = [replace(raw, lang=language) if raw.lang == "txt" else raw for raw in chunked.chunks]
    return chunked


_TREATMENTS: Mapping[Form, Treatment] = {
    "site": Treatment(_site_page, _site_url, _site_title),
    "api-reference": Treatment(_api_page, _api_url),
    "code": Treatment(_code, is_portable=True),
    "folder-docs": Treatment(_folder_page, is_portable=True),
    "folder-code": Treatment(_folder_code, is_portable=True),
}


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
