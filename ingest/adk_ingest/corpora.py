"""Corpora ready to be chunked: a source with its files, chunkers and addresses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, cast

from adk_evidence.api.links import join_exports, package_of, read_exports
from adk_evidence.globs import takes_back
from adk_evidence.index.sources import SourceReader
from adk_evidence.models.chunk import Kind, Origin, sha256_text
from adk_evidence.readers.audience import EVERYBODY, Readers, languages_of_readers
from adk_evidence.readers.includes import IncludeReader, find_includes
from adk_evidence.settings import CorpusSettings, DocsCorpusSettings, Settings
from adk_evidence.store.manifest import (
    NO_COMMIT,
    CorpusEntry,
    SourceLocation,
    is_samples,
    samples_name,
    uncommitted_name,
)
from adk_ingest.chunkers import MARKDOWN, code_chunk, docs_chunk, other_chunkers
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.prose import chunk_prose
from adk_ingest.chunking.python import module_name
from adk_ingest.credentials import is_credential_file
from adk_ingest.discovery import Discovery, discover, read_globs
from adk_ingest.known_files import KnownFile, KnownFiles
from adk_ingest.questions import NONE, WrittenQuestions, written_questions
from adk_ingest.sources import api_reference
from adk_ingest.sources.base import CorpusSource, SourceKind
from adk_ingest.sources.git import is_as_committed
from adk_ingest.sources.mkdocs_site import MkdocsSite, check_links
from adk_ingest.wording import counted

API_REFERENCE = "api-reference"
API_REFERENCE_SITE = "https://adk.dev/"

_DIGEST_CHARS = 12
LINK_EXAMPLES = 10

# What a docstring's escapes can put into a page but no text file that is read back holds: control characters
# other than newline and tab, lone surrogates.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

# Folder of generated pages within a generation.
PAGES_FOLDER = "pages"


def _nothing(*_: object) -> None:
    return None


def _no_difference(_: KnownFiles) -> bool:
    return False


@dataclass(frozen=True)
class CorpusInput:
    """One corpus of a run.

    `name` is the corpus's name in the index's manifest; its chunks carry the source's name. `state` is a hash of
    everything besides the files themselves, their place and the commit that decides its chunks' payloads: when it
    differs from the published index's, every file counts as changed. `url_for` gives a page's URL for a path and an
    anchor, or None. `pages` are generated texts that the index must keep, since no source has them; `chunk` fills them.
    `check` looks at the corpus as a whole and returns a sentence for each thing that its authors should know; it runs
    only when files changed.
    `site_url` is where the pages are published. `found` says what the walk passed over, with the globs of `about`.
    `uncommitted` are the paths of files that differ from the commit of the source; see `as_cited`. A `portable` corpus
    can be sent to another process, without its files and what the walk found.
    """

    name: str
    kind: Kind
    source: CorpusSource
    settings: Settings
    created_at: str
    chunk: Callable[[SourceFile], ChunkedFile]
    state: str
    files: tuple[SourceFile, ...]
    origin: Origin = "repository"
    url_for: Callable[[str, str | None], str | None] = _nothing
    title_for: Callable[[str], str | None] = _nothing
    about: CorpusSettings | None = None
    found: Discovery = field(default_factory=Discovery)
    pages: Mapping[str, str] | None = None
    check: Callable[[], list[str]] = list
    site_url: str | None = None
    uncommitted: frozenset[str] = frozenset()
    portable: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs to make records, with the questions of this run."""
        source = replace(self.source, differs=_no_difference, committed=None, known=KnownFiles())
        without = {"source": source, "files": (), "found": Discovery(), "uncommitted": frozenset()}
        return {**self.__dict__, "questions": self.questions, **without}

    @property
    def text_kind(self) -> Kind:
        """What the chunks' texts are for the encoders: samples are code, though they belong to the documentation."""
        return "code" if self.origin == "sample" else self.kind

    @property
    def repeats(self) -> bool:
        """Whether the chunks repeat what another corpus says; then the dense encoder gets their beginnings alone."""
        return self.origin == "api-reference"

    # Once for a run: a question that is written meanwhile belongs to the next one.
    @cached_property
    def questions(self) -> WrittenQuestions:
        """The questions that were written for the corpus's chunks; nobody writes for generated pages."""
        return NONE if self.pages is not None else written_questions(self.settings)

    @property
    def location(self) -> SourceLocation:
        """Where citations of the files are checked."""
        if self.pages is None:
            return self.source.location()
        return SourceLocation(kind="pages", root=Path(PAGES_FOLDER), commit=self.source.commit)


