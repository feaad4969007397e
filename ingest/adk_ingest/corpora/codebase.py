"""The corpora of a named index: documentation and code of a folder, each as committed and as changed since.

A citation names a commit, so a file is cited with a commit only if the commit holds its lines. Files that differ from
the commit, and all files of a folder without git, are cited with a digest of their content instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from adk_evidence.errors import SourceError
from adk_evidence.index.settings import DOCS_EXTENSIONS, CodebaseSettings
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.store.manifest import uncommitted_name
from adk_evidence.text.globs import Globs, any_case
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.code import OTHER_VERSIONS
from adk_ingest.corpora.adk import (
    as_committed,
    corpus_state,
    digest,
    included_paths,
    uncommitted_notice,
    with_includes,
)
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.credentials import credential_notices
from adk_ingest.corpora.discovery import Discovery, discover
from adk_ingest.corpora.known_files import ChangedFiles, KnownFiles
from adk_ingest.corpora.twins import find_twins
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.codebase import CodebaseFolder, open_codebase
from adk_ingest.wording import counted, named

_BUNDLED = (".js", ".mjs", ".cjs", ".css")
# From this mean length of a line on, a file counts as minified; code that people write stays below 50.
_MINIFIED_LINE_CHARS = 300
_NAMED_TWINS = 3
# What tells that a text file was written for a reader or a model, by its name or its folder; others, such as an
# `error.txt`, are what somebody saved beside the code.
_MEANT = re.compile(
    r"(?:^|/)(?:docs?|documentation|guides?|manuals?|prompts?|instructions?)/"
    r"|(?:^|/)(?:readme|licen[cs]e|copying|notice|authors|contribut|changelog|changes|history"
    r"|news|todo|install|faq|guide|manual|cmakelists|llms|robots)[^/]*$"
    r"|(?:prompt|instruction)[^/]*$",
    re.IGNORECASE,
)
# Lists of packages for pip, which hold no prose, wherever they lie.
_PACKAGES = re.compile(r"(?:^|[/_.-])(?:requirements|constraints)(?:[_.-][^/]*|/[^/]+)?\.txt$", re.IGNORECASE)


@dataclass(frozen=True)
class CodebaseCorpora:
    """The corpora of a folder, even if they have no files, and what the walk skipped."""

    corpora: list[CorpusInput]
    found: Discovery
    notices: list[str]


def codebase_corpora(
    settings: CodebaseSettings,
    folder: CodebaseFolder,
    created_at: str,
    known: KnownFiles | None = None,
) -> CodebaseCorpora:
    """Find and read the files of a codebase; its chunks carry the time `created_at`.

    `known` has what earlier runs found in the files.

    Raises:
        SettingsError: A glob cannot be parsed.
    """
    # The globs are about the folder; citations are about the repository, of which the folder may be a part.
    known = known or KnownFiles()
    folder_alone, found = _walk(settings, folder, known)
    git = folder.git
    prefix = git.prefix if git else ""
    notices = [*folder.notices]
    people = _written_by_people(found, _unread_texts(settings))
    files = tuple(replace(file, path=prefix + file.path) for file in _without_twins(people, found, notices))
    whole = replace(folder_alone, path_prefix=prefix)
    changed: tuple[SourceFile, ...] = ()
    if git is None:
        proper = (replace(whole, commit=digest(files)), files)
    else:
        # The walk names files by their paths below the folder.
        below = {path.removeprefix(prefix): content for path, content in git.committed.items()}
        unchanged = {prefix + path for path in as_committed(found, below)}
        changed = tuple(file for file in files if file.path not in unchanged)
        committed = tuple(file for file in files if file.path in unchanged)
        proper = (replace(whole, kind="git", commit=git.commit, ref=git.ref), committed)
        if changed:
            notices.append(uncommitted_notice(len(changed), git.commit, digest(changed)))
    cited = (proper, (replace(whole, commit=digest(changed)), changed))
    by_path = {file.path: file for file in files}
    corpora = [
        _corpus(settings, kind, source, part, created_at, by_path, is_uncommitted=bool(place))
        for place, (source, part) in enumerate(cited)
        for kind in KINDS
    ]
    # One corpus alone says what the walk passed over.
    corpora[0] = replace(corpora[0], found=found)
    return CodebaseCorpora(corpora, found, [*notices, *credential_notices(found.skipped)])


def changed_files(settings: CodebaseSettings, record: Path) -> ChangedFiles:
    """How the files of a codebase differ from those of the last run, by the walk of a run.

    Raises:
        SourceError: The folder or the record cannot be had, or git fails to read the folder.
    """
    root, changed = settings.codebase.path, ChangedFiles(record, f"Run `{settings.ingest_command}`.")
    if not root.is_dir():
        raise SourceError(f"The folder {root} is not on this machine.")
    _walk(settings, open_codebase(root), changed)
    return changed


def _walk(settings: CodebaseSettings, folder: CodebaseFolder, known: KnownFiles) -> tuple[CorpusSource, Discovery]:
    # One walk finds both kinds: a file's extension then decides its kind.
    about = settings.corpora["code"]
    alone = CorpusSource(about.corpus, about.repo, "folder", folder.root, commit="", known=known)
    ignored = {*(folder.git.ignored if folder.git else ()), *_own_data(settings, folder)}
    return alone, discover(alone, about, ignored)


def _own_data(settings: CodebaseSettings, folder: CodebaseFolder) -> list[str]:
    """The product's own data where a codebase holds it: texts of other folders lie there."""
    home = settings.paths.root.resolve()
    return [f"{home.relative_to(folder.root).as_posix()}/"] if folder.root in home.parents else []


