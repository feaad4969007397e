"""Corpora ready to be chunked: a source with its files, chunkers and addresses."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from adk_evidence.citations.sources import FolderReader, SourceLocation
from adk_evidence.embedding.factory import fingerprint
from adk_evidence.errors import SourceError
from adk_evidence.index.manifest import NO_COMMIT, uncommitted_name
from adk_evidence.models.chunk import PAYLOAD_VERSION, Kind, Origin, sha256_text
from adk_evidence.settings import CorpusSettings, IngestionSettings, Settings
from adk_ingest.chunking.base import ChunkedFile, Chunker, SourceFile
from adk_ingest.chunking.code import OTHER_VERSIONS, PYTHON_VERSION, CodeChunker, outline_readers
from adk_ingest.chunking.includes import IncludeReader, find_includes
from adk_ingest.chunking.prose import ProseChunker
from adk_ingest.credentials import holds_credential, is_credential_file
from adk_ingest.dense_text import VERSIONS
from adk_ingest.discovery import discover
from adk_ingest.records import RecordContext
from adk_ingest.sources import api_reference
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.git import as_committed, is_as_committed
from adk_ingest.sources.mkdocs_site import MkdocsSite, check_links

API_REFERENCE = "api-reference"
API_REFERENCE_SITE = "https://adk.dev/"

_DIGEST_CHARS = 12
MARKDOWN = (".md", ".mdx")
MKDOCS_FILES = ("mkdocs.yml", "mkdocs.yaml")
LINK_EXAMPLES = 10

# What a docstring's escapes can put into a page but no text file that is read back holds: control characters
# other than newline and tab, lone surrogates.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

# Folder of generated pages within a generation.
PAGES_FOLDER = "pages"

# Chunkers of languages that the ADK's files are not in. Part of a corpus's state, not of every index's fingerprint: a
# change of one makes the files of the corpora that it cuts count as changed, and leaves all other indexes as they are.
LANGUAGE_CHUNKERS = OTHER_VERSIONS


def chunker_version() -> str:
    """One version for the chunkers of the ADK's files; a change of any of them makes other chunks.

    Those of other languages are `LANGUAGE_CHUNKERS`.
    """
    return "+".join((f"md{ProseChunker.version}", f"txt{ProseChunker.version}", f"py{PYTHON_VERSION}"))


def ingestion_fingerprint(settings: IngestionSettings) -> dict[str, str | int]:
    """What, besides the models, decides which chunks an index holds and what their sparse vectors see."""
    sizes = json.dumps(settings.chunking.model_dump(), sort_keys=True)
    lexical = json.dumps(settings.lexical.model_dump(exclude={"sparse_batch_size"}), sort_keys=True)
    return {
        "chunker": chunker_version(),
        "payload": PAYLOAD_VERSION,
        "chunking": sha256_text(sizes)[:16],
        "lexical": sha256_text(lexical)[:16],
        "api_reference": "yes" if settings.api_reference else "no",
        # Indexes of before hold such chunks, without the sparse vector that every point must have.
        "chunks_without_terms": "left out",
    }


def index_fingerprint(settings: Settings) -> dict[str, str | int]:
    """Everything that an index must have been built with to be brought up to date file by file."""
    dense_text = VERSIONS[settings.embedding.dense.text]
    return {**fingerprint(settings), **ingestion_fingerprint(settings.ingestion), "dense_text": dense_text}


@dataclass(frozen=True)
class Globs:
    """The filters that a corpus was discovered with."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class CorpusInput:
    """One corpus of a run.

    `state` is a hash of everything besides the files themselves that decides its chunks' payloads: when it differs
    from the published index's, every file counts as changed. `pages` are generated texts that the index must keep,
    since no source has them; for a corpus that has such pages, `chunk` fills it. `check` looks at the corpus as a
    whole and returns a sentence for each thing that its authors should know; it is asked only when files changed.
    `site_url` is where its pages are published. `uncommitted` are the paths of files that are not as the commit of the
    source has them; see `as_cited`.
    """

    name: str
    kind: Kind
    source: CorpusSource
    location: SourceLocation
    context: RecordContext
    chunk: Callable[[SourceFile], ChunkedFile]
    state: str
    files: tuple[SourceFile, ...]
    skipped: Mapping[str, list[str]] = field(default_factory=dict)
    decode_warnings: tuple[str, ...] = ()
    globs: Globs = Globs()
    pages: Mapping[str, str] | None = None
    check: Callable[[], list[str]] = list
    site_url: str | None = None
    uncommitted: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Found:
    files: tuple[SourceFile, ...]
    skipped: Mapping[str, list[str]]
    decode_warnings: tuple[str, ...]
    globs: Globs
    uncommitted: frozenset[str]


