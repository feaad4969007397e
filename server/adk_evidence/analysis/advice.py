"""What to do about what an analysis found: sentences that name the setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from adk_evidence.analysis.chunks import Chunk
from adk_evidence.analysis.copied import copied_folders
from adk_evidence.analysis.repeats import Group
from adk_evidence.globs import only
from adk_evidence.index.opened import Index
from adk_evidence.index.settings import MAX_FILE_BYTES, CodebaseSettings
from adk_evidence.models.chunk import KINDS
from adk_evidence.render.sanitize import code_span
from adk_evidence.settings import Settings

if TYPE_CHECKING:
    from adk_evidence.index.indexer import Survey
    from adk_evidence.models.analysis import IndexAnalysis, LargeSymbol

_NAMED = 3
# Less is not worth a sentence.
_CHUNKS = 10
_GENERATED_SHARE = 0.02
_DOCS_FOLDERS = frozenset({"doc", "docs", "documentation", "guides", "guide"})
# Formats that programs read. Catalogues of translations alone may outweigh all code.
_DATA = frozenset(
    (
        "arb",
        "csv",
        "geojson",
        "json",
        "jsonl",
        "kml",
        "plist",
        "po",
        "pot",
        "properties",
        "resx",
        "strings",
        "toml",
        "tsv",
        "xlf",
        "xliff",
        "xml",
        "yaml",
        "yml",
    )
)
_DATA_SHARE = 0.25
_UNREAD = {
    "unreadable": "cannot be read; check their permissions",
    "undecodable": "are in no encoding that is known; save them as UTF-8",
    "undecodable_name": "have names that are not valid UTF-8; rename them",
    "chunker_failed": "could not be cut into chunks; please report this",
}


def advice(
    index: Index,
    settings: Settings,
    found: IndexAnalysis,
    chunks: Sequence[Chunk],
    copies: Iterable[Group],
    cut: Sequence[LargeSymbol],
    survey: Survey | None,
) -> Iterator[str]:
    """Sentences on an index, the most pressing first. What files are called stands in code style: others chose it.

    Args:
        index: The opened index.
        settings: Those under which it is built.
        found: What the analysis found.
        chunks: All chunks of the index.
        copies: Those that have their lines in common.
        cut: The large functions that are in several chunks, the largest first.
        survey: What its sources hold now; None where they were not compared.
    """
    name, update = found.collection_name, f"run `{settings.ingest_command}`"
    if survey is None or survey.unread:
        whose = f"The sources of {', '.join(sorted(survey.unread))}" if survey else "The sources"
        yield f"{whose} were not compared, so whether {name} is up to date is unknown."
    changed, missing, added = (number or 0 for number in (found.changed_files, found.missing_files, found.added_files))
    if changed or missing:
        of = f"of the {found.total_files:,} indexed files of {name}"
        yield f"{changed + missing:,} {of} have changed or are gone; update the index ({update})."
    if added:
        yield f"{_files(added, 'is', 'are')} new since {name} was indexed: {_some(found.new_files, added)}; {update}."
    if (gap := index.dense_gap()) is not None:
        yield f"The dense vectors of {name} {gap.why}. {gap.hint}"
    if not index.paths["doc"]:
        yield f"No documentation is indexed in {name}; index its docs for better answers.{_where_docs_lie(found)}"
    for folder, kept, share in copied_folders(chunks, copies):
        elsewhere = code_span(kept.path) + (f" of {kept.repo}" if kept.repo != folder.repo else "")
        below = (chunk for chunk in chunks if chunk.repo == folder.repo and chunk.path.startswith(folder.path))
        yield (
            f"{share:.0%} of {code_span(folder.path)} stands in {elsewhere} to the letter; leave it out: "
            f"add {code_span(only(folder.path))} to {_exclude(settings, below)}."
        )
    yield from _on_data(found, settings, chunks)
    yield from _on_generated(found, settings, chunks)
    yield from _on_left_out(found, settings)
    yield from _on_large(cut, settings)
    if found.drift is not None and found.drift.missing:
        first = found.drift.listed[0]
        yield (
            f"{found.drift.missing:,} of the {found.drift.imports:,} imports that the docs show do not exist in "
            f"google-adk {found.drift.version}, e.g. in "
            f"{code_span(f'{first.path}:{first.lines.start}')}; "
            "`adk-evidence drift` lists all."
        )


def _on_data(found: IndexAnalysis, settings: Settings, chunks: Iterable[Chunk]) -> Iterator[str]:
    total = sum(share.tokens for share in found.by_language)
    for share in found.by_language:
        if share.name not in _DATA or share.tokens < _DATA_SHARE * total or share.chunks < _CHUNKS:
            continue
        data = [chunk for chunk in chunks if chunk.lang == share.name]
        largest = Counter[str]()
        for chunk in data:
            largest[chunk.path] += chunk.tokens
        yield (
            f"{share.tokens / total:.0%} of the text is data in {_files(share.files)} of {share.name}, the largest "
            f"{code_span(largest.most_common(1)[0][0])}; if nobody asks about them, "
            f"add *.{share.name} to {_exclude(settings, data)}."
        )


def _on_generated(found: IndexAnalysis, settings: Settings, chunks: Iterable[Chunk]) -> Iterator[str]:
    """Programs write much, and little of it answers a question."""
    generated = found.generated
    if generated.chunks < max(_CHUNKS, _GENERATED_SHARE * found.total_chunks):
        return
    paths = [place.path for place in generated.listed]
    yield (
        f"{generated.chunks:,} of {found.total_chunks:,} chunks are of "
        f"{_files(generated.files, 'that says', 'that say')} that a program wrote them: "
        f"{_some(paths, generated.files)}; if nobody asks about them, add them to "
        f"{_exclude(settings, (chunk for chunk in chunks if chunk.generated))}."
    )


def _on_large(cut: Sequence[LargeSymbol], settings: Settings) -> Iterator[str]:
    """A class that is cut has its members in chunks of their own, but parts of a function say little alone."""
    # Who asks about the ADK did not write it.
    if not cut or not isinstance(settings, CodebaseSettings):
        return
    what = "1 function is" if len(cut) == 1 else f"{len(cut):,} functions are"
    largest = cut[0]
    yield (
        f"{what} so large that an answer may show only parts, the largest {code_span(largest.symbol or '')} in "
        f"{code_span(f'{largest.path}:{largest.lines.start}-{largest.lines.end}')} "
        f"({largest.tokens:,} tokens in {largest.chunks} chunks); split them if that matters."
    )


def _on_left_out(found: IndexAnalysis, settings: Settings) -> Iterator[str]:
    reasons = {left.reason: left for left in found.without_evidence}
    for reason, sentence in _UNREAD.items():
        if left := reasons.get(reason):
            yield f"{_files(left.files)} {sentence}: {_some(left.listed, left.files)}."
    if left := reasons.get("too_large"):
        paths = _some(left.listed, left.files)
        if isinstance(settings, CodebaseSettings):
            limit = f"{MAX_FILE_BYTES:,} bytes; split them if people wrote them"
        else:
            limit = f"ingestion.corpora.*.max_file_bytes ({settings.corpora['code'].max_file_bytes:,}); raise it"
        yield f"{_files(left.files, 'is', 'are')} larger than {limit}: {paths}."
    if left := reasons.get("credential_text"):
        yield (
            f"{_files(left.files, 'holds', 'hold')} a credential and is left out: {_some(left.listed, left.files)}; "
            "move the credential out of the source, and change it."
        )


def _where_docs_lie(found: IndexAnalysis) -> str:
    """The folders with documentation that a glob or git leaves out."""
    places = [
        path
        for left in found.without_evidence
        if left.reason in ("excluded", "ignored", "not_included")
        for path in left.listed
        if path.endswith("/") and PurePosixPath(path).name.lower() in _DOCS_FOLDERS
    ]
    return f" {_some(places, len(places))} may hold them, and is left out now." if places else ""


def _exclude(settings: Settings, chunks: Iterable[Chunk]) -> str:
    """The setting that leaves out the files of some chunks; where pages and code are among them, both settings."""
    if isinstance(settings, CodebaseSettings):
        return "exclude_patterns (`--exclude` of `adk-ingest codebase`)"
    kinds = {(chunk.repo, chunk.corpus_kind) for chunk in chunks}
    # Example programs are pages, and lie beside code.
    lying = {settings.corpora[kind].repo: kind for kind in KINDS}
    names = {
        settings.corpora[kind if settings.corpora[kind].repo == repo else lying.get(repo, kind)].corpus
        for repo, kind in kinds
    }
    return " and ".join(f"ingestion.corpora.{name}.exclude_globs" for name in sorted(names))


def _files(count: int, one: str = "", many: str = "") -> str:
    return f"{count:,} file{'' if count == 1 else 's'} {one if count == 1 else many}".rstrip()


def _some(paths: Collection[str], count: int) -> str:
    shown = [code_span(path) for path in [*paths][:_NAMED]]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
