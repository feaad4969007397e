"""`adk-evidence check`: whether what saved packs cite still stands in the sources."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Literal

from packaging.version import Version
from rich.console import Console
from rich.text import Text

from adk_evidence.citations.anchor import Corpus
from adk_evidence.citations.saved import (
    Against,
    Checked,
    SavedPack,
    check_pack,
    indexed_sources,
    read_pack_file,
    sources_of_pack,
)
from adk_evidence.errors import IndexMissingError, InvalidRequestError
from adk_evidence.index.sources import SourceReader
from adk_evidence.models.pack import VerificationState
from adk_evidence.paths import expanded
from adk_evidence.render.sanitize import one_line
from adk_evidence.render.view import verification_label
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import SourceLocation
from adk_evidence.text.textfile import decode_any
from adk_evidence.text.versions import read_version
from adk_evidence_cli.terminal import VERIFICATION_STYLES
from adk_evidence_console import say
from adk_evidence_console.sarif import Finding, Level, Rule, for_programs

Format = Literal["text", "json", "sarif", "github"]
Source = Literal["docs", "code", "both"]
INDEX = "index"
RULES = {
    "changed": Rule("citation-changed", "The text that a saved evidence pack cites has changed."),
    "gone": Rule("citation-gone", "The text that a saved evidence pack cites is gone."),
    "unverified": Rule("citation-unchecked", "A citation of a saved evidence pack could not be checked."),
    "moved": Rule("citation-moved", "The text that a saved evidence pack cites stands at other lines.", "note"),
    "same_tree": Rule("citation-reformatted", "The code that a saved evidence pack cites is formatted anew.", "note"),
}


@dataclass(frozen=True)
class CheckedFile:
    """A file with a pack, and what became of each citation."""

    path: Path
    pack: SavedPack
    citations: tuple[Checked, ...]


def check_files(
    files: Sequence[Path],
    against: Sequence[str],
    source: Source,
    settings: Settings,
    notify: Callable[[str], None],
    *,
    by_version: bool = True,
) -> list[CheckedFile]:
    """Compare what packs cite with sources.

    Args:
        files: Packs as JSON.
        against: `index`, versions of the ADK, folders, wheels or environments. What is named first comes first; the
            index answers for repositories of which nothing is named.
        source: Whether the citations of docs, of code or of both are checked.
        settings: Settings of the index.
        notify: Gets a sentence before a download, and where the version that answered is not indexed.
        by_version: Whether the index of a pack is that of the version that answered. The settings are then those of the
            main index.
    """
    packs = [(path, read_pack_file(path)) for path in files]
    wanted = [
        (path, pack.model_copy(update={"candidates": tuple(one for one in pack.candidates if _is_of(one, source))}))
        for path, pack in packs
    ]
    with ExitStack() as leases:
        given = [
            None if one == INDEX else list(_named_sources(one, [pack for _, pack in wanted], settings, notify))
            for one in against
        ]
        opened: dict[Path, list[Against]] = {}

        def sources_of(index: Settings) -> list[Against]:
            # Each index is opened once, and stays open until all packs are checked.
            if index.index_path not in opened:
                lease = open_generations(index).open_current()
                leases.callback(lease.release)
                opened[index.index_path] = indexed_sources(lease.manifest, lease.folder)
            return opened[index.index_path]

        def indexed(pack: SavedPack) -> tuple[list[Against], str | None]:
            return sources_of_pack(settings, pack, sources_of) if by_version else (sources_of(settings), None)

        notes: dict[str, None] = {}
        checked = []
        for (path, pack), (_, whole) in zip(wanted, packs, strict=True):
            sources = _sources(given, pack, partial(indexed, whole), notes)
            checked.append(CheckedFile(path, pack, check_pack(pack, sources)))
        for note in notes:
            notify(note)
        return checked


def stands(state: VerificationState, *, strict_lines: bool) -> bool:
    """Whether a citation in this state passes the check."""
    return state == "exact" or (state in ("moved", "same_tree") and not strict_lines)


def show(checked: Sequence[CheckedFile], form: Format, out: Console, err: Console, *, strict_lines: bool) -> None:
    """Print what was found: `json`, `sarif` and `github` on `out` alone, `text` with a summary on `err`."""
    if form == "text":
        _show_text(checked, out, strict_lines)
    else:
        rules, findings = list(RULES.values()), _findings(checked, strict_lines)
        out.file.write(for_programs(form, rules, findings, _as_json(checked, strict_lines)))
    if form in ("text", "github"):
        say(err, _summary(checked, strict_lines))


def _is_of(candidate: Any, source: Source) -> bool:
    return source == "both" or candidate.source_type == source


def _sources(
    given: Sequence[list[Against] | None],
    pack: SavedPack,
    indexed: Callable[[], tuple[list[Against], str | None]],
    notes: dict[str, None],
) -> list[Against]:
    """The sources in the order in which they are named, None for the index, then what the index alone has."""
    named = [source for sources in given if sources for source in sources]
    try:
        added, note = indexed()
    except IndexMissingError:
        if not named or None in given:
            raise
        return named
    if None in given:
        found = [source for sources in given for source in (added if sources is None else sources)]
    else:
        held = {(source.repo, source.made) for source in named}
        added = [source for source in added if (source.repo, source.made) not in held]
        found = named + added
    cited = {candidate.repo for candidate in pack.candidates}
    if note is not None and any(source.repo in cited for source in added):
        notes[note] = None
    return found


def _named_sources(
    named: str, packs: Sequence[SavedPack], settings: Settings, notify: Callable[[str], None]
) -> Iterator[Against]:
    from adk_ingest.sources.resolve import resolve_code

    path = expanded(Path(named))
    if not path.exists():
        distribution, _, _ = (settings.corpora["code"].distribution or "").partition("==")
        wanted = f"{distribution}=={_version(named)}"
        resolved = resolve_code(settings, wanted, allow_network=True, notify=notify).source
    elif not path.is_dir() or (path / "pyvenv.cfg").is_file():
        resolved = resolve_code(settings, named, allow_network=False, notify=notify).source
    else:
        yield from _folder_sources(path, packs)
        return
    if resolved is not None:
        label = f"{resolved.repo} at {resolved.ref or resolved.commit[:12]}"
        yield Against(resolved.repo, label, Corpus(SourceReader(resolved.location())))


def _version(named: str) -> Version:
    version = read_version(named)
    if version is None:
        raise InvalidRequestError(
            f"{named!r} is neither a version nor a folder.",
            "Give --against a version such as 2.13.0, a folder with the sources, an environment or `index`.",
        )
    return version


def _folder_sources(folder: Path, packs: Sequence[SavedPack]) -> Iterator[Against]:
    """The repositories of which a folder holds cited files, wherever in the repository the folder is."""
    cited: dict[str, set[str]] = {}
    for pack in packs:
        for candidate in pack.candidates:
            if candidate.origin != "api-reference":
                cited.setdefault(candidate.repo, set()).add(candidate.path)
    found = False
    for repo, paths in cited.items():
        tried = ((path, prefix) for path in sorted(paths) for prefix in _prefixes(path))
        prefixes = Counter(prefix for path, prefix in tried if _holds(folder, path, prefix))
        if prefixes:
            found = True
            prefix = max(sorted(prefixes), key=lambda one: prefixes[one])
            kind: Literal["git", "folder"] = "git" if (folder / ".git").exists() else "folder"
            location = SourceLocation(kind=kind, root=folder.resolve(), commit="", path_prefix=prefix)
            yield Against(repo, f"{repo} in {folder}", Corpus(SourceReader(location)))
    if cited and not found:
        raise InvalidRequestError(
            f"The folder {folder} has none of the files that the pack cites.",
            "Name the folder of the repository, or the environment that has the package.",
        )


def _prefixes(path: str) -> list[str]:
    parts = path.split("/")
    return ["".join(f"{part}/" for part in parts[:count]) for count in range(len(parts))]


def _holds(folder: Path, path: str, prefix: str) -> bool:
    # A pack may name any path: nothing outside the folder is looked for.
    if PurePath(path).anchor or ".." in PurePath(path).parts:
        return False
    try:
        return (folder / path.removeprefix(prefix)).is_file()
    except (OSError, ValueError):  # a name that is too long or has a NUL
        return False


def _findings(checked: Iterable[CheckedFile], strict_lines: bool) -> Iterator[Finding]:
    for file in checked:
        text = decode_any(file.path.read_bytes())
        for one in file.citations:
            state = one.verification.state
            if state == "exact":
                continue
            at = text.find(json.dumps(one.candidate.candidate_id, ensure_ascii=False))
            line = text.count("\n", 0, at) + 1 if at >= 0 else 1
            level: Level | None = None if stands(state, strict_lines=strict_lines) else "error"
            message = f"{one_line(one.candidate.citation)}: {_became(one)}"
            yield Finding(RULES[state].id, message, str(file.path), line, level=level, key=one.candidate.candidate_id)


def _became(one: Checked) -> str:
    reason = f". {one.verification.reason}" if one.verification.reason else "."
    where = f" ({one.against})" if one.against else ""
    return f"{verification_label(one.verification)}{where}{one_line(reason)}"


def _as_json(checked: Sequence[CheckedFile], strict_lines: bool) -> dict[str, Any]:
    return {
        "stands": all_stand(checked, strict_lines=strict_lines),
        "packs": [
            {
                "file": str(file.path),
                "pack_id": file.pack.pack_id,
                "query": file.pack.query,
                "citations": [
                    {
                        "rank": one.candidate.rank,
                        "citation": one.candidate.citation,
                        "candidate_id": one.candidate.candidate_id,
                        "against": one.against,
                        "stands": stands(one.verification.state, strict_lines=strict_lines),
                        **one.verification.model_dump(),
                    }
                    for one in file.citations
                ],
            }
            for file in checked
        ],
    }


def _show_text(checked: Sequence[CheckedFile], out: Console, strict_lines: bool) -> None:
    for file in checked:
        out.print(Text(one_line(str(file.path)), "bold"), soft_wrap=True)
        for one in file.citations:
            state = one.verification.state
            style = VERIFICATION_STYLES[state] if stands(state, strict_lines=strict_lines) else "red"
            line = Text.assemble(
                (f"{one.candidate.rank:>4}  ", "dim"),
                (f"{verification_label(one.verification):<10}", style),
                f"  {one_line(one.candidate.citation)}",
            )
            out.print(line, soft_wrap=True)
            if state != "exact" and one.verification.reason:
                where = f" Compared with {one.against}." if one.against else ""
                out.print(Text(f"      {one_line(one.verification.reason + where)}", "dim"), soft_wrap=True)


def _summary(checked: Sequence[CheckedFile], strict_lines: bool) -> str:
    citations = list(_all(checked))
    standing = sum(stands(one.verification.state, strict_lines=strict_lines) for one in citations)
    noun = "citation stands" if len(citations) == 1 else "citations stand"
    return f"{standing} of {len(citations)} {noun}."


def _all(checked: Iterable[CheckedFile]) -> Iterator[Checked]:
    return (one for file in checked for one in file.citations)


def all_stand(checked: Iterable[CheckedFile], *, strict_lines: bool) -> bool:
    return all(stands(one.verification.state, strict_lines=strict_lines) for one in _all(checked))