def docs_corpus(settings: Settings, source: CorpusSource, created_at: str) -> CorpusInput:
    """The documentation corpus of a source."""
    corpus = settings.ingestion.corpora.adk_docs
    site = MkdocsSite.load(source.root, source.site_url or corpus.site_url)
    include = include_reader(source)

    def url_for(path: str, anchor: str | None) -> str | None:
        url = site.url_for(path)
        return f"{url}#{anchor}" if url and anchor else url

    context = record_context(settings, source, "adk_docs", "doc", created_at, url_for=url_for, title_for=site.title_for)
    found = _discovered(source, corpus)
    files = tuple(with_includes(file, include) for file in found.files)
    # All that a page's URL and title depend on besides its own path.
    navigation = [include(name) or "" for name in MKDOCS_FILES]
    return CorpusInput(
        name="adk_docs",
        kind="doc",
        source=source,
        location=source.location(),
        context=context,
        chunk=docs_chunk(settings, include),
        state=corpus_state(context, source, site.site_url or "", *navigation),
        files=files,
        skipped=found.skipped,
        decode_warnings=found.decode_warnings,
        globs=found.globs,
        check=lambda: _check_site(files, site),
        site_url=site.site_url,
        uncommitted=found.uncommitted | _including_uncommitted(source, found.files, include),
    )


def code_corpus(settings: Settings, source: CorpusSource, created_at: str, name: str = "adk_python") -> CorpusInput:
    """The code corpus of a source; `name` tells another version's from the corpus proper."""
    context = record_context(settings, source, name, "code", created_at)
    found = _discovered(source, settings.ingestion.corpora.adk_python)
    return CorpusInput(
        name=name,
        kind="code",
        source=source,
        location=source.location(),
        context=context,
        chunk=code_chunk(settings),
        state=corpus_state(context, source, *_chunkers_beside(found.files)),
        files=found.files,
        skipped=found.skipped,
        decode_warnings=found.decode_warnings,
        globs=found.globs,
        uncommitted=found.uncommitted,
    )


def api_reference_corpus(settings: Settings, code: CorpusInput, created_at: str) -> CorpusInput:
    """Documentation pages made of the code corpus's docstrings, one a module.

    A page is made when it is chunked, so that modules that did not change cost nothing. A file of this corpus has no
    text of its own and its module's hash. A page depends on more than its module: if any module is not as committed, no
    page is cited with the commit.
    """
    source = code.source
    if code.uncommitted:
        source = replace(source, commit=digest(file for file in code.files if file.path in code.uncommitted))
    modules = {
        api_reference.api_reference_path(name): file
        for file in code.files
        if (name := module_name(file.path)) is not None
    }
    exports = api_reference.build_export_map({file.path: file.text for file in modules.values()})
    site = settings.ingestion.corpora.adk_docs.site_url or API_REFERENCE_SITE
    chunker = ProseChunker(settings.ingestion.chunking)
    pages: dict[str, str] = {}

    def chunk(file: SourceFile) -> ChunkedFile:
        module = modules[file.path]
        name = module_name(module.path) or ""
        page = api_reference.api_reference_page(module.path, module.text, name, exports)
        if page is None:
            return ChunkedFile([])
        pages[file.path] = page = _NOT_TEXT.sub("\ufffd", page)
        return chunker.chunk(SourceFile(file.path, page, file.file_hash))

    context = record_context(
        settings,
        source,
        "adk_docs",
        "doc",
        created_at,
        origin="api-reference",
        url_for=lambda _, anchor: api_reference.api_reference_url(site, anchor),
    )
    return CorpusInput(
        name=API_REFERENCE,
        kind="doc",
        source=source,
        location=SourceLocation(kind="pages", root=Path(PAGES_FOLDER), commit=source.commit),
        context=context,
        chunk=chunk,
        state=corpus_state(context, source, site, json.dumps(exports, sort_keys=True)),
        files=tuple(SourceFile(path, "", modules[path].file_hash) for path in sorted(modules)),
        pages=pages,
        site_url=site,
    )


