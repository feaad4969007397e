"""The places in the indexed code that the frames of a pasted traceback name: the function that raises, and its callers.

A frame has a line of the version that the user has installed, so that a place is found by its file, its function and
its line of code; the line's number only decides between several.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.named import Named
from adk_evidence.search.candidates.lookup import read_hits
from adk_evidence.search.candidates.phrases import Phrase, holding_line, raise_in, raises_other, raising_line, row_of
from adk_evidence.search.question.traceback import Frame, Raised, Traceback
from adk_evidence.search.stages import Hit, Question
from adk_evidence.store.base import Match

# The raise sites first; more callers would crowd out what says how to avoid the error.
MAX_SITES = 4
# The most exceptions, and calls of one exception, that a pack tells of. A recursion has a thousand.
MAX_EXCEPTIONS = 5
MAX_CALLS = 20
# What may stand before the package in the path of an indexed file.
SOURCE_ROOTS = frozenset({"src", "lib", "python", "server"})
# A line that is quoted may stand so far from its number: a few lines more above make no other version.
NEAR = 10
# How many lines behind a literal, and behind the call of a function that makes a message, a `raise` is looked for.
_BEHIND_LITERAL = 12
_BEHIND_CALL = 3
_DEFINED = re.compile(r"(\s*)(?:async\s+)?(?:def|class)\s+(\w+)")
_MARKS = re.compile(r"\W+")
# A file of an installed package, and the first folders of the package.
_INSTALLED = re.compile(r"-packages/((\w{1,80}/\w{1,80}/)[\w/]{1,200}\.py)$")
# Two parts of a path, e.g. a package and its module, do not agree by chance.
MIN_PARTS = 2


class Site(NamedTuple):
    """A frame in an indexed file, and what it is to the error."""

    frame: Frame
    path: str
    named: Named
    message: str = ""
    error: str = ""


def find_frames(question: Question, files: Mapping[str, str]) -> tuple[list[Hit], str]:
    """The chunks that the frames name, the raise site first; and how the searched version differs from the frames.

    The latter is a clause, empty where all frames fit. `files` are those of `indexed_files`.
    """
    traceback = question.query.traceback
    if traceback is None:
        return [], ""
    sites = _sites(traceback, files)[: 2 * MAX_SITES]
    # Where one frame of a file does not fit, the others of that file seldom do.
    read = functools.cache(lambda path: read_hits(question, "code", Match("path", (path,))))
    found: dict[str, Hit] = {}
    told: list[str] = []
    for site, hit in zip(sites, _locate(question, sites), strict=True):
        named, lines = site.named, _lines(question, hit.payload, site) if hit is not None else ()
        if other := _other(question, site, hit, read):
            told.append(other)
        if not lines and named.role in ("raises", "raises_cause"):
            for moved in _moved(read(site.path), site, is_other=bool(other)):
                found.setdefault(moved.point_id, moved)
            # Without its line of code, only its number can say that a frame has other code here.
            named = Named("last_call", (site.error.rpartition(".")[2],) if site.frame.code or other else ())
        elif not lines and other:
            named = Named("call")
        if hit is not None:
            found.setdefault(hit.point_id, hit._replace(named=named, lines=lines))
    return list(found.values())[:MAX_SITES], next(iter(told or _missing_files(question, traceback, files)), "")


def _other(question: Question, site: Site, hit: Hit | None, read: Callable[[str], list[Hit]]) -> str:
    """How the searched version differs from a frame, as a clause; empty where the frame fits.

    `read` gives all chunks of a file.
    """
    frame, function = site.frame, site.frame.function or ""
    held = hit is not None and bool(frame.code) and _holds(hit, frame.code)
    if hit is not None and (held or not frame.code):
        near = held and _distance(hit, frame.line) <= NEAR
        if near or function in _around(_numbered([hit]), frame.line):
            return ""
    # A long function, and what is defined inside it, is several chunks. Not all have the tags that a request wants.
    lines = _numbered(read(site.path))
    if not frame.line or not lines or question.request.filters.tags or not site.path.endswith(".py"):
        return ""
    name = "/".join(site.path.split("/")[-2 if site.path.endswith("/__init__.py") else -1 :])
    if not _is_nameless(frame) and function not in _around(lines, frame.line):
        return f"line {frame.line} of {name} is not in `{function}`"
    # Pasting may change quotes.
    shown = "".join(lines.get(frame.line + more, "") for more in range(_BEHIND_CALL))
    is_shown = held or _MARKS.sub("", frame.code) in _MARKS.sub("", shown)
    return "" if is_shown else f"line {frame.line} of {name} has other code"


def _numbered(hits: Iterable[Hit]) -> dict[int, str]:
    """The lines of chunks of one file by their numbers."""
    return {
        number: line for hit in hits for number, line in enumerate(hit.payload.body.split("\n"), hit.payload.start_line)
    }


def _around(lines: Mapping[int, str], number: int) -> Iterator[str]:
    """The names of the functions and classes around a line of a file, the innermost first."""
    text = lines.get(number, "")
    margin = len(text) - len(text.lstrip()) if text.strip() else math.inf
    for line in range(number - 1, min(lines) - 1, -1) if number <= max(lines) else ():
        match = _DEFINED.match(lines.get(line, ""))
        if match is not None and len(match[1]) < margin:
            margin = len(match[1])
            yield match[2]


def _missing_files(question: Question, traceback: Traceback, files: Mapping[str, str]) -> Iterator[str]:
    """For each file that an indexed package lacks, a clause that says so, the innermost first."""
    for frame in reversed([frame for raised in traceback.exceptions for frame in raised.frames]):
        found = _INSTALLED.search(frame.path) if frame.path not in files else None
        if found and any(f"/{found[2]}" in f"/{one}" for one in question.index.paths["code"]):
            yield f"that version has no {found[1]}"


def _moved(hits: Sequence[Hit], site: Site, *, is_other: bool) -> list[Hit]:
    """Of all chunks of a site's file, those that raise the error where the site itself does not.

    Of another version, these are also the literals of the message, and the chunk that raises what they make.
    """
    message, error = Phrase.of(site.message), site.error.rpartition(".")[2]
    found: list[tuple[float, float, Hit]] = []
    for hit in hits:
        raising = raising_line(hit.payload, message, error)
        if raising is not None:
            near = -_distance(hit, site.frame.line)
            found.append((raising.share, near, hit._replace(named=site.named, lines=(raising.line,))))
    if found or not is_other:
        return [max(found, key=lambda one: one[:2])[2]] if found else []
    held = [(hit, line) for hit in hits if (line := holding_line(hit.payload.body, site.message)) is not None]
    makers = [one._replace(named=Named("holds_message"), lines=(one.payload.start_line + at,)) for one, at in held]
    calls = [f"{name}(" for one in makers if (name := (one.payload.symbol or "").rpartition(".")[2])]
    for hit in hits:
        body = hit.payload.body.split("\n")
        spans = [range(at - 1, at + _BEHIND_CALL) for at, line in enumerate(body) if any(one in line for one in calls)]
        spans += [range(at, at + _BEHIND_LITERAL) for one, at in held if one is hit]
        if (at := raise_in(body, spans)) is not None:
            return [hit._replace(named=site.named, lines=(hit.payload.start_line + at,)), *makers]
    return makers


class Call(NamedTuple):
    """A frame in an indexed file: its exception and its place there, from 1, and its line, where the line is known."""

    raised: Raised
    number: int
    frame: Frame
    hit: Hit
    line: int | None


def find_calls(question: Question, files: Mapping[str, str]) -> list[Call]:
    """All frames in indexed files, in the order of the text; of a long traceback those nearest to its errors.

    `files` are those of `indexed_files`.

    Raises:
        CollectionUnavailableError: The collection of code cannot answer.
    """
    traceback = question.query.traceback
    if traceback is None:
        return []
    found: list[tuple[Raised, int, Site]] = []
    for raised in told_exceptions(traceback):
        numbered = [(number, frame) for number, frame in enumerate(raised.frames, 1) if frame.path in files]
        for number, frame in numbered[-MAX_CALLS:]:
            of = (raised.message, raised.type) if number == len(raised.frames) else ("", "")
            found.append((raised, number, Site(frame, files[frame.path], Named("call"), *of)))
    calls = []
    for (raised, number, site), hit in zip(found, _locate(question, [site for _, _, site in found]), strict=True):
        if hit is not None:
            calls.append(Call(raised, number, site.frame, hit, next(iter(_lines(question, hit.payload, site)), None)))
    return calls


def told_exceptions(traceback: Traceback) -> Sequence[Raised]:
    """The exceptions that a pack tells of, in the order of the text."""
    return traceback.exceptions[-MAX_EXCEPTIONS:]


def _locate(question: Question, sites: Sequence[Site]) -> list[Hit | None]:
    """For each site the chunk that holds its frame, or None."""
    paths = tuple(dict.fromkeys(site.path for site in sites))
    functions = tuple(dict.fromkeys(site.frame.function for site in sites if site.frame.function))
    hits = read_hits(question, "code", Match("path", paths), Match("names", functions)) if functions else []
    # A long function is several chunks, of which only the first has the name.
    whole = tuple(
        dict.fromkeys(
            symbol
            for hit in hits
            for symbol in hit.payload.symbols
            if symbol.rpartition(".")[2] in functions and symbol == hit.payload.symbol
        )
    )
    if whole:
        hits += read_hits(
            question, "code", Match("path", paths), Match("symbol", whole), Match("symbol_kind", ("block",))
        )
    return [_place(question, site, [hit for hit in hits if hit.payload.path == site.path]) for site in sites]


def indexed_path(path: str, indexed: Iterable[str]) -> str | None:
    """The indexed file that a frame's path means; the path may be of another machine, or cut off in front."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "...", "~")]
    # Without its beginning, the path of a frame is compared as a whole.
    cut = not path.startswith(("/", "~")) and path[1:2] != ":"
    best: tuple[int, str] | None = None
    for one in indexed:
        if not parts or not one.endswith(parts[-1]):
            continue
        own = one.split("/")
        same = 0
        while same < min(len(own), len(parts)) and own[-1 - same] == parts[-1 - same]:
            same += 1
        rest = own[: len(own) - same]
        fits = set(rest) <= SOURCE_ROOTS or (cut and same == len(parts))
        if same >= MIN_PARTS and fits and (best is None or same > best[0]):
            best = (same, one)
    return best[1] if best else None


