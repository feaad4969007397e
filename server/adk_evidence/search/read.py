"""Opens what a citation points to: the text of an indexed file as it was cited, and the cited lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from adk_evidence.citations.verify import verify
from adk_evidence.errors import EvidenceError, InvalidRequestError, SourceError, StoreError
from adk_evidence.index.opened import Index
from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind, point_id, sha256_text
from adk_evidence.models.citation import code_citation, docs_citation, parse_citation, short_name
from adk_evidence.models.pack import LeftOut, LineSpan, Verification
from adk_evidence.render.sanitize import one_line, visible
from adk_evidence.store.base import Filter, Match, scroll_all
from adk_evidence.text.textfile import split_lines
from adk_evidence.text.versions import tagged_version

if TYPE_CHECKING:
    from adk_evidence.settings import StoreSettings
    from adk_evidence.store.manifest import CorpusEntry
    from adk_evidence.symbols.table import SymbolTable


# How many pages a sentence lists.
MAX_NAMED = 5
CANDIDATE = re.compile(r"(?P<repo>[^@]+)@(?P<commit>[^:]+):(?P<path>.+):(?P<chunk>[0-9a-f]{40})", re.DOTALL)


class NotIndexedError(EvidenceError):
    """Only indexed files are opened, and this is not an indexed file."""

    code = "not_indexed"


def is_of_index(error: EvidenceError) -> bool:
    """Whether an index lacks what was to be read, or cannot be opened; another index may then have it."""
    return isinstance(error, NotIndexedError | StoreError)


def most_telling(failures: Sequence[EvidenceError]) -> EvidenceError:
    """What to say where no index could be read: the failure of an index that has the file, or else the first."""
    return next((each for each in failures if not is_of_index(each)), failures[0])


class CitedSource(Frozen):
    """The text of a cited file.

    `matches_index` says whether `text` is to the letter what was indexed. If not, `verification` says what became of
    the cited lines, and `lines` are their lines now; where another indexed file holds them, `path` and `text` are of
    that file. `local_file` is where the file lies on this machine, None for a
    page that was made for the index; its text is `text` only if `local_matches`.
    """

    repo: str
    commit: str
    path: str
    corpus: str
    language: str
    text: str
    lines: LineSpan | None
    cited_lines: LineSpan | None
    url: str | None
    matches_index: bool
    verification: Verification | None
    local_file: Path | None
    local_matches: bool


def read_file(
    index: Index,
    store: StoreSettings,
    path: str,
    name: str | None = None,
    commit: str | None = None,
    lines: LineSpan | None = None,
    *,
    url: str | None = None,
    chunk_id: str | None = None,
) -> CitedSource:
    """The text of an indexed file: at the indexed commit where the source keeps history, else as the file is now.

    Args:
        index: Holds the file.
        store: The names of the index's collections.
        path: Repository-relative path, as the index has it.
        name: Repository, `owner/name` or the name alone; None where the path is enough.
        commit: The cited commit; it must be an indexed one.
        lines: The cited lines.
        url: The page's URL, to be handed back.
        chunk_id: The cited chunk, if it is known; else the chunk with these lines is looked for.

    Raises:
        NotIndexedError: No indexed corpus has such a file.
        SourceError: The source cannot be read, or the file is gone from it.
    """
    corpus = _corpus_of(index, path, name, commit)
    entry = index.manifest.corpora[corpus]
    reader = index.sources[corpus]
    file = entry.files[path]
    expected = file.own_sha256 or file.sha256
    now = reader.read(path)
    # Pages that were made for the index lie in it and do not change; their hash there is their module's.
    made = entry.location.kind == "pages"
    local_matches = now is not None and (made or sha256_text(now) == expected)
    kept = now if local_matches else reader.read_at_commit(path)
    matches = local_matches or (kept is not None and sha256_text(kept) == expected)
    text = kept if matches else now
    shown, verification = lines, None
    if not matches and (payload := chunk_at(index, store, entry.kind, path, entry.commit, lines, chunk_id)):
        verification = verify(payload, reader)
        if verification.path in entry.files:
            there = read_file(index, store, verification.path or "", entry.repo, entry.commit)
            return there.model_copy(
                update={"lines": verification.lines, "cited_lines": lines, "verification": verification}
            )
        shown = lines if verification.state == "exact" else None if verification.path else verification.lines
    if text is None:
        raise _gone(path, verification)
    last = max(1, len(split_lines(text)))
    return CitedSource(
        repo=entry.repo,
        commit=entry.commit,
        path=path,
        corpus=corpus,
        language=PurePosixPath(path).suffix.lstrip(".").lower() or "txt",
        text=text,
        lines=LineSpan(start=min(shown.start, last), end=min(shown.end, last)) if shown else None,
        cited_lines=lines,
        url=url,
        matches_index=matches,
        verification=verification,
        local_file=index.file_of(corpus, path) if now is not None and not made else None,
        local_matches=local_matches,
    )


def _gone(path: str, verification: Verification | None) -> SourceError:
    hint = "Ingest again."
    if verification is not None and verification.path is not None:
        # A file that was not indexed is not opened.
        hint = f"{verification.reason.removesuffix('.')}, {one_line(verification.path)}: index again to open that file."
    return SourceError(f"{path} is gone from the source that was indexed.", hint)


def read_citation(index: Index, store: StoreSettings, table: Callable[[], SymbolTable], citation: str) -> CitedSource:
    """The source that a citation points to.

    Args:
        index: Holds what is cited.
        store: The names of the index's collections.
        table: The symbols of the index, which know which file a page's URL stands for.
        citation: As a pack has it, or as it is shown: hidden characters as `<U+202E>`, white space collapsed. A path
            with lines, such as `docs/a.md:1-9`, is enough where the index has one file of that path.

    Raises:
        InvalidRequestError: The text is not a citation, or it stands for several files or pages.
        NotIndexedError: The index holds no such file or page at that commit.
        SourceError: The source cannot be read, or the file is gone from it.
    """
    parts = parse_citation(citation)
    if parts.path is not None and parts.name is None:
        _require_one(index, parts.path, parts.lines)
    path = None if parts.path is None else _indexed_path(index, parts.name, parts.commit, parts.path)
    if path is not None and parts.lines is not None:
        return read_file(index, store, path, parts.name, parts.commit, parts.lines)
    known = table().sections
    # Names of pages are without lines.
    page = citation if parts.url is None else f"{parts.name}@{parts.commit}:{parts.url}"
    sections = known.get(page) or [one for shown in _shown_as(page, known) for one in known[shown]]
    if path is not None and not sections:
        return read_file(index, store, path, parts.name, parts.commit)
    if not sections:
        raise NotIndexedError("The index holds no such page at that commit.", "Ask again.")
    if parts.lines is not None:
        holding = [one for one in sections if one.lines.touches(parts.lines.start, parts.lines.end)]
        sections = holding or sections
    first = sections[0]
    paths = sorted({section.path for section in sections})
    if len(paths) > 1:
        pages = [docs_citation(first.repo, first.commit, one_line(path)) for path in paths]
        more = f" and {len(pages) - MAX_NAMED} more" if len(pages) > MAX_NAMED else ""
        raise InvalidRequestError(
            f"This citation stands for {len(pages)} pages.",
            f"Name one by its path: {', '.join(pages[:MAX_NAMED])}{more}.",
        )
    lines = parts.lines or LineSpan(
        start=min(section.lines.start for section in sections), end=max(section.lines.end for section in sections)
    )
    return read_file(index, store, first.path, first.repo, first.commit, lines, url=first.url)


def lines_for_others(index: Index, store: StoreSettings, source: CitedSource) -> tuple[LeftOut, ...]:
    """The lines of a page that are for readers of other programming languages than the index is made for, in order.

    Nothing is said of a text that is no longer what was indexed, or where the collection cannot answer.
    """
    if not source.matches_index or index.manifest.corpora[source.corpus].kind != "doc":
        return ()
    fields = ("start_line", "end_line", "left_out", "for_language")
    found: set[tuple[int, int, str]] = set()
    with suppress(StoreError):
        for payload in _chunks(index, store, "doc", source.path, source.commit, fields):
            found.update((first, last, language) for first, last, language in payload.left_out)
            if payload.for_language is not None:
                found.add((payload.start_line, payload.end_line, payload.for_language))
    return LeftOut.each(sorted(found))


def read_candidate(index: Index, store: StoreSettings, candidate_id: str) -> CitedSource:
    """The source of a pack's candidate.

    The text of a release is opened in that release alone. Other sources move on while people look at a pack: the same
    chunk is then opened at the commit that is indexed.

    Raises:
        InvalidRequestError: The text is not the id of a candidate.
        NotIndexedError: The index does not hold the candidate.
        SourceError: The source cannot be read, or the file is gone from it.
    """
    match = CANDIDATE.fullmatch(candidate_id)
    if match is None:
        raise InvalidRequestError("This is not the id of a candidate.", "Take candidate_id from a pack.")
    for kind in KINDS:
        # A collection that cannot answer must not hide a candidate of the other.
        if match["path"] not in index.paths[kind]:
            continue
        collection = store.collection(kind)
        for record in index.store.retrieve(collection, [point_id(match["chunk"])]):
            payload = ChunkPayload.model_validate(record.payload)
            moved_on = tagged_version(match["commit"]) is None and payload.repo == match["repo"]
            if payload.candidate_id == candidate_id or (moved_on and payload.path == match["path"]):
                lines = LineSpan(start=payload.start_line, end=payload.end_line)
                return read_file(
                    index,
                    store,
                    payload.path,
                    payload.repo,
                    payload.commit,
                    lines,
                    url=payload.uri,
                    chunk_id=payload.chunk_id,
                )
    raise NotIndexedError("The index does not hold this candidate.", "Ask again: it was of an earlier index.")


def _require_one(index: Index, path: str, lines: LineSpan | None) -> None:
    """Refuse a path that several indexed commits have."""
    held = {(entry.repo, entry.commit) for entry in index.manifest.corpora.values() if path in entry.files}
    if len(held) > 1:
        span = (lines.start, lines.end) if lines else (None, None)
        named = [code_citation(repo, commit, path, *span) for repo, commit in sorted(held)]
        more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
        raise InvalidRequestError(
            f"{len(named)} indexed commits have this file.",
            f"Cite one of them: {', '.join(named[:MAX_NAMED])}{more}.",
        )


def _indexed_path(index: Index, name: str | None, commit: str | None, path: str) -> str:
    """The path as the index has it; `path` may be as it was shown."""
    # Shown names are compared, not decoded: nothing but what is indexed can come out.
    corpora = [entry for entry in index.manifest.corpora.values() if _is_of(entry, name, commit)]
    if any(path in entry.files for entry in corpora):
        return path
    found = {one for entry in corpora for one in _shown_as(path, entry.files)}
    if len(found) > 1:
        raise InvalidRequestError(
            f"This citation stands for {len(found)} files, whose names differ in hidden characters or white space.",
            "Search for their text instead.",
        )
    return found.pop() if found else path


def _shown_as(shown: str, originals: Iterable[str]) -> list[str]:
    """The originals that look like `shown` when they are shown."""
    shown = shown.strip()
    return [original for original in originals if shown in (visible(original).strip(), one_line(original))]


def _is_of(entry: CorpusEntry, name: str | None, commit: str | None) -> bool:
    named = name is None or name in (entry.repo, short_name(entry.repo))
    return named and (commit is None or commit in (entry.commit, entry.ref))


def _corpus_of(index: Index, path: str, name: str | None, commit: str | None) -> str:
    for corpus, entry in index.manifest.corpora.items():
        if _is_of(entry, name, commit) and path in entry.files:
            return corpus
    holding = [entry for entry in index.manifest.corpora.values() if path in entry.files]
    hint = "Ask again: the evidence may be of an earlier index."
    if holding and not any(_is_of(entry, name, None) for entry in holding):
        # Who cites a path that was shown without its repository may have named another one.
        found = dict.fromkeys(f"{short_name(entry.repo)}@{entry.commit}:{one_line(path)}" for entry in holding)
        hint = f"There is {' and '.join(list(found)[:MAX_NAMED])}."
    raise NotIndexedError("The index holds no such file at that commit.", hint)


def chunk_at(
    index: Index, store: StoreSettings, kind: Kind, path: str, commit: str, lines: LineSpan | None, chunk_id: str | None
) -> ChunkPayload | None:
    """The cited chunk; where its id is not known, the smallest chunk whose lines hold the first cited line.

    A chunk for readers of another language lies inside a larger one.
    """
    found: list[ChunkPayload] = []
    for payload in _chunks(index, store, kind, path, commit):
        if payload.chunk_id == chunk_id:
            return payload
        if chunk_id is None and lines is not None and payload.start_line <= lines.start <= payload.end_line:
            found.append(payload)
    cited = (lines.start, lines.end) if lines is not None else None
    exact = [payload for payload in found if (payload.start_line, payload.end_line) == cited]
    return min(exact or found, key=lambda payload: payload.end_line - payload.start_line, default=None)


def _chunks(
    index: Index, store: StoreSettings, kind: Kind, path: str, commit: str, fields: Sequence[str] | None = None
) -> Iterator[ChunkPayload]:
    """The chunks of a file, with some fields or all of them."""
    wanted = Filter(must=(Match("path", (path,)), Match("commit", (commit,))))
    collection = store.collection(kind)
    for record in scroll_all(index.store, collection, filter=wanted, with_payload=fields or True):
        some = record.payload
        yield ChunkPayload.model_validate(some) if fields is None else ChunkPayload.model_construct(**some)