def module_name(path: str) -> str | None:
    """Dotted name of the module at a repository path (`src/google/adk/x.py` -> `google.adk.x`), or None."""
    pure = PurePosixPath(path)
    if pure.suffix != ".py":
        return None
    parts = list(pure.with_suffix("").parts)
    if parts and parts[0] in ("src", "lib"):
        parts = parts[1:]
    if parts and parts[-1] == "__init__":
        parts = parts[:-1]
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    return ".".join(parts)


def docs_chunk(settings: Settings, include: IncludeReader) -> Callable[[SourceFile], ChunkedFile]:
    """Chunks files of documentation; `include` reads what a Markdown page includes."""
    return ProseChunker(settings.ingestion.chunking, include_reader=include).chunk


def code_chunk(settings: Settings) -> Callable[[SourceFile], ChunkedFile]:
    """Chunks files of code, and the few pages that stand among them."""
    chunking = settings.ingestion.chunking
    prose = ProseChunker(chunking)
    chunkers = {extension: CodeChunker(chunking, read) for extension, read in outline_readers(module_name).items()}

    def chunk(file: SourceFile) -> ChunkedFile:
        chunker: Chunker = chunkers.get(PurePosixPath(file.path).suffix.lower(), prose)
        return chunker.chunk(file)

    return chunk


def _chunkers_beside(files: Iterable[SourceFile]) -> tuple[str, ...]:
    """Versions of chunkers that files of the ADK need beside those of `chunker_version`: as released, none."""
    extensions = {PurePosixPath(file.path).suffix.lower() for file in files}
    return LANGUAGE_CHUNKERS if extensions & (outline_readers(module_name).keys() - {".py"}) else ()


def record_context(
    settings: Settings,
    source: CorpusSource,
    corpus: str,
    kind: Kind,
    created_at: str,
    *,
    origin: Origin = "repository",
    url_for: Callable[[str, str | None], str | None] = lambda path, anchor: None,
    title_for: Callable[[str], str | None] = lambda path: None,
) -> RecordContext:
    """What all chunks of a corpus share."""
    return RecordContext(
        corpus=corpus,
        repo=source.repo,
        commit=source.commit,
        ref=source.ref,
        kind=kind,
        origin=origin,
        created_at=created_at,
        chunker_version=chunker_version(),
        lexical=settings.ingestion.lexical,
        dense_text=settings.embedding.dense.text,
        url_for=url_for,
        title_for=title_for,
    )


def _discovered(source: CorpusSource, corpus: CorpusSettings) -> _Found:
    found = discover(source, corpus)
    # Reading decides which files can be used at all, so it comes before the rest is taken over.
    files = tuple(found.read())
    globs = Globs(corpus.include_globs, corpus.exclude_globs)
    changed: frozenset[str] = frozenset()
    if source.committed is not None:
        unchanged = as_committed([(file.path, file.disk) for file in found.files], source.committed)
        changed = frozenset(file.path for file in files) - unchanged
    return _Found(files, found.skipped, tuple(found.decode_warnings), globs, changed)