def indexed_files(question: Question) -> dict[str, str]:
    """The indexed files of the frames of a pasted traceback, by the paths of the frames.

    Raises:
        CollectionUnavailableError: The collection of code cannot answer.
    """
    frames: dict[str, list[Frame]] = {}
    for raised in question.query.traceback.exceptions if question.query.traceback is not None else ():
        for frame in raised.frames:
            frames.setdefault(frame.path, []).append(frame)
    indexed = question.index.paths["code"]
    found = {path: one for path in frames if (one := indexed_path(path, indexed))}
    return found | _root_modules(question, {path: calls for path, calls in frames.items() if path not in found})


def _root_modules(question: Question, frames: Mapping[str, Sequence[Frame]]) -> dict[str, str]:
    """The indexed files outside of packages, by the paths of their frames.

    Many projects have an `app.py`. So the file must be the only one of its name, and hold a frame's line of code in the
    frame's function.
    """
    if not frames:
        return {}
    by_name: dict[str, list[str]] = {}
    for one in question.index.paths["code"]:
        *folders, name = one.split("/")
        if set(folders) <= SOURCE_ROOTS:
            by_name.setdefault(name, []).append(one)
    alike = {path: by_name.get(path.rpartition("/")[2], ()) for path in frames}
    meant = {path: found[0] for path, found in alike.items() if len(found) == 1}
    hits = read_hits(question, "code", Match("path", tuple(dict.fromkeys(meant.values())))) if meant else []
    return {
        path: one
        for path, one in meant.items()
        if any(_holds_frame(hit, frame) for hit in hits if hit.payload.path == one for frame in frames[path])
    }