def _unread_texts(settings: CodebaseSettings) -> Callable[[str], str | None]:
    """Why the text of a path below the folder is left out: nobody wrote it to be read, and no pattern asks for it."""
    codebase = settings.codebase
    asked, unwanted = Globs(map(any_case, codebase.file_patterns)), map(any_case, codebase.exclude_patterns)
    # A pattern with `!` takes back what this first one leaves out.
    default = Globs((any_case("*.txt"), *unwanted))

    def reason(path: str) -> str | None:
        if not default.match(path) or asked.match(path):
            return None
        if _PACKAGES.search(path):
            return "dependency_list"
        return None if _MEANT.search(f"{codebase.path.name}/{path}") else "saved_text"

    return reason


def _written_by_people(found: Discovery, unread: Callable[[str], str | None]) -> Iterator[SourceFile]:
    """The files that were found, without texts that nobody wrote to be read, and without maps and lines of bundlers.

    Args:
        found: What the walk found. It learns what is left out here.
        unread: Why the text of a path is left out, or None.
    """
    for file in found.read():
        suffix = PurePosixPath(file.path).suffix.lower()
        facts = file.known.facts if file.known else None
        # A glob that takes a folder back takes its maps back, too.
        if reason := unread(file.path):
            found.skip(reason, file.path)
        elif suffix == ".map" and _is_source_map(file):
            found.skip("source_map", file.path)
        elif suffix in _BUNDLED and facts and facts.chars > _MINIFIED_LINE_CHARS * facts.lines:
            found.skip("minified", file.path)
        else:
            yield file


def _is_source_map(file: SourceFile) -> bool:
    return bool(file.derived("source map", lambda: '"mappings"' in file.text))


def _without_twins(people: Iterator[SourceFile], found: Discovery, notices: list[str]) -> list[SourceFile]:
    """The files that people wrote, without builds and copies of other files, of which a notice tells."""
    files = list(people)
    twins = find_twins(files)
    if twins:
        lead = counted(len(twins), "file says", "files say")
        pairs = named([f"{twin.path} (as {twin.of})" for twin in twins], _NAMED_TWINS)
        notices.append(f"{lead} what another file says, as builds and copies do, so the index lacks {pairs}.")
    left_out = {twin.path for twin in twins}
    for path in left_out:
        found.skip("twin", path)
    return [file for file in files if file.path not in left_out]


def _corpus(
    settings: CodebaseSettings,
    kind: Kind,
    source: CorpusSource,
    files: tuple[SourceFile, ...],
    created_at: str,
    by_path: Mapping[str, SourceFile],
    *,
    is_uncommitted: bool,
) -> CorpusInput:
    """The files of one kind among those that are cited with the same commit, or with the same digest.

    `by_path` has all files of the codebase, which pages may include.
    """

    def hash_of(path: str) -> str | None:
        return by_path[path].file_hash if path in by_path else None

    about = settings.corpora[kind]
    name = uncommitted_name(about.corpus) if is_uncommitted else about.corpus
    source = replace(source, corpus=name, repo=about.repo)
    is_docs = kind == "doc"
    files = tuple(file for file in files if (PurePosixPath(file.path).suffix.lower() in DOCS_EXTENSIONS) == is_docs)
    wanted = {path for file in files for path in included_paths(file)} if is_docs else set()
    return CorpusInput(
        name=name,
        kind=kind,
        form="folder-docs" if is_docs else "folder-code",
        source=source,
        settings=settings,
        created_at=created_at,
        state=corpus_state(source, *(() if is_docs else OTHER_VERSIONS)),
        files=tuple(with_includes(file, hash_of) for file in files) if is_docs else files,
        included={path: by_path[path] for path in wanted if path in by_path},
    )
