"""Looks at the sources of an index as a run does, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from adk_evidence.errors import SourceError
from adk_evidence.index.indexer import Survey
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.store.manifest import CorpusEntry, checkout_name, is_samples
from adk_ingest.corpora.adk import code_corpus, docs_corpus, samples_corpus
from adk_ingest.corpora.codebase import codebase_corpora
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.known_files import RECORD, KnownFiles
from adk_ingest.publishing.manifest import now
from adk_ingest.sources.base import CorpusSource, SourceKind
from adk_ingest.sources.codebase import open_codebase

if TYPE_CHECKING:
    from adk_evidence.index.opened import Index
    from adk_evidence.settings import Settings


def survey(index: Index, settings: Settings) -> Survey:
    """What an update of an index would find in the sources that the index is of.

    Files that look as they did when they were indexed are not read. Of the ADK's corpora, the places are those that the
    index knows: where a run without options would look is another question. One of them may be gone, and the others are
    looked at.

    Raises:
        SourceError: All sources are gone, or git fails to read them.
        SettingsError: A glob cannot be parsed.
    """
    known = KnownFiles(settings.index_path / RECORD)
    if isinstance(settings, CodebaseSettings):
        found = codebase_corpora(settings, open_codebase(settings.codebase.path), now(), known)
        return _survey(found.corpora)
    corpora, unread = _corpora(index, settings, known)
    if unread and not corpora:
        raise next(iter(unread.values()))
    return _survey(corpora, unread)


def _survey(corpora: Iterable[CorpusInput], unread: Mapping[str, SourceError] | None = None) -> Survey:
    files: dict[tuple[str, str], str] = {}
    skipped: dict[tuple[str, str], str] = {}
    for corpus in corpora:
        repo = corpus.source.repo
        files.update(((repo, file.path), file.file_hash) for file in corpus.files)
        skipped.update(((repo, path), reason) for reason, paths in corpus.found.skipped.items() for path in paths)
    # What one corpus of a repository leaves out may belong to another, as samples do.
    taken = files.keys() | {(repo, f"{folder}/") for repo, path in files for folder in PurePosixPath(path).parents}
    return Survey(
        files, tuple((reason, place[1]) for place, reason in skipped.items() if place not in taken), unread or {}
    )


def _corpora(index: Index, settings: Settings, known: KnownFiles) -> tuple[list[CorpusInput], dict[str, SourceError]]:
    """The corpora of the ADK's index, and by repository why one cannot be read.

    Generated pages are left out: they are made of the code.
    """
    created_at = now()
    entries: dict[str, CorpusEntry] = {}
    for name, entry in sorted(index.manifest.corpora.items()):
        if entry.source != "api-reference" and not is_samples(name):
            # One walk finds what is committed and what is not.
            entries.setdefault(checkout_name(name), entry)
    corpora: list[CorpusInput] = []
    unread: dict[str, SourceError] = {}
    for entry in entries.values():
        make = docs_corpus if entry.kind == "doc" else code_corpus
        try:
            source = _source(index, entry, known)
            corpora += (make(settings, source, created_at), samples_corpus(settings, source, entry.kind, created_at))
        except SourceError as exc:
            unread[entry.repo] = exc
    return corpora, unread


def _source(index: Index, entry: CorpusEntry, known: KnownFiles) -> CorpusSource:
    root = index.folder / entry.location.root
    if not root.is_dir():
        raise SourceError(f"The folder {root} that was indexed is missing.", "Restore it or index again.")
    return CorpusSource(
        corpus="",
        repo=entry.repo,
        kind=cast("SourceKind", entry.location.kind),
        root=root,
        commit=entry.commit,
        ref=entry.ref,
        site_url=entry.site_url,
        path_prefix=entry.location.path_prefix,
        subtrees=entry.location.subtrees,
        known=known,
    )