def docs_corpus(settings: Settings, source: CorpusSource, created_at: str) -> CorpusInput:
    about = settings.ingestion.corpora.adk_docs
    site = MkdocsSite.load(source.root, source.site_url or about.site_url)
    include = include_reader(source)

    def url_for(path: str, anchor: str | None) -> str | None:
        url = site.url_for(path)
        return f"{url}#{anchor}" if url and anchor else url

    found, pages, uncommitted = _discovered(source, about)
    included = _included_files(source)

    def hash_of(path: str) -> str | None:
        file = included(path)
        return None if file is None else file.facts.digest

    files = tuple(with_includes(file, hash_of) for file in pages)
    readers = _readers(about, files)
    # A page's URL and title depend on these files and pages and on its path.
    navigation = [site.configuration, *site.superseded]
    return CorpusInput(
        name="adk_docs",
        kind="doc",
        source=source,
        settings=settings,
        created_at=created_at,
        chunk=docs_chunk(settings, include, readers),
        state=corpus_state(
            source, site.site_url or "", *navigation, readers.language or "", *sorted(readers.languages)
        ),
        files=files,
        url_for=url_for,
        title_for=site.title_for,
        about=about,
        found=found,
        check=lambda: _check_site(files, site, source.known),
        site_url=site.site_url,
        uncommitted=uncommitted | _including_uncommitted(source, pages, include),
    )


def code_corpus(settings: Settings, source: CorpusSource, created_at: str, name: str = "adk_python") -> CorpusInput:
    """The code corpus of a source; another version of the code has a `name` of its own."""
    source = replace(source, corpus=name)
    about = settings.corpora["code"]
    # Samples are a part of the documentation.
    read_globs("sample_globs", about.sample_globs)
    samples = (glob for glob in about.sample_globs if not takes_back(glob))
    others = about.model_copy(update={"exclude_globs": (*about.exclude_globs, *samples)})
    found, files, uncommitted = _discovered(source, others)
    return CorpusInput(
        name=name,
        kind="code",
        source=source,
        settings=settings,
        created_at=created_at,
        chunk=code_chunk(settings),
        state=corpus_state(source, *other_chunkers(files)),
        files=files,
        about=others,
        found=found,
        uncommitted=uncommitted,
        portable=True,
    )


def samples_corpus(settings: Settings, source: CorpusSource, kind: Kind, created_at: str) -> CorpusInput:
    """The example programs beside a corpus, as a part of the documentation.

    They show how the ADK is used and define nothing of it: they answer what guides answer, and belong to no version of
    the code. Their texts are code, and each is cited at its own lines.

    Args:
        source: The corpus's source.
        kind: The corpus's kind; its settings say where the samples lie.
    """
    about = settings.corpora[kind]
    are_samples = read_globs("sample_globs", about.sample_globs).match
    # Without globs, a walk would find everything.
    wanted = about.model_copy(update={"include_globs": about.sample_globs, "allowed_exts": (".py",)})
    source = replace(source, corpus=samples_name(about.corpus))
    found, files, uncommitted = _discovered(source, wanted) if about.sample_globs else (Discovery(), (), frozenset())
    skipped = {reason: [path for path in paths if are_samples(path)] for reason, paths in found.skipped.items()}
    skipped = {reason: paths for reason, paths in skipped.items() if paths}
    return CorpusInput(
        name=source.corpus,
        kind="doc",
        source=source,
        settings=settings,
        created_at=created_at,
        chunk=code_chunk(settings),
        state=corpus_state(source, origin="sample"),
        files=files,
        origin="sample",
        about=wanted,
        # The walk of the corpus itself says what it passed over elsewhere.
        found=replace(found, skipped=skipped),
        uncommitted=uncommitted,
        portable=True,
    )