def _sites(traceback: Traceback, indexed: Mapping[str, str]) -> list[Site]:
    """The frames in indexed files: the raise site of each exception, then the callers of the first raise site.

    What was raised by indexed code stands before what passed through it. Among the former, the exception that ended
    the program stands first, then the one that began it all. Where a traceback is cut off before its exception, the
    last frame need not be the raise site.
    """
    exceptions, last = traceback.exceptions, traceback.last
    chains: list[tuple[int, list[Site]]] = []
    for place, raised in enumerate(reversed(exceptions)):
        count = len(raised.frames)
        chain: list[Site] = []
        for number in range(count, 0, -1):
            frame = raised.frames[number - 1]
            path = indexed.get(frame.path)
            if path is None:
                continue
            named = Named("call", frame=number, frames=count)
            if number == count and raised.type:
                named = Named("raises") if raised is last else Named("raises_cause", (raised.type,))
            elif not chain:
                named = Named("last_call")
            error = raised.type if number == count else ""
            chain.append(Site(frame, path, named, "" if chain else raised.message, error))
        if chain:
            # Last, first, second, ...: see above.
            order = 0 if raised is last else len(exceptions) - place
            chains.append((order + (len(exceptions) if chain[0].named.role == "last_call" else 0), chain))
    chains.sort(key=lambda found: found[0])
    firsts = [chain[0] for _, chain in chains]
    return [*firsts[: MAX_SITES - 1], *(site for _, chain in chains[:1] for site in chain[1:])]


