"""Makes the corpora of the ADK of their sources: which files each has, and what else decides its chunks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from adk_evidence.api.links import join_exports, package_of, read_exports
from adk_evidence.models.chunk import Kind, Origin, sha256_text
from adk_evidence.readers.pages.audience import EVERYBODY, Readers, languages_of_readers
from adk_evidence.readers.pages.includes import IncludeReader, find_includes
from adk_evidence.settings import SITES, CorpusSettings, DocsCorpusSettings, Settings
from adk_evidence.store.manifest import (
    NO_COMMIT,
    samples_name,
    uncommitted_name,
)
from adk_evidence.text.globs import takes_back
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.chunkers import MARKDOWN, other_chunkers
from adk_ingest.chunking.python import module_name
from adk_ingest.corpora.corpus import CorpusInput, Module
from adk_ingest.corpora.discovery import Discovery, discover, read_globs
from adk_ingest.corpora.forms import include_reader, included_files
from adk_ingest.sources.api_reference import api_reference_path
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.git import is_as_committed
from adk_ingest.sources.mkdocs_site import MkdocsSite
from adk_ingest.wording import counted

API_REFERENCE = "api-reference"

_DIGEST_CHARS = 12


def docs_corpus(settings: Settings, source: CorpusSource, created_at: str) -> CorpusInput:
    about = settings.ingestion.corpora.adk_docs
    site = MkdocsSite.load(source.root, source.site_url or about.site_url)
    found, pages, uncommitted = _discovered(source, about)
    included = included_files(source)

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
        form="site",
        source=source,
        settings=settings,
        created_at=created_at,
        state=corpus_state(
            source, site.site_url or "", *navigation, readers.language or "", *sorted(readers.languages)
        ),
        files=files,
        found=found,
        site_url=site.site_url,
        uncommitted=uncommitted | _including_uncommitted(source, pages, include_reader(source)),
        site=site,
        readers=readers,
    )


def code_corpus(settings: Settings, source: CorpusSource, created_at: str) -> CorpusInput:
    """The code corpus of a source."""
    about = settings.corpora["code"]
    source = replace(source, corpus=about.corpus)
    # Samples are a part of the documentation.
    read_globs("sample_globs", about.sample_globs)
    samples = (glob for glob in about.sample_globs if not takes_back(glob))
    others = about.model_copy(update={"exclude_globs": (*about.exclude_globs, *samples)})
    found, files, uncommitted = _discovered(source, others)
    return CorpusInput(
        name=about.corpus,
        kind="code",
        form="code",
        source=source,
        settings=settings,
        created_at=created_at,
        state=corpus_state(source, *other_chunkers(files)),
        files=files,
        found=found,
        uncommitted=uncommitted,
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
        form="code",
        source=source,
        settings=settings,
        created_at=created_at,
        state=corpus_state(source, origin="sample"),
        files=files,
        origin="sample",
        # The walk of the corpus itself says what it passed over elsewhere.
        found=replace(found, skipped=skipped),
        uncommitted=uncommitted,
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
    named = ((module_name(file.path), file) for file in code.files)
    files = {api_reference_path(name): (name, file) for name, file in named if name is not None}
    packages = {package: file for _, file in files.values() if (package := package_of(file.path)) is not None}
    exports = join_exports({package: _exports(package, file) for package, file in packages.items()})
    of_module: dict[str, dict[str, str]] = {}
    for origin, public in exports.items():
        of_module.setdefault(origin.rpartition(".")[0], {})[origin] = public
    modules = {path: Module(file, name, of_module.get(name, {})) for path, (name, file) in files.items()}
    site = SITES["adk_docs"]
    return CorpusInput(
        name=API_REFERENCE,
        kind="doc",
        form="api-reference",
        source=source,
        settings=settings,
        created_at=created_at,
        state=corpus_state(source, site, "beginnings", origin="api-reference"),
        files=tuple(SourceFile(path, "", _page_hash(module)) for path, module in sorted(modules.items())),
        origin="api-reference",
        site_url=site,
        modules=modules,
    )


def _page_hash(module: Module) -> str:
    return sha256_text(f"{module.file.file_hash}\0{json.dumps(module.exports, sort_keys=True)}")


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
        file.path
        for file in found.files
        if file.known is not None and file.path in committed and file.known.is_blob(committed[file.path])
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


def included_paths(file: SourceFile) -> list[str]:
    """The paths of the files that a page includes."""
    return list(file.derived("includes", lambda: [reference.path for _, reference in find_includes(file.lines)]))


def with_includes(file: SourceFile, hash_of: Callable[[str], str | None]) -> SourceFile:
    """A page whose hash covers its included files: the page counts as changed when one of them does.

    `hash_of` gives the hash of an included file's text, None where there is no such file.
    """
    included = [digest for digest in map(hash_of, included_paths(file)) if digest is not None]
    return replace(file, file_hash=sha256_text("\0".join([file.file_hash, *included]))) if included else file


def corpus_state(source: CorpusSource, *more: str, origin: Origin = "repository") -> str:
    """A hash of everything but commit and ref that all payloads of a corpus depend on; `more` adds to it."""
    parts = (source.repo, origin, *more)
    return sha256_text("\0".join(parts))