def _including_uncommitted(source: CorpusSource, files: Iterable[SourceFile], include: IncludeReader) -> frozenset[str]:
    """Pages that include a file which is not as the commit has it: their chunks hold its text."""
    committed = source.committed
    if committed is None:
        return frozenset()

    def is_changed(path: str) -> bool:
        disk = source.root / path.removeprefix(source.path_prefix)
        return include(path) is not None and not is_as_committed(disk, committed.get(path, ""))

    return frozenset(
        file.path for file in files if any(is_changed(reference.path) for _, reference in find_includes(file.lines))
    )


def as_cited(corpus: CorpusInput) -> tuple[CorpusInput, CorpusInput]:
    """A corpus in two: the files that its commit holds as they are, and the others, each possibly none.

    A citation names a commit, so a file may be cited with one only if the commit holds its lines. The others are cited
    with a digest of their content.
    """
    changed = tuple(file for file in corpus.files if file.path in corpus.uncommitted)
    committed = tuple(file for file in corpus.files if file.path not in corpus.uncommitted)
    name, commit = uncommitted_name(corpus.name), digest(changed)
    source = replace(corpus.source, corpus=name, kind="folder", commit=commit, committed=None)
    others = replace(
        corpus,
        name=name,
        source=source,
        location=source.location(),
        context=replace(corpus.context, corpus=name, commit=commit),
        state=sha256_text(f"{corpus.state}\0{commit}"),
        files=changed,
        skipped={},
        decode_warnings=(),
        check=list,
    )
    return replace(corpus, files=committed), others


def digest(files: Iterable[SourceFile]) -> str:
    """What files without a commit are cited with: the same for the same paths and texts, another for any other."""
    material = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        material.update(f"{file.path}\0{file.file_hash}\n".encode("utf-8", "surrogatepass"))
    return NO_COMMIT + material.hexdigest()[:_DIGEST_CHARS]


def uncommitted_notice(count: int, commit: str, cited_as: str) -> str:
    """Says how many files are not as a commit has them, and how they are cited."""
    said = "1 file is" if count == 1 else f"{count:,} files are"
    return f"{said} not as in commit {commit[:12]}, and cited as {cited_as} instead."


def include_reader(source: CorpusSource) -> IncludeReader:
    """Reads what a page includes; None for what is not there, and for what holds credentials."""
    reader = FolderReader(source.location())

    def read(path: str) -> str | None:
        # An include that cannot be read counts as missing, and the chunk says so.
        with suppress(SourceError, ValueError):
            text = reader.read(path)
            disk = os.path.realpath(source.root / path.removeprefix(source.path_prefix))
            if text is None or is_credential_file(path) or is_credential_file(disk) or holds_credential(text):
                return None
            return text
        return None

    return read


def with_includes(file: SourceFile, include: IncludeReader) -> SourceFile:
    """A page whose hash covers what it includes: it counts as changed when an included file does."""
    texts = [include(reference.path) for _, reference in find_includes(file.lines)]
    included = [text for text in texts if text is not None]
    if not included:
        return file
    return SourceFile(file.path, file.text, sha256_text("\0".join([file.text, *included])))


def _check_site(files: Sequence[SourceFile], site: MkdocsSite) -> list[str]:
    """What is wrong with the site as a whole: its configuration and its links, of which a few are named."""
    broken = check_links([file for file in files if PurePosixPath(file.path).suffix.lower() in MARKDOWN], site)
    warnings = list(site.warnings)
    if broken:
        warnings.append(f"{len(broken)} {'link leads' if len(broken) == 1 else 'links lead'} nowhere.")
    warnings += [f"{link.path}:{link.line}: {link.target}: {link.problem}." for link in broken[:LINK_EXAMPLES]]
    return warnings


def corpus_state(context: RecordContext, source: CorpusSource, *more: str) -> str:
    """A hash of what all payloads of a corpus share; `more` is what they depend on besides."""
    parts = (context.repo, context.commit, context.ref or "", context.origin, str(source.root), *more)
    return sha256_text("\0".join(parts))