def _place(question: Question, site: Site, hits: Sequence[Hit]) -> Hit | None:
    """The chunk of a file that holds a frame."""
    frame = site.frame
    inside = [hit for hit in hits if _is_of(hit, frame.function)]
    if not inside and _is_nameless(frame):
        inside = read_hits(question, "code", Match("path", (site.path,)))
    exact = [hit for hit in inside if frame.code and _holds(hit, frame.code)]
    candidates = exact or inside
    if len(candidates) > 1 and site.message:
        message = Phrase.of(site.message)
        shares = [message.covered(row_of(hit.payload.body), 2, 1) for hit in candidates]
        candidates = [hit for hit, share in zip(candidates, shares, strict=True) if share >= max(shares)]
    return min(candidates, key=lambda hit: _distance(hit, frame.line), default=None)


def _lines(question: Question, payload: ChunkPayload, site: Site) -> tuple[int, ...]:
    """The line of a frame in a chunk, and the line that raises the error's message.

    Without its line of code, a frame has only the line's number, which is that of the installed version, or of another
    one from which somebody has pasted the traceback.
    """
    is_installed = question.scope.adk is not None and question.scope.adk.is_wanted
    frame, start, body = site.frame, payload.start_line, payload.body.split("\n")
    code = " ".join(frame.code.split())
    found = [number for number, line in enumerate(body, start) if code and code in " ".join(line.split())]
    if not code and is_installed and start <= frame.line <= payload.end_line:
        found = [frame.line]
    if not code or code.endswith("("):
        # The first line of a `raise` says nothing of its message.
        found = [number for number in found if not raises_other(body[number - start :], site.message)]
    lines = sorted(found, key=lambda number: abs(number - frame.line))[:1]
    raising = raising_line(payload, Phrase.of(site.message), site.error.rpartition(".")[2])
    if raising is not None:
        lines.append(raising.line)
    return tuple(dict.fromkeys(lines))


def _is_nameless(frame: Frame) -> bool:
    """Whether a frame is of the code of a module, or of a lambda."""
    return frame.function is None or frame.function.startswith("<")


def _holds_frame(hit: Hit, frame: Frame) -> bool:
    return bool(frame.code) and (_is_nameless(frame) or _is_of(hit, frame.function)) and _holds(hit, frame.code)


def _is_of(hit: Hit, function: str | None) -> bool:
    payload = hit.payload
    return function is not None and (function in payload.names or (payload.symbol or "").rpartition(".")[2] == function)


def _holds(hit: Hit, code: str) -> bool:
    return " ".join(code.split()) in " ".join(hit.payload.body.split())


def _distance(hit: Hit, line: int) -> int:
    """How many lines lie between a line and a chunk."""
    payload = hit.payload
    return max(payload.start_line - line, line - payload.end_line, 0)
