"""Saved packs: read back as what they cite, and compared with sources as these are now."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from adk_evidence.citations.anchor import Corpus, anchor
from adk_evidence.commands import with_options
from adk_evidence.errors import IndexMissingError, InvalidRequestError, SourceError, UnknownIndexError
from adk_evidence.index.opened import source_readers
from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.registry import settings_of
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.index.sources import SourceReader
from adk_evidence.index.versions import ChosenIndex, choose_index, ingest_command
from adk_evidence.models.chunk import SymbolKind
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan, Verification, VerificationState, is_intact
from adk_evidence.readers.python import Definition, parse_lines
from adk_evidence.render.view import short_commit
from adk_evidence.settings import Settings
from adk_evidence.store.manifest import IndexManifest
from adk_evidence.text.textfile import decode
from adk_evidence.text.versions import tagged_version

MAX_PACK_BYTES = 50_000_000
# Best first: a text that one source lost may stand in another of the same repository.
_ORDER: tuple[VerificationState, ...] = ("exact", "moved", "same_tree", "changed", "gone", "unverified")
_PACK_HINT = "Save one with `adk-evidence ask --json`."
# A chunk holds a part of a line only where the line is longer than chunks may be.
_PART_OF_LINE_CHARS = 500
_HEADER = re.compile(r"[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)")


class SavedCandidate(BaseModel):
    """What comparing takes of a candidate; packs of other releases of the product have it, too."""

    model_config = ConfigDict(frozen=True)

    rank: int
    repo: str
    ref: str
    path: str
    text: str
    citation: str
    candidate_id: str
    language: str
    origin: str = "repository"
    source_type: str = ""
    path_or_url: str = ""
    symbol: str | None = None
    headings: tuple[str, ...] = ()
    lines: LineSpan | None = None
    index: str | None = None


class SavedAdk(BaseModel):
    """The version of google-adk that answered; None where nobody knew."""

    model_config = ConfigDict(frozen=True)

    indexed: str | None = None


class SavedPack(BaseModel):
    """A pack that was saved as JSON. `candidates` may be empty."""

    model_config = ConfigDict(frozen=True)

    pack_id: str
    query: str
    candidates: tuple[SavedCandidate, ...]
    adk: SavedAdk | None = None


@dataclass(frozen=True)
class Against:
    """A source that citations of a repository are compared with; `made` are pages that were made from docstrings."""

    repo: str
    label: str
    corpus: Corpus
    made: bool = False


@dataclass(frozen=True)
class Checked:
    """A candidate, what became of its text, and in which source; None where no source is at hand."""

    candidate: SavedCandidate
    verification: Verification
    against: str | None = None


def read_pack(text: str, name: str = "The file") -> SavedPack:
    """The pack in a JSON text.

    Args:
        text: What `ask --json` or an editor saved.
        name: What the sentence of an error calls the text.

    Raises:
        InvalidRequestError: The text is no pack, or it was changed after the pack was made.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidRequestError(f"{name} is not JSON.", _PACK_HINT) from exc
    pack = pack_of(data, name)
    if not is_intact(data):
        raise InvalidRequestError(
            f"{name} was changed after the pack was made: its pack_id does not fit what it holds.",
            "Ask again, and save the answer anew.",
        )
    return pack


def pack_of(values: Mapping[str, Any], name: str = "This") -> SavedPack:
    """The pack in the values of its JSON, edited or not; `InvalidRequestError` if they are no pack's."""
    try:
        return SavedPack.model_validate(values)
    except ValidationError as exc:
        raise InvalidRequestError(f"{name} is not an evidence pack.", _PACK_HINT) from exc


def read_pack_file(path: Path) -> SavedPack:
    """The pack in a file; fails as `read_pack` does, and where the file cannot be read."""
    name = path.name or str(path)
    try:
        if path.stat().st_size > MAX_PACK_BYTES:
            raise InvalidRequestError(f"{name} is too large for an evidence pack.", _PACK_HINT)
        decoded = decode(path.read_bytes())
    except OSError as exc:
        raise InvalidRequestError(f"{name} cannot be read: {exc.strerror}.", "Name a file that exists.") from exc
    if decoded is None:
        raise InvalidRequestError(f"{name} is not UTF-8 text.", _PACK_HINT)
    return read_pack(decoded.text, name)


def index_of(settings: Settings, pack: SavedPack) -> ChosenIndex:
    """The index of the version that answered, or else the nearest one; the main index where the pack names no version.

    Args:
        settings: Of the main index.
        pack: A pack with all of its candidates.
    """
    version = _answering(pack, settings.corpora["code"].repo)
    return choose_index(settings, None if version is None else ProjectAdk(version, "", exact=True))


def codebases_of(settings: Settings, pack: SavedPack) -> list[CodebaseSettings]:
    """The settings of the codebases that a pack of two indexes is of; those without an index here are left out.

    Args:
        settings: Of the main index.
        pack: A pack with all of its candidates.
    """
    found = []
    for name in dict.fromkeys(one.index for one in pack.candidates if one.index is not None):
        with suppress(UnknownIndexError):
            own = settings_of(settings, name)
            found += [own] if isinstance(own, CodebaseSettings) else []
    return found


def sources_of_pack(
    settings: Settings, pack: SavedPack, sources_of: Callable[[Settings], list[Against]]
) -> tuple[list[Against], str | None]:
    """The sources of the indexes that stand for a pack, and a sentence where its version is not indexed.

    Args:
        settings: Of the main index.
        pack: A pack with all of its candidates.
        sources_of: Gives the sources of an index, or raises `IndexMissingError`.

    Raises:
        IndexMissingError: None of these indexes is there.
    """
    chosen = index_of(settings, pack)
    sources: list[Against] = []
    note = missing = None
    try:
        sources += sources_of(chosen.settings)
        note = other_version_note(chosen)
    except IndexMissingError as exc:
        missing = exc
    for codebase in codebases_of(settings, pack):
        with suppress(IndexMissingError):
            sources += sources_of(codebase)
    if missing is not None and not sources:
        raise missing
    return sources, note


