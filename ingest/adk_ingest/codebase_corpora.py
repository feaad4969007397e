"""The corpora of a named index: documentation and code of a folder, each as committed and as changed since.

A citation names a commit, so a file may be cited with one only if the commit holds its lines. Files that differ from
the commit, and all files of a folder without git, are cited with a digest of their content instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from adk_evidence.index.settings import DOCS_EXTENSIONS, CodebaseSettings
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.store.manifest import uncommitted_name
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.corpora import (
    LANGUAGE_CHUNKERS,
    CorpusInput,
    Globs,
    code_chunk,
    corpus_state,
    digest,
    docs_chunk,
    record_context,
    uncommitted_notice,
    with_includes,
)
from adk_ingest.credentials import credential_notices
from adk_ingest.discovery import Discovery, discover
from adk_ingest.sources.base import CorpusSource, SourceKind
from adk_ingest.sources.codebase import CodebaseFolder
from adk_ingest.sources.git import as_committed

_BUNDLED = (".js", ".mjs", ".cjs", ".css")
# The mean length of a line from which a file was minified; that of written code is below 50.
_MINIFIED_LINE_CHARS = 300


@dataclass(frozen=True)
class CodebaseCorpora:
    """What a folder gives: its corpora, those without files among them, and what its walk passed over."""

    corpora: list[CorpusInput]
    found: Discovery
    notices: list[str]


@dataclass(frozen=True)
class _Layer:
    """Files that are cited with the same commit, or with the same digest."""

    uncommitted: bool
    files: tuple[SourceFile, ...]
    kind: SourceKind
    commit: str
    ref: str | None = None


def codebase_corpora(settings: CodebaseSettings, folder: CodebaseFolder, created_at: str) -> CodebaseCorpora:
    """Find and read the files of a codebase.

    Args:
        settings: Of its named index.
        folder: As git knows it.
        created_at: The time that its chunks carry.

    Raises:
        SettingsError: A glob cannot be parsed.
    """
    # One walk for both kinds: a file's extension says afterwards which one it is of.
    about = settings.corpora["code"]
    # Its globs are about the folder; citations are about the repository, of which the folder may be a part.
    whole = CorpusSource(about.corpus, about.repo, "folder", folder.root, commit="")
    ignored = {*(folder.git.ignored if folder.git else ()), *_own_data(settings, folder)}
    found = discover(whole, about, ignored)
    files = tuple(replace(file, path=_prefix(folder) + file.path) for file in _written_by_people(found))
    layers = _layers(folder, found, files)
    texts = {file.path: file.text for file in files}
    corpora = [_corpus(settings, folder, kind, layer, created_at, texts.get) for layer in layers for kind in KINDS]
    # What the walk passed over is said once.
    corpora[0] = replace(corpora[0], skipped=found.skipped, decode_warnings=tuple(found.decode_warnings))
    return CodebaseCorpora(corpora, found, [*folder.notices, *_changes(layers), *credential_notices(found.skipped)])


def _own_data(settings: CodebaseSettings, folder: CodebaseFolder) -> list[str]:
    """The product's own data, where a codebase holds it: what was indexed of other folders lies there."""
    home = settings.paths.root.resolve()
    return [f"{home.relative_to(folder.root).as_posix()}/"] if folder.root in home.parents else []


def _written_by_people(found: Discovery) -> Iterator[SourceFile]:
    """The files that were found, without what bundlers made: its lines are too long for a person."""
    for file in found.read():
        bundled = PurePosixPath(file.path).suffix.lower() in _BUNDLED
        if bundled and len(file.text) > _MINIFIED_LINE_CHARS * (file.text.count("\n") + 1):
            found.skip("minified", file.path)
        else:
            yield file


def _layers(folder: CodebaseFolder, found: Discovery, files: tuple[SourceFile, ...]) -> tuple[_Layer, _Layer]:
    git = folder.git
    if git is None:
        return _Layer(False, files, "folder", digest(files)), _Layer(True, (), "folder", digest(()))
    unchanged = as_committed([(git.prefix + file.path, file.disk) for file in found.files], git.committed)
    committed = tuple(file for file in files if file.path in unchanged)
    changed = tuple(file for file in files if file.path not in unchanged)
    return (
        _Layer(False, committed, "git", git.commit, git.ref),
        _Layer(True, changed, "folder", digest(changed)),
    )


def _changes(layers: tuple[_Layer, _Layer]) -> list[str]:
    committed, changed = layers
    if not changed.files:
        return []
    return [uncommitted_notice(len(changed.files), committed.commit, changed.commit)]


def _kind(path: str) -> Kind:
    return "doc" if PurePosixPath(path).suffix.lower() in DOCS_EXTENSIONS else "code"


def _corpus(
    settings: CodebaseSettings,
    folder: CodebaseFolder,
    kind: Kind,
    layer: _Layer,
    created_at: str,
    include: Callable[[str], str | None],
) -> CorpusInput:
    about = settings.corpora[kind]
    source = CorpusSource(
        corpus=uncommitted_name(about.corpus) if layer.uncommitted else about.corpus,
        repo=about.repo,
        kind=layer.kind,
        root=folder.root,
        commit=layer.commit,
        ref=layer.ref,
        path_prefix=_prefix(folder),
    )
    context = record_context(settings, source, source.corpus, kind, created_at)
    files = tuple(file for file in layer.files if _kind(file.path) == kind)
    if kind == "doc":
        files = tuple(with_includes(file, include) for file in files)
    return CorpusInput(
        name=source.corpus,
        kind=kind,
        source=source,
        location=source.location(),
        context=context,
        chunk=docs_chunk(settings, include) if kind == "doc" else _code_chunk(settings),
        state=corpus_state(context, source, *(LANGUAGE_CHUNKERS if kind == "code" else ())),
        files=files,
        globs=Globs(about.include_globs, about.exclude_globs),
    )


def _prefix(folder: CodebaseFolder) -> str:
    return folder.git.prefix if folder.git else ""


def _code_chunk(settings: CodebaseSettings) -> Callable[[SourceFile], ChunkedFile]:
    chunk = code_chunk(settings)

    def with_language(file: SourceFile) -> ChunkedFile:
        """A file's chunks; in a language that no chunker knows, its extension is the language's name."""
        chunked = chunk(file)
        language = PurePosixPath(file.path).suffix.lstrip(".").lower()
        if language:
            chunked.chunks = [replace(raw, lang=language) if raw.lang == "txt" else raw for raw in chunked.chunks]
        return chunked

    return with_language