def api_reference_corpus(settings: Settings, code: CorpusInput, created_at: str) -> CorpusInput:
    """Documentation pages made of the code corpus's docstrings, one page a module.

    A page is made when it is chunked, so that modules that did not change cost nothing. A file of this corpus has an
    empty text, and its hash is that of what its page is made of: its module, and where packages export the module's
    names. If any module differs from the commit, no page is cited with the commit.
    """
    source = replace(code.source, corpus="adk_docs")
    if code.uncommitted:
        source = replace(source, commit=digest(file for file in code.files if file.path in code.uncommitted))
    modules = {
        api_reference.api_reference_path(name): file
        for file in code.files
        if (name := module_name(file.path)) is not None
    }
    packages = {package: file for file in modules.values() if (package := package_of(file.path)) is not None}
    exports = join_exports({package: _exports(package, file) for package, file in packages.items()})
    of_module: dict[str, dict[str, str]] = {}
    for origin, public in exports.items():
        of_module.setdefault(origin.rpartition(".")[0], {})[origin] = public
    site = settings.corpora["doc"].site_url or API_REFERENCE_SITE
    pages: dict[str, str] = {}

    def chunk(file: SourceFile) -> ChunkedFile:
        module = modules[file.path]
        name = module_name(module.path) or ""
        page = api_reference.api_reference_page(module.path, module.text, name, of_module.get(name, {}))
        if page is None:
            return ChunkedFile([])
        pages[file.path] = page = _NOT_TEXT.sub("\ufffd", page)
        chunked = chunk_prose(SourceFile(file.path, page, file.file_hash), settings.ingestion.chunking)
        return replace(chunked, text_hash=sha256_text(page))

    def hash_of(path: str) -> str:
        module = modules[path]
        exported = of_module.get(module_name(module.path) or "", {})
        return sha256_text(f"{module.file_hash}\0{json.dumps(exported, sort_keys=True)}")

    return CorpusInput(
        name=API_REFERENCE,
        kind="doc",
        source=source,
        settings=settings,
        created_at=created_at,
        chunk=chunk,
        state=corpus_state(source, site, "beginnings", origin="api-reference"),
        files=tuple(SourceFile(path, "", hash_of(path)) for path in sorted(modules)),
        origin="api-reference",
        url_for=lambda _, anchor: api_reference.api_reference_url(site, anchor),
        pages=pages,
        site_url=site,
    )


def _readers(about: DocsCorpusSettings, pages: Iterable[SourceFile]) -> Readers:
    """For whom a corpus's pages are, by its settings and by the tabs of all pages."""
    if about.language is None:
        return EVERYBODY
    marked = [file for file in pages if PurePosixPath(file.path).suffix.lower() in MARKDOWN]
    return Readers(about.language, frozenset(language for file in marked for language in _tab_languages(file)))


def _tab_languages(file: SourceFile) -> list[str]:
    """The programming languages that the tabs of a page name."""
    return list(file.derived("languages", lambda: sorted(languages_of_readers([file.lines]))))


def _exports(package: str, file: SourceFile) -> dict[str, str]:
    """What a package's `__init__.py` exports."""
    return dict(file.derived(f"exports of {package}", lambda: read_exports(package, file.text)))


def _discovered(
    source: CorpusSource, about: CorpusSettings
) -> tuple[Discovery, tuple[SourceFile, ...], frozenset[str]]:
    """What a walk found, the files that can be read, and the paths of those that differ from the commit."""
    found = discover(source, about)
    files = tuple(found.read())
    if source.committed is None:
        return found, files, frozenset()
    return found, files, frozenset(file.path for file in files) - as_committed(found, source.committed)


def as_committed(found: Discovery, committed: Mapping[str, str]) -> frozenset[str]:
    """Paths of the files of a walk that are as the commit has them; `committed` has the ids of its files' contents."""
    return frozenset(
        file.path for file in found.files if file.path in committed and file.known.is_blob(committed[file.path])
    )


def _including_uncommitted(source: CorpusSource, files: Iterable[SourceFile], include: IncludeReader) -> frozenset[str]:
    """Pages that include a file that differs from the commit: their chunks hold its text."""
    committed = source.committed
    if committed is None:
        return frozenset()

    def is_changed(path: str) -> bool:
        disk = source.root / path.removeprefix(source.path_prefix)
        return include(path) is not None and not is_as_committed(disk, committed.get(path, ""), source.known)

    return frozenset(file.path for file in files if any(map(is_changed, included_paths(file))))