def other_version_note(chosen: ChosenIndex) -> str | None:
    """A sentence for a pack whose version is not indexed; None where it is, or where the pack names no version."""
    if chosen.wanted is None or chosen.exact:
        return None
    version = chosen.wanted.version
    other = f"google-adk {chosen.version}" if chosen.version else "an index that does not say which version it holds"
    command = with_options(f"`{ingest_command(version)}`")
    return (
        f"The pack is of google-adk {version}, which is not indexed; its citations are compared with {other}. "
        f"{command} indexes {version}."
    )


def _answering(pack: SavedPack, code_repo: str) -> str | None:
    """The version that answered, as the pack says or as the refs of most of its code say."""
    refs = Counter(one.ref for one in pack.candidates if one.source_type == "code" and one.repo == code_repo)
    said = [pack.adk.indexed] if pack.adk is not None and pack.adk.indexed is not None else []
    for text in (*said, *(ref for ref, _ in refs.most_common(1))):
        if (version := tagged_version(text)) is not None:
            return str(version)
    return None


def indexed_sources(manifest: IndexManifest, folder: Path) -> list[Against]:
    """The sources of an index, as they are now; `folder` is the folder of its generation."""
    return read_sources(manifest, source_readers(manifest, folder))


def read_sources(manifest: IndexManifest, readers: Mapping[str, SourceReader]) -> list[Against]:
    """The sources of an index, read by the readers of its corpora."""
    return [
        Against(
            entry.repo, _label(entry.repo, entry.ref or entry.commit), Corpus(readers[name]), _is_made(entry.source)
        )
        for name, entry in manifest.corpora.items()
    ]


def _label(repo: str, at: str) -> str:
    return f"{repo} at {short_commit(at)}"


def _is_made(source: str) -> bool:
    return source == "api-reference"


def check_pack(pack: SavedPack, sources: Sequence[Against]) -> tuple[Checked, ...]:
    """What became of each citation of a pack, in the order of their ranks."""
    return tuple(_check(candidate, sources) for candidate in pack.candidates)


def _check(candidate: SavedCandidate, sources: Iterable[Against]) -> Checked:
    made = _is_made(candidate.origin)
    own = [source for source in sources if source.repo == candidate.repo and source.made == made]
    if not own:
        what = "the API reference" if made else candidate.repo
        return Checked(candidate, Verification(state="unverified", reason=f"No source of {what} is at hand."))
    cited = cited_of(candidate)
    found = [Checked(candidate, _anchored(cited, source.corpus), source.label) for source in own]
    return min(found, key=lambda one: _ORDER.index(one.verification.state))


def _anchored(cited: Cited, corpus: Corpus) -> Verification:
    try:
        found = anchor(cited, corpus)
        long_line = "\n" not in cited.body and len(cited.body) >= _PART_OF_LINE_CHARS
        if found.state not in ("exact", "moved") and long_line:
            found = _part_of_line(cited, corpus) or found
    except SourceError as exc:
        return Verification(state="unverified", reason=exc.message)
    return found


def _part_of_line(cited: Cited, corpus: Corpus) -> Verification | None:
    """Where a cited part of a line is; packs do not say that they cite a part."""
    text = corpus.read(cited.path) or ""
    for number, line in enumerate(text.split("\n"), 1):
        if cited.body in line:
            if number == cited.start_line:
                return Verification(state="exact")
            place = LineSpan(start=number, end=number)
            return Verification(state="moved", lines=place, reason="The same text stands at another line.")
    return None


def cited_of(candidate: SavedCandidate) -> Cited:
    """What a candidate cites."""
    return cited_text(
        candidate.text,
        candidate.path,
        candidate.language,
        symbol=candidate.symbol,
        headings=candidate.headings,
        lines=candidate.lines,
        uri=candidate.path_or_url if candidate.source_type == "docs" else None,
    )


def cited_text(
    text: str,
    path: str,
    language: str,
    *,
    symbol: str | None = None,
    headings: tuple[str, ...] = (),
    lines: LineSpan | None = None,
    uri: str | None = None,
) -> Cited:
    """A cited text as candidates have it: they do not say of which kind their symbol is, but their text does."""
    span = lines or LineSpan(start=1, end=1 + text.count("\n"))
    kind, symbols = _kind(text, path, symbol) if language == "py" else (None, ())
    return Cited(
        path=path,
        lang=language,
        body=text,
        start_line=span.start,
        end_line=span.end,
        symbol=symbol,
        symbol_kind=kind,
        symbols=symbols,
        headings=headings,
        uri=uri,
    )


def _kind(text: str, path: str, symbol: str | None) -> tuple[SymbolKind, tuple[str, ...]]:
    if symbol is None:
        return "module", ()
    nodes = {node.name: node for node in parse_lines(text) or () if isinstance(node, Definition)}
    header = _HEADER.match(text)
    names = list(nodes) or ([header[1]] if header else [])
    own = symbol.rpartition(".")[2]
    if own in names:
        return "class" if isinstance(nodes.get(own), ast.ClassDef) else "method", ()
    module = PurePosixPath(path).with_suffix("") if path else PurePosixPath()
    parts = module.parent.parts if module.name == "__init__" else module.parts
    if f".{'.'.join(parts)}".endswith(f".{symbol}"):
        return "module", ()
    return "methods" if names else "block", tuple(f"{symbol}.{name}" for name in names)