def as_cited(corpus: CorpusInput) -> tuple[CorpusInput, CorpusInput]:
    """Split a corpus into the files that its commit holds and the files that differ; either part may be empty.

    A citation names a commit, so a file is cited with a commit only if the commit holds its lines. The other files are
    cited with a digest of their content.
    """
    changed = tuple(file for file in corpus.files if file.path in corpus.uncommitted)
    committed = tuple(file for file in corpus.files if file.path not in corpus.uncommitted)
    name, commit = uncommitted_name(corpus.name), digest(changed)
    others = replace(
        corpus,
        name=name,
        source=replace(corpus.source, corpus=name, kind="folder", commit=commit, committed=None),
        files=changed,
        found=Discovery(),
        check=list,
    )
    return replace(corpus, files=committed), others


def digest(files: Iterable[SourceFile]) -> str:
    """The name that takes the place of a commit in citations: equal for equal paths and texts, different for others."""
    material = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        material.update(f"{file.path}\0{file.file_hash}\n".encode("utf-8", "surrogatepass"))
    return NO_COMMIT + material.hexdigest()[:_DIGEST_CHARS]


def uncommitted_notice(count: int, commit: str, cited_as: str) -> str:
    files = counted(count, "file is", "files are")
    return f"{files} not as in commit {commit[:12]}, and cited as {cited_as} instead."


def include_reader(source: CorpusSource) -> IncludeReader:
    """Reads what a page includes; None for a file that is not there or holds credentials."""
    find = _included_files(source)

    def read(path: str) -> str | None:
        # An include that cannot be read counts as missing, and the chunk says so.
        file = find(path)
        return None if file is None else file.text

    return read


def _included_files(source: CorpusSource) -> Callable[[str], KnownFile | None]:
    """Finds the files that pages include; None for a file that is not there, is no text or holds credentials."""
    reader = SourceReader(source.location())

    def find(path: str) -> KnownFile | None:
        disk = reader.on_disk(path)
        if disk is None or is_credential_file(path) or is_credential_file(disk):
            return None
        file = source.known.look_at(disk)
        return file if file is not None and file.facts.reason in (None, "empty") else None

    return find


def included_paths(file: SourceFile) -> list[str]:
    """The paths of the files that a page includes."""
    return list(file.derived("includes", lambda: [reference.path for _, reference in find_includes(file.lines)]))


def with_includes(file: SourceFile, hash_of: Callable[[str], str | None]) -> SourceFile:
    """A page whose hash covers its included files: the page counts as changed when one of them does.

    `hash_of` gives the hash of an included file's text, None where there is no such file.
    """
    included = [digest for digest in map(hash_of, included_paths(file)) if digest is not None]
    return replace(file, file_hash=sha256_text("\0".join([file.file_hash, *included]))) if included else file


def _check_site(files: Sequence[SourceFile], site: MkdocsSite, known: KnownFiles) -> list[str]:
    """Problems of the site as a whole: its configuration, and its broken links with a few examples."""
    broken = check_links([file for file in files if PurePosixPath(file.path).suffix.lower() in MARKDOWN], site)
    # With the links that were found in pages.
    known.save()
    warnings = list(site.warnings)
    if broken:
        warnings.append(f"{counted(len(broken), 'link leads', 'links lead')} nowhere.")
    return warnings + broken[:LINK_EXAMPLES]


def nothing_of(settings: Settings, name: str, entry: CorpusEntry, created_at: str) -> CorpusInput:
    """An indexed corpus without its files: a run with this corpus takes the corpus out of the index."""
    source = CorpusSource(
        corpus=name,
        repo=entry.repo,
        # Only generated corpora have another kind.
        kind=cast("SourceKind", entry.source),
        root=entry.location.root,
        commit=entry.commit,
        ref=entry.ref,
    )
    return CorpusInput(
        name=name,
        kind=entry.kind,
        source=source,
        settings=settings,
        created_at=created_at,
        chunk=lambda file: ChunkedFile([]),
        state=corpus_state(source),
        files=(),
        origin="sample" if is_samples(name) else "repository",
    )


def corpus_state(source: CorpusSource, *more: str, origin: Origin = "repository") -> str:
    """A hash of everything but commit and ref that all payloads of a corpus depend on; `more` adds to it."""
    parts = (source.repo, origin, *more)
    return sha256_text("\0".join(parts))
